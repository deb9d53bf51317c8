package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// TestRequestsAndSeconds: a service's bytes for a request, times its requests a second, are its bytes a second, though the
// profile is of a pass at another pace.
func TestRequestsAndSeconds(t *testing.T) {
	const allocs = "/gc/heap/allocs:bytes"
	d := &run.Data{Sites: &run.Sites{Sites: map[stack.Key]*run.Site{{}: {Bytes: 3 << 20}}}, Collector: run.CollectorLog{Ops: 3000, Window: 2 * time.Second, Metrics: []evidence.Metrics{
		{Values: map[string]float64{allocs: 1 << 20}}, {At: 2 * time.Second, Values: map[string]float64{allocs: 9 << 20}},
	}}}
	d.Heap.Ops = 1000
	r := &runCosts{Data: d}
	perOp, perSecond := d.AllBytes()/r.opsOfAllocs(), d.AllBytes()/r.secondsAlone()
	if got := perOp * r.requestRate(); perSecond != 4<<20 || math.Abs(got-perSecond) > 1 {
		t.Errorf("%v bytes for a request at %v a second are %v a second, want %v", perOp, r.requestRate(), got, perSecond)
	}
	d.Collector.Metrics = nil // the rate is not known
	if got := r.opsOfAllocs(); got != 1000 {
		t.Errorf("%v operations, want those of the profile", got)
	}
}

// TestTitled: a row is named after what allocates most of it.
func TestTitled(t *testing.T) {
	site := &run.Site{Kinds: map[finding.Kind]float64{finding.KindGrowth: 3}, Via: map[string]float64{"fmt.Sprintf": 3}}
	for name, c := range map[string]struct {
		mix  []finding.Mix
		kind finding.Kind
		via  string
	}{
		"by samples alone":     {nil, finding.KindGrowth, "fmt.Sprintf"},
		"mostly of no kind":    {[]finding.Mix{{Bytes: 0.99}, {Kind: finding.KindGrowth, Via: "fmt.Sprintf", Bytes: 0.01}}, "", ""},
		"mostly by no call":    {[]finding.Mix{{Kind: finding.KindGrowth, Bytes: 0.9}, {Kind: finding.KindGrowth, Via: "fmt.Sprintf", Bytes: 0.1}}, finding.KindGrowth, ""},
		"mostly by the call":   {[]finding.Mix{{Kind: finding.KindGrowth, Bytes: 0.1}, {Kind: finding.KindGrowth, Via: "fmt.Sprintf", Bytes: 0.9}}, finding.KindGrowth, "fmt.Sprintf"},
		"a call of other kind": {[]finding.Mix{{Kind: finding.KindGrowth, Bytes: 0.6}, {Kind: finding.KindMake, Via: "strings.Split", Bytes: 0.4}}, finding.KindGrowth, ""},
	} {
		if kind, via := titled(site, c.mix); kind != c.kind || via != c.via {
			t.Errorf("%s: %q in %q, want %q in %q", name, kind, via, c.kind, c.via)
		}
	}
}
