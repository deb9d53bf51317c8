package watch

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Stub stands for a value of an interface that no type of the package fits. Types that embed it forward
// their methods to Call.
type Stub struct {
	mu     sync.Mutex
	s      *Session
	seed   byte
	calls  int
	ends   map[string]int // calls of methods that end something
	reader reader
	writer writer
}

// Stubs registers how a value of an interface is made; the interface is given by a nil pointer to it.
func (s *Session) Stubs(face any, make func() any) {
	s.stubs[reflect.TypeOf(face).Elem()] = make
}

// begin makes a stub ready.
func (t *Stub) begin(p *player) {
	t.s, t.seed, t.ends = p.s, byte(p.n(256)), map[string]int{}
	t.reader = reader{data: p.bytes(), chunk: 1 + p.n(40), fail: p.n(6) == 0}
	t.writer = writer{limit: []int{1 << 20, 1 << 20, 9}[p.n(3)]}
}

// Call answers a call of a method: results, given by pointers, follow from the method, its arguments and
// how many calls there were.
func (t *Stub) Call(method string, args []any, results ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s == nil || t.standard(method, args, results) {
		return
	}
	t.calls++
	if ends(method) {
		t.ends[method]++
	}
	all := []byte{t.seed, byte(t.calls)}
	all = append(all, method...)
	for _, a := range args {
		if a != nil {
			all = append(all, t.s.text(reflect.ValueOf(a), false)...)
		}
	}
	inner := &player{s: t.s, genome: []byte(digest(all)), seed: 1 + uint64(t.seed), quiet: true, making: 3}
	const enough = 6
	for _, r := range results {
		v := reflect.ValueOf(r).Elem()
		switch {
		case v.Type() == errorType:
			if inner.n(8) == 0 || t.calls > enough*4 {
				v.Set(reflect.ValueOf(io.EOF))
			}
		case t.calls > enough*4 || v.Kind() == reflect.Bool && t.calls > enough:
		case v.Kind() == reflect.Int:
			v.SetInt(int64(inner.n(5)))
		default:
			v.Set(inner.value(v.Type(), mostDeep-1))
		}
	}
}

// standard answers as readers and writers do.
func (t *Stub) standard(method string, args, results []any) bool {
	if len(results) == 1 && method == "Close" {
		t.ends[method]++
		return true
	}
	if len(args) != 1 || len(results) != 2 {
		return false
	}
	p, ok := args[0].([]byte)
	n, isInt := results[0].(*int)
	err, isError := results[1].(*error)
	if !ok || !isInt || !isError {
		return false
	}
	switch method {
	case "Read":
		*n, *err = t.reader.Read(p)
	case "Write":
		*n, *err = t.writer.Write(p)
	default:
		return false
	}
	return true
}

// ends reports whether a method ends or releases something, so that callers want it called.
func ends(method string) bool {
	for _, word := range []string{"Close", "Unlock", "Done", "Release", "Flush", "Stop", "Rollback", "Commit", "Free", "End", "Cancel", "Shutdown"} {
		if strings.HasSuffix(method, word) {
			return true
		}
	}
	return false
}

func (t *Stub) shown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for name, n := range t.ends {
		list = append(list, fmt.Sprintf("%s %d times", name, n))
	}
	slices.Sort(list)
	return fmt.Sprintf("stub %s wrote %q read %d", strings.Join(list, " "), short(t.writer.data), t.reader.off)
}

// stub makes a value of an interface, if one is registered.
func (p *player) stub(t reflect.Type) (reflect.Value, bool) {
	make := p.s.stubs[t]
	if make == nil {
		return reflect.Value{}, false
	}
	v := make()
	if b, ok := v.(interface{ begin(p *player) }); ok {
		b.begin(p)
	}
	return reflect.ValueOf(v), true
}
