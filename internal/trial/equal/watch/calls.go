package watch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of what is noted of the calls of one function while tests run.
const (
	mostNoted    = 250
	mostCaptured = 24
	mostRetained = 24
	mostWatching = 1500 * time.Millisecond // of CPU, for looking at arguments
)

// watched is what is known of the calls of one function.
type watched struct {
	mu       sync.Mutex
	number   int
	wrapped  bool
	noted    int
	seen     map[string]int // calls by their arguments
	retained []retained
}

// retained is a result that is looked at again when all tests have run.
type retained struct {
	key   string
	value reflect.Value
}

// capture is a call that tests made: a copy of its arguments.
type capture struct {
	hash string
	args []reflect.Value
}

// sample is a captured value with its text, by which samples are sorted.
type sample struct {
	text  string
	value reflect.Value
}

// Call is a call under way.
type Call struct {
	s      *Session
	w      *watched
	name   string
	key    string
	args   []reflect.Value
	before string
}

// Enter notes a call; nil if it is not to be noted.
func (s *Session) Enter(name string, number int, args ...any) *Call {
	w := s.of.watched[name]
	if w == nil || s.of.driving.Load() {
		s.input(name, args)
		return nil
	}
	start := used()
	c := &Call{s: s, w: w, name: name, args: make([]reflect.Value, len(args))}
	for i, a := range args {
		c.args[i] = reflect.ValueOf(a)
	}
	c.before = c.arguments()
	hash := digest([]byte(c.before))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted++
	turn := w.seen[hash]
	w.seen[hash]++
	if turn == 0 && len(s.of.captured[name]) < mostCaptured {
		s.capture(name, hash, c.args)
	}
	if s.of.spent.Add(int64(used()-start)) > int64(mostWatching) || w.noted >= mostNoted {
		s.on[number] = false
	}
	c.key = fmt.Sprintf("tests %s(%s) #%d", name, short([]byte(c.before)), turn)
	return c
}

// capture keeps a copy of a call's arguments, if one can be made.
func (s *Session) capture(name, hash string, args []reflect.Value) {
	k := capture{hash: hash}
	for _, a := range args {
		if !a.IsValid() {
			k.args = append(k.args, a)
			continue
		}
		to, ok := clone(a)
		if !ok {
			return
		}
		k.args = append(k.args, to)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of.captured[name] = append(s.of.captured[name], k)
}

// Leave notes what a call returned, and whether it changed its arguments.
func (c *Call) Leave(results ...any) {
	if c.s.of.driving.Load() {
		return
	}
	var values []reflect.Value
	for _, r := range results {
		values = append(values, reflect.ValueOf(r))
	}
	taken, values := c.s.appended(c.name, c.args, values)
	texts := slices.Repeat([]string{"nil"}, len(values))
	for i, v := range values {
		if !v.IsValid() {
			continue
		}
		if texts[i] = c.s.text(v, true); i == 0 && taken >= 0 || !mutable(v.Type()) {
			continue
		}
		c.w.mu.Lock()
		if len(c.w.retained) < mostRetained {
			c.w.retained = append(c.w.retained, retained{c.key, v})
		}
		c.w.mu.Unlock()
	}
	c.s.note(Note{Key: c.key, Text: strings.Join(texts, ", ")})
	if after := c.arguments(); after != c.before {
		c.s.note(Note{Key: c.key + " arguments after", Text: short([]byte(after))})
	}
}

// arguments are the texts of the arguments as they are now.
func (c *Call) arguments() string {
	texts := slices.Repeat([]string{"nil"}, len(c.args))
	for i, a := range c.args {
		if a.IsValid() {
			texts[i] = c.s.text(a, false)
		}
	}
	return strings.Join(texts, ", ")
}

// appended says which argument a function with the contract of append takes over: its first one; -1 for another contract.
// A caller reads the result alone after that, which may share the memory of the argument; nothing appended to an empty
// slice may be nil, and is then shown as empty.
func (s *Session) appended(name string, args, results []reflect.Value) (taken int, shown []reflect.Value) {
	at := min(strings.Count(name, "."), 1) // behind the receiver of a method
	if !s.of.appends[name] || len(args) <= at || len(results) == 0 {
		return -1, results
	}
	a, r := args[at], results[0]
	if !a.IsValid() || !r.IsValid() || a.Kind() != reflect.Slice || a.Type() != r.Type() {
		return -1, results
	}
	if r.IsNil() && !a.IsNil() && a.Len() == 0 {
		results = append([]reflect.Value{reflect.MakeSlice(r.Type(), 0, 0)}, results[1:]...)
	}
	return at, results
}

// mutable reports whether what a value of a type shows can change later.
func mutable(t reflect.Type) bool {
	return !flat(t.Kind()) && t.Kind() != reflect.Func
}

// look notes what became of the results that tests were given, and sorts what was captured, so that
// the order of the tests does not matter.
func (s *Session) look() {
	for _, name := range s.plan.Watch {
		w := s.of.watched[name]
		w.mu.Lock()
		list := w.retained
		w.mu.Unlock()
		for _, r := range list {
			s.note(Note{Key: r.key + " at the end", Text: s.text(r.value, true)})
		}
		slices.SortFunc(s.of.captured[name], func(a, b capture) int { return strings.Compare(a.hash, b.hash) })
		for _, k := range s.of.captured[name] {
			for _, a := range k.args {
				s.addSample(a)
			}
		}
	}
	for t, list := range s.of.pool {
		slices.SortFunc(list, func(a, b sample) int { return strings.Compare(a.text, b.text) })
		s.of.pool[t] = slices.CompactFunc(list, func(a, b sample) bool { return a.text == b.text })
		s.of.poolTypes = append(s.of.poolTypes, t)
	}
	// Types that functions declare may have one name.
	name := func(t reflect.Type) string { return t.PkgPath() + " " + t.String() + " " + s.of.pool[t][0].text }
	slices.SortFunc(s.of.poolTypes, func(a, b reflect.Type) int { return strings.Compare(name(a), name(b)) })
}

func (s *Session) addSample(v reflect.Value) {
	const most = 64
	if !v.IsValid() || len(s.of.pool[v.Type()]) >= most {
		return
	}
	s.of.pool[v.Type()] = append(s.of.pool[v.Type()], sample{s.text(v, true), v})
}
