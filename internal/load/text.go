package load

import (
	"fmt"
	"io"
	"time"
)

// Text writes a summary in the words of wrk, which every reader of loads
// knows.
func (r *Result) Text(w io.Writer, phases []Phase) {
	fmt.Fprintf(w, "  Latency from when requests were due\n")
	for _, q := range []struct {
		name string
		of   float64
	}{{"50%", 0.5}, {"90%", 0.9}, {"99%", 0.99}, {"99.9%", 0.999}} {
		fmt.Fprintf(w, "  %7s  %s\n", q.name, milliseconds(r.Latency.Quantile(q.of)))
	}
	fmt.Fprintf(w, "  %7s  %s\n", "max", milliseconds(r.Latency.Max()))
	if len(phases) > 1 {
		for i, p := range phases {
			h := &r.Phases[i]
			fmt.Fprintf(w, "  phase %d: %v requests/s for %v, p50 %s, p99 %s\n", i+1, p.Rate, p.For, milliseconds(h.Quantile(0.5)), milliseconds(h.Quantile(0.99)))
		}
	}
	fmt.Fprintf(w, "  %d requests in %.2fs, %d due, %d failed, %d not sent in time\n", r.Done, r.Elapsed.Seconds(), r.Due, r.Failed, r.Unsent)
	fmt.Fprintf(w, "Requests/sec: %.2f\n", float64(r.Done)/max(r.Elapsed.Seconds(), 1e-9))
	if r.Error != nil {
		fmt.Fprintf(w, "  first failure: %v\n", r.Error)
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.3fms", d.Seconds()*1e3) }
