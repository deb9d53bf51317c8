package diagnose

import "testing"

// A small value is cleared wherever it lives, so a cure that moves it saves no
// clearing; a buffer, a large value and what a library makes do save it.
func TestInitialised(t *testing.T) {
	type part struct {
		kind           Kind
		via            string
		objects, bytes float64
	}
	f := func(name string, want float64, parts ...part) {
		t.Helper()
		s := &siteTally{mix: map[mixKey]*mixTally{}}
		for _, p := range parts {
			s.bytes += p.bytes
			s.mix[mixKey{p.kind, p.via}] = &mixTally{objects: p.objects, bytes: p.bytes}
		}
		if got := s.initialised(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("nothing allocated", 0)
	f("a small value", 1, part{KindNew, "", 10, 800})
	f("a buffer", 0, part{KindMake, "", 10, 800})
	f("a large value", 0, part{KindNew, "", 1, 1 << 20})
	f("inside a library", 0, part{KindNew, "encoding/json.Unmarshal", 10, 800})
	f("half and half", 0.5, part{KindNew, "", 10, 800}, part{KindGrowth, "", 1, 800})
}
