package way

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

func TestBegins(t *testing.T) {
	stack := func(functions ...string) (st finding.Stack) {
		for _, f := range functions {
			st.Frames = append(st.Frames, evidence.Frame{Function: f})
		}
		return st
	}
	for _, c := range []struct {
		stacks []finding.Stack
		want   bool
	}{
		{nil, false},
		{[]finding.Stack{{}}, false},
		{[]finding.Stack{stack("time.NewTimer", "p.f.func1", "runtime.goexit")}, true},
		{[]finding.Stack{stack("time.NewTimer", "p.f.func1")}, true},
		{[]finding.Stack{stack("time.NewTimer", "p.f.func1", "p.f", "runtime.goexit")}, false},
		{[]finding.Stack{stack("p.f.func1", "runtime.goexit"), stack("p.f.func1", "errgroup.(*Group).Go.func1", "runtime.goexit")}, false},
	} {
		if got := Begins(&finding.Finding{Site: evidence.Site{Function: "p.f.func1"}, Stacks: c.stacks}); got != c.want {
			t.Errorf("%v: %v", c.stacks, got)
		}
	}
}
