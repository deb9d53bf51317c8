package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Tail keeps the end of what is written to it, and hands everything on. It is
// safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	Next io.Writer // nil: nowhere
	buf  []byte
}

// What a Tail keeps, and what it shows of that.
const (
	tailBytes = 4 << 10
	lastLines = 10
)

// Write never fails: a reader that has gone away must not break the program.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
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
	lines := strings.Split(string(bytes.TrimSpace(t.buf)), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}
