package check

import "testing"

func TestFewer(t *testing.T) {
	f := func(now, then float64, want string) {
		t.Helper()
		if got := fewer(now, then); got != want {
			t.Errorf("from %v a second to %v: %q, want %q", now, then, got, want)
		}
	}
	f(725, 25, "one collection instead of 29")
	f(3, 2, "one collection instead of 1.5")
	f(3, 0, "no collection in the recorded time")
}
