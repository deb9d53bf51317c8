package rank

import "testing"

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{1: "1 object", 0.5: "0.500 objects", 2: "2 objects", 1.04: "1 object", 340.4: "340 objects"} {
		if got := count(v); got != want {
			t.Errorf("count(%v) = %q, want %q", v, got, want)
		}
	}
}
