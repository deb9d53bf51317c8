package pool

import "testing"

// A cache that two goroutines used at once says so, when it finds out.
func TestCorruptLocal(t *testing.T) {
	if checking {
		t.Skip("the checking mode has no caches")
	}
	corrupted := func(name string, get func(int) []byte, put func([]byte), cache func() *Local) {
		t.Helper()
		a, b := get(1000), get(1000)
		put(a)
		put(b)
		st := &cache().stacks[classOf(1000)]
		st.s[st.n()] = nil // as by another goroutine that took it
		defer func() {
			if got := recover(); got != corrupt {
				t.Errorf("%s: %v, want %q", name, got, corrupt)
			}
		}()
		get(1000)
	}
	var p, q Bytes
	l := p.Local()
	corrupted("Local", l.Get, l.Put, func() *Local { return l })
	if seated {
		use(&q, 6000)
		corrupted("seat", q.Get, q.Put, q.own)
	}
}
