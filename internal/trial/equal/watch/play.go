package watch

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// kept is a result that is looked at again after later calls.
type kept struct {
	step     int
	function string
	value    reflect.Value
	text     string
}

// done is a call that was made, with a copy of its arguments.
type done struct {
	f      *function
	args   []reflect.Value
	copies []reflect.Value // without those that cannot be copied
	out    []reflect.Value
	taken  int // the argument whose memory the first result may share; -1 for none
}

// player makes one ready for a scenario.
func (s *Session) player(sc Scenario) *player {
	p := &player{s: s, genome: sc.Genome, seed: 88172645463325252, live: map[reflect.Type][]reflect.Value{}}
	for _, b := range sc.Genome {
		p.seed = p.seed*1099511628211 + uint64(b)
	}
	for _, b := range []byte(sc.Captured) {
		p.seed = p.seed*1099511628211 + uint64(b)
	}
	p.seed |= 1
	p.sum = 14695981039346656037
	return p
}

// add updates the sum of the notes with text, by the hash FNV-1a.
func (p *player) add(text string) {
	for i := range len(text) {
		p.sum = (p.sum ^ uint64(text[i])) * 1099511628211
	}
}

// note keeps what was seen under a name that follows from the scenario.
func (p *player) note(key, text string) {
	p.add(key)
	p.add(text)
	if !p.quiet && !p.brief && len(p.notes) < 400 {
		p.notes = append(p.notes, Note{Key: p.prefix + key, Text: text})
	}
}

// mostPlaying is the CPU time after which no further call is begun while scenarios are looked for; one
// that takes so long is not kept. When those that were kept are played, they have room.
const (
	mostPlaying = 60 * time.Millisecond
	room        = 30
)

// play plays a scenario.
func (p *player) play(sc Scenario) {
	f := p.s.funcs[sc.Function]
	if f == nil {
		return
	}
	steps := 1
	if !sc.Exact {
		steps = 3 + p.n(4)
	}
	company := p.s.company(f)
	var calls []done
	until := used() + mostPlaying
	if !p.quiet {
		until += room * mostPlaying
	}
	for i := range steps {
		if i > 0 && used() > until {
			p.slow = true
			break
		}
		g, args := f, []reflect.Value(nil)
		if i == 0 && sc.Captured != "" {
			args = p.s.copyOf(f, sc.Captured)
			if len(sc.Genome) > 0 && p.n(3) != 0 {
				p.varyArguments(args)
			}
		}
		if args == nil {
			if k := p.n(5); len(company) > 0 && (k < 2 && i > 0 || k == 0) {
				g = company[p.n(len(company))]
			}
			args = p.arguments(g, 0)
		}
		calls = append(calls, p.step(i, g, args, sc.Exact))
		if sc.Holds {
			p.hold(i)
		}
	}
	switch {
	case sc.Exact:
	case used() > until:
		p.slow = true
	default:
		p.finish(calls)
	}
	if !p.s.plan.Race {
		p.answered()
	}
}

// varyArguments changes some of the arguments of a captured call, not the object that it is of.
func (p *player) varyArguments(args []reflect.Value) {
	for k, a := range args {
		if !(k == 0 && p.isObject(a)) {
			p.vary(a, 0)
		}
	}
}

// company are the functions that are called beside f: the methods of its receiver.
func (s *Session) company(f *function) []*function {
	if len(f.in) == 0 || !strings.Contains(f.name, ".") || slices.Contains(s.plan.Alone, f.name) {
		return nil
	}
	return s.methods[f.in[0]]
}

// copyOf copies the arguments of a captured call; nil if it is not there.
func (s *Session) copyOf(f *function, hash string) []reflect.Value {
	for _, k := range s.of.captured[f.name] {
		if k.hash != hash || len(k.args) != len(f.in) {
			continue
		}
		var args []reflect.Value
		for i, a := range k.args {
			v := reflect.New(f.in[i]).Elem()
			if a.IsValid() {
				to, ok := clone(a)
				if !ok {
					return nil
				}
				v.Set(to)
			}
			args = append(args, v)
		}
		return args
	}
	return nil
}

func (p *player) arguments(f *function, depth int) []reflect.Value {
	args := make([]reflect.Value, len(f.in))
	for i, t := range f.in {
		args[i] = p.value(t, depth)
	}
	return args
}

// call calls the function and returns its results, or what it panics with.
func (f *function) call(args []reflect.Value) (out []reflect.Value, panicked string) {
	defer func() {
		if r := recover(); r != nil {
			panicked = described(r)
		}
	}()
	if f.fn.Type().IsVariadic() {
		return f.fn.CallSlice(args), ""
	}
	return f.fn.Call(args), ""
}

// described is a panic in words, without numbers and addresses where it is the runtime's.
func described(r any) string {
	text := short([]byte(fmt.Sprint(r)))
	if _, ok := r.(runtime.Error); ok {
		return "panics: " + digits.ReplaceAllString(text, "#")
	}
	return "panics: " + addresses.ReplaceAllString(text, "0x#")
}

var (
	digits    = regexp.MustCompile(`-?[0-9]+`)
	addresses = regexp.MustCompile(`0[xX][0-9a-fA-F]+`)
)

func (p *player) texts(list []reflect.Value, inside bool) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = p.s.text(v, inside)
	}
	return strings.Join(texts, ", ")
}

// step makes one call and notes what a caller sees of it.
func (p *player) step(i int, f *function, args []reflect.Value, exact bool) done {
	at := fmt.Sprintf("#%d %s ", i, f.name)
	before := p.texts(args, false)
	p.note(at+"in", before)
	object := "" // of a method without results, which does nothing else
	if len(f.out) == 0 && len(args) > 0 && p.isObject(args[0]) && !exact {
		object = p.s.text(args[0], true)
	}
	d := done{f: f, args: args, taken: -1}
	if !exact && i == 0 {
		d.copies = make([]reflect.Value, len(args))
		for k, a := range args {
			if to, ok := clone(a); ok {
				d.copies[k] = to
			}
		}
	}
	out, panicked := f.call(args)
	d.out = out
	if panicked != "" {
		p.note(at+"out", panicked)
	} else {
		taken, shown := p.s.appended(f.name, args, out)
		d.taken = taken
		p.note(at+"out", p.texts(shown, true))
	}
	if after := p.texts(args, false); after != before {
		p.note(at+"arguments after", after)
	}
	if object != "" {
		if after := p.s.text(args[0], true); after != object {
			p.note(at+"object after", after)
		}
	}
	if exact {
		return d
	}
	for _, v := range append(args[:len(args):len(args)], out...) {
		p.remember(v)
	}
	p.keep(i, f.name, out)
	p.look(at + "changes")
	return d
}

// mostHeld limits what is kept after each call.
const mostHeld = 6

// hold keeps what methods without arguments return of the objects, to be looked at after later calls.
func (p *player) hold(step int) {
	n := 0
	for _, t := range p.s.types {
		for _, t := range [...]reflect.Type{t, reflect.PointerTo(t)} {
			for _, g := range p.s.getters[t] {
				if len(p.live[t]) == 0 || !holds(g) {
					continue
				}
				if n++; n > mostHeld {
					return
				}
				at := fmt.Sprintf("#%d then %s", step, g.name)
				out, panicked := g.call([]reflect.Value{p.live[t][0]})
				if panicked != "" {
					p.note(at, panicked)
					continue
				}
				p.note(at, p.texts(out, true))
				p.look(at + " changes")
				p.keep(step, g.name, out)
			}
		}
	}
}

// holds reports whether a function returns slices or maps, which may be memory that is used again.
func holds(f *function) bool {
	return slices.ContainsFunc(f.out, func(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Map })
}

// keep keeps results that can change.
func (p *player) keep(step int, function string, out []reflect.Value) {
	for _, v := range out {
		if mutable(v.Type()) {
			p.kept = append(p.kept, kept{step, function, v, p.s.text(v, true)})
		}
		spare(v, 0, nil)
	}
}

// remember keeps an object of the module for later calls.
func (p *player) remember(v reflect.Value) {
	t := v.Type()
	if t.Kind() != reflect.Pointer || v.IsNil() || !p.s.ours(t.Elem()) || t.Elem().Name() == "" {
		return
	}
	for _, have := range p.live[t] {
		if have.UnsafePointer() == v.UnsafePointer() {
			return
		}
	}
	p.live[t] = append(p.live[t], v)
}

// look notes which earlier results are not as they were.
func (p *player) look(what string) {
	for i := range p.kept {
		k := &p.kept[i]
		if now := p.s.text(k.value, true); now != k.text {
			k.text = now
			p.note(fmt.Sprintf("%s result of #%d", what, k.step), now)
		}
	}
}

// finish does with arguments and results what a caller may do when the calls are over: it changes
// them, looks at the others and at the objects, and calls once more.
func (p *player) finish(calls []done) {
	p.appends()
	for _, d := range calls {
		for k, a := range d.args {
			if k != d.taken && !(k == 0 && p.isObject(a)) {
				spoil(a, 0)
			}
		}
	}
	p.look("changing the arguments changes the")
	p.ask("after the arguments changed")
	for i, d := range calls {
		for _, v := range d.out {
			if !p.isObject(v) {
				spoil(v, 0)
			}
		}
		for k := range p.kept {
			if p.kept[k].step == i {
				p.kept[k].text = p.s.text(p.kept[k].value, true)
			}
		}
		p.look(fmt.Sprintf("changing result #%d changes the", i))
	}
	p.ask("after the results changed")
	first := calls[0]
	args := first.copies
	for k, a := range args {
		if k == 0 && p.isObject(first.args[0]) {
			args[0] = first.args[0]
		} else if !a.IsValid() {
			return
		}
	}
	out, panicked := first.f.call(args)
	if panicked != "" {
		p.note("again out", panicked)
		return
	}
	_, shown := p.s.appended(first.f.name, args, out)
	p.note("again out", p.texts(shown, true))
}

// Appending begins the notes of results that share memory behind their ends.
const Appending = "appending to a result of "

// Sum is the name of the note of a scenario of which only a sum is noted.
const Sum = "sum"

// appends appends to each of the results, notes which others that changes, and takes it back.
func (p *player) appends() {
	for _, k := range p.kept {
		var undo []func()
		spare(k.value, 0, &undo)
		for _, other := range p.kept {
			if len(undo) > 0 && !p.isObject(other.value) && p.s.text(other.value, true) != other.text {
				p.note(Appending+k.function+" changes one of "+other.function, "")
			}
		}
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
}

// isObject reports whether a value is a pointer to a type of the module with fields of its own.
func (p *player) isObject(v reflect.Value) bool {
	t := v.Type()
	return t.Kind() == reflect.Pointer && !v.IsNil() && p.s.ours(t.Elem()) && t.Elem().Kind() == reflect.Struct
}

// ask calls the getters of the objects of the scenario.
func (p *player) ask(when string) {
	for _, t := range p.s.types {
		for _, t := range [...]reflect.Type{t, reflect.PointerTo(t)} {
			for i, v := range p.live[t] {
				p.get(fmt.Sprintf("%s, object %d", when, i), v)
			}
		}
	}
}

// get notes what the getters of an object return.
func (p *player) get(what string, v reflect.Value) {
	for _, g := range p.s.getters[v.Type()] {
		out, panicked := g.call([]reflect.Value{v})
		text := panicked
		if panicked == "" {
			text = p.texts(out, false)
		}
		p.note(what+", "+g.name, text)
	}
}
