package evidence

import "testing"

// What the recorder adds to a program pays for itself, its methods too.
func TestOfRecorder(t *testing.T) {
	f := func(name string, want bool) {
		t.Helper()
		if got := OfRecorder(name); got != want {
			t.Errorf("OfRecorder(%q) = %v, want %v", name, got, want)
		}
	}
	f("main.htrim7qFlush", true)
	f("main.(*htrim7qDelays).run", true)
	f("main.htrim7qStart.func1", true)
	f("main.(*server).run", false)
}
