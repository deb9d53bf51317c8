package process

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"sync"
)

// Tail keeps the end of what is written to it, and hands everything on. It is
// safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	Next io.Writer // nil: nowhere
	Most int       // bytes that are kept; 0: 4 KiB
	buf  []byte
}

// What a Tail keeps unless it is told, and what String shows of that.
const (
	tailBytes = 4 << 10
	lastLines = 10
)

// Write never fails: a reader that has gone away must not break the program.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	most := cmp.Or(t.Most, tailBytes)
	// Moving the rest once per most bytes makes a long output cheap.
	if over := len(t.buf) - most; over > most {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	if t.Next != nil {
		// A reader that has gone away must not break the program's pipe.
		if _, err := t.Next.Write(p); err != nil {
			t.Next = nil
		}
	}
	return len(p), nil
}

// String returns the last lines written.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(t.end())), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

// Bytes returns a copy of what is kept.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.end())
}

func (t *Tail) end() []byte { return t.buf[max(0, len(t.buf)-cmp.Or(t.Most, tailBytes)):] }
