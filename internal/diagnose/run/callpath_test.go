package run

import (
	"fmt"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestCallPaths: a site keeps its heaviest call paths with all their frames, and no more of
// them in a large profile than in a small one.
func TestCallPaths(t *testing.T) {
	locs := make([]*evidence.Location, 1000)
	for i := range locs {
		locs[i] = &evidence.Location{Index: i, Frames: []evidence.Frame{
			{Function: fmt.Sprint("m.inlined", i), Line: i, Inlined: true}, {Function: fmt.Sprint("m.f", i), Line: i},
		}}
	}
	c := stack.NewClassifier(&evidence.Profile{Locations: len(locs)}, stack.NewTable(""),
		stack.NewOwnership(evidence.Target{}, "", nil), nil)
	var s Site
	for i := range locs[:998] {
		s.addStack(c, []*evidence.Location{locs[i], locs[998]}, MixKey{}, 1)
		s.addStack(c, []*evidence.Location{locs[i], locs[999]}, MixKey{}, 2000+float64(i))
	}
	if len(s.stacks) != maxStacks {
		t.Errorf("%d call paths are kept, want %d", len(s.stacks), maxStacks)
	}
	got := s.Heaviest(3)
	if len(got) != 3 {
		t.Fatalf("%d heaviest call paths, want 3", len(got))
	}
	for i, g := range got {
		want := fmt.Sprintf("[{m.inlined%d  %d 0 true} {m.f%d  %d 0 false} {m.inlined999  999 0 true} {m.f999  999 0 false}]",
			997-i, 997-i, 997-i, 997-i)
		if fmt.Sprint(g.Frames) != want {
			t.Errorf("call path %d is %v, want %s", i, g.Frames, want)
		}
	}
	if again := testing.AllocsPerRun(100, func() { s.addStack(c, locs[:20], MixKey{}, 1) }); again > 1 {
		t.Errorf("a call path that takes the place of another allocates %v times", again)
	}
}
