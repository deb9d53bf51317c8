package gateway

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// accessLog writes one line of key=value pairs per event.
type accessLog struct {
	now func() time.Time

	mu  sync.Mutex
	out io.Writer
}

func newAccessLog(out io.Writer, now func() time.Time) *accessLog {
	return &accessLog{out: out, now: now}
}

// print writes an event with its pairs: a key, its value, the next key, …
func (l *accessLog) print(event string, pairs ...any) {
	line := l.now().UTC().Format(time.RFC3339Nano) + " " + event
	for i := 0; i+1 < len(pairs); i += 2 {
		line += " " + fmt.Sprint(pairs[i]) + "=" + quote(fmt.Sprint(pairs[i+1]))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.out, line+"\n")
}

// quote quotes a value that would not be one word.
func quote(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"=") {
		return strconv.Quote(s)
	}
	return s
}
