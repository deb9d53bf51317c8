package process

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"sync"
)

// Tail keeps the end of what is written to it and passes everything on to Next. It is
// safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	Next io.Writer // may be nil
	Most int       // bytes to keep; 0 means 4 KiB
	buf  []byte
}

// The default number of bytes that a Tail keeps, and the number of lines that String
// returns.
const (
	tailBytes = 4 << 10
	lastLines = 10
)

// Write never fails: if Next fails, the program must go on.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	most := cmp.Or(t.Most, tailBytes)
	// Moving the rest only once every most bytes keeps long outputs cheap.
	if over := len(t.buf) - most; over > most {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	if t.Next != nil {
		// The program's pipe must stay open even if nobody reads its output any more.
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

// Bytes returns a copy of the kept bytes.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.end())
}

func (t *Tail) end() []byte { return t.buf[max(0, len(t.buf)-cmp.Or(t.Most, tailBytes)):] }
