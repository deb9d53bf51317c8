package latency

import "testing"

// What the recorder adds to a program pays for itself, its methods too.
func TestRecorders(t *testing.T) {
	f := func(name string, want bool) {
		t.Helper()
		if got := recorders(name); got != want {
			t.Errorf("recorders(%q) = %v, want %v", name, got, want)
		}
	}
	f("main.htrim7qFlush", true)
	f("main.(*htrim7qDelays).run", true)
	f("main.htrim7qStart.func1", true)
	f("main.(*server).run", false)
}
