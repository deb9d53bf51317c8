package tune

import (
	"regexp"
	"strconv"
	"time"
)

// Latency is what a load tool says of its requests.
type Latency struct {
	P50, P99 time.Duration // 0: not said
}

// latencyForms are the summaries of load tools that tell quantiles.
func latencyForms() []struct{ p50, p99 *regexp.Regexp } {
	f := func(p50, p99 string) struct{ p50, p99 *regexp.Regexp } {
		return struct{ p50, p99 *regexp.Regexp }{regexp.MustCompile(p50), regexp.MustCompile(p99)}
	}
	return []struct{ p50, p99 *regexp.Regexp }{
		// heaptrim load, and wrk and wrk2 with --latency.
		f(`(?m)^\s+50(?:\.000)?%\s+([\d.]+)\s*(us|ms|s|m)\s*$`, `(?m)^\s+99(?:\.000)?%\s+([\d.]+)\s*(us|ms|s|m)\s*$`),
		// hey and oha.
		f(`(?m)^\s+50(?:\.00)?%%? in ([\d.]+) ?(secs|sec|ms|us|s)`, `(?m)^\s+99(?:\.00)?%%? in ([\d.]+) ?(secs|sec|ms|us|s)`),
		f(`(?m)^Latencies\s+\[min, mean, 50, [^\]]*\]\s+\S+, \S+, ([\d.]+)(µs|us|ms|s)`, `(?m)^Latencies\s+\[min, mean, 50, 90, 95, 99, max\]\s+(?:\S+, ){5}([\d.]+)(µs|us|ms|s)`),
		// ab, in milliseconds.
		f(`(?m)^\s+50%\s+(\d+)()\s*$`, `(?m)^\s+99%\s+(\d+)()\s*$`),
	}
}

// ParseLatency reads quantiles from what a load tool printed. It is false when
// nothing there is understood.
func ParseLatency(output []byte) (Latency, bool) {
	for _, f := range latencyForms() {
		p50, ok50 := quantity(f.p50.FindSubmatch(output))
		p99, ok99 := quantity(f.p99.FindSubmatch(output))
		if ok50 && ok99 {
			return Latency{p50, p99}, true
		}
	}
	return Latency{}, false
}

// quantity is the number and the unit of a match.
func quantity(m [][]byte) (time.Duration, bool) {
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	units := map[string]time.Duration{
		"": time.Millisecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "sec": time.Second, "secs": time.Second, "m": time.Minute,
	}
	unit, ok := units[string(m[2])]
	if err != nil || !ok || v < 0 || v > 1e9 {
		return 0, false
	}
	return time.Duration(v * float64(unit)), true
}
