package correct

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// TestWithout: a correction that is left out changes nothing, and each one has
// its words.
func TestWithout(t *testing.T) {
	d := &run.Data{Sites: &run.Sites{}}
	d.CPU.Buckets[stack.BucketScheduler], d.CPU.Sleeps = 100, 10
	if r := Apply(d, Options{Processors: 2}); r.Buckets()[stack.BucketScheduler] != 100 {
		t.Errorf("without a cycle the scheduler has %v samples, want 100", r.Buckets()[stack.BucketScheduler])
	}
	d.Collector.All = 1
	if r := Apply(d, Options{Processors: 2}); r.Buckets()[stack.BucketCycleScheduler] == 0 {
		t.Errorf("with a cycle for 10 sleeps nothing is given to collections")
	}
	if r := Apply(d, Options{Processors: 2, Without: []string{"scheduler"}}); r.Buckets() != d.CPU.Buckets {
		t.Errorf("without the correction: %v, want %v", r.Buckets(), d.CPU.Buckets)
	}
	for _, c := range List() {
		if c.Name == "" || c.Why == "" || c.Needs == "" {
			t.Errorf("correction %+v", c)
		}
	}
}
