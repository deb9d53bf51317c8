package flow_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"bufio"
	"reflect"
	"strings"
	"time"
)

type ring struct {
	data []int
	n    int
}

func fill(r *ring) { r.n = 1 }

func count(s string) int { return len(strings.TrimSpace(s)) }

func made(n int) *ring {
	r := &ring{}
	r.data = make([]int, n)
	return r
}

func read(r *bufio.Reader) (string, error) { return r.ReadString('\n') }

func waits() { time.Sleep(1) }

func calls(f reflect.Value) { f.Call(nil) }

func harmless(r *ring, b *bufio.Reader) int {
	waits()
	calls(reflect.ValueOf(fill))
	fill(r)
	read(b)
	return count("x") + made(2).n
}

func (r *ring) shrink(most int) {
	if r.n == 0 && cap(r.data) > most {
		r.data = nil // bound
	}
	if r.n == 0 {
		r.data = nil // free
	}
	for i := 0; i < most; i++ {
		r.data = nil // free
	}
}

func turns(r *bufio.Reader, all map[string][]byte) (kept string, n int) {
	for {
		text, err := r.ReadString('\n') // carried
		if err != nil {
			return kept, n
		}
		if parts := strings.SplitN(text, ":", 2); len(parts) > 1 {
			kept = strings.TrimSpace(parts[1])
		}
		other, _ := r.ReadString('\n') // dropped
		n += len(strings.TrimSpace(other))
		scratch := make([]byte, n) // dropped
		copy(scratch, other)
		entry := make([]byte, n) // carried
		all["x"] = entry
	}
}
`

// load reads the program.
func load(t *testing.T) (*source.Program, []string) {
	t.Helper()
	p, _ := sourcetest.Load(t, program)
	return p, strings.Split(program, "\n")
}

// each calls f for the instructions of lines that end in a comment.
func each(p *source.Program, lines []string, f func(in ssa.Instruction, comment string)) {
	for fn := range p.Functions() {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if n := p.LineOf(in.Pos()); n > 0 {
					for _, c := range []string{"bound", "free", "carried", "dropped"} {
						if strings.HasSuffix(lines[n-1], "// "+c) {
							f(in, c)
						}
					}
				}
			}
		}
	}
}

func TestHarmless(t *testing.T) {
	p, _ := load(t)
	want := map[string]bool{"waits": false, "calls": false, "ValueOf": false, "fill": false, "read": false, "count": true, "made": true}
	seen := 0
	for fn := range p.Functions() {
		if fn.Name() != "harmless" {
			continue
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(*ssa.Call)
				if !ok {
					continue
				}
				seen++
				if name := call.Call.StaticCallee().Name(); flow.Harmless(&call.Call) != want[name] {
					t.Errorf("%s is harmless: want %v", name, want[name])
				}
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d calls, want %d", seen, len(want))
	}
}

func TestBounds(t *testing.T) {
	p, lines := load(t)
	seen := 0
	each(p, lines, func(in ssa.Instruction, comment string) {
		if _, store := in.(*ssa.Store); !store || comment != "bound" && comment != "free" {
			return
		}
		seen++
		if flow.Bounds(in) != (comment == "bound") {
			t.Errorf("line %d keeps something within a bound: want %v", p.LineOf(in.Pos()), comment)
		}
	})
	if seen != 3 {
		t.Errorf("%d stores, want 3", seen)
	}
}

func TestCarried(t *testing.T) {
	p, lines := load(t)
	got := map[int]bool{}
	want := map[int]bool{}
	each(p, lines, func(in ssa.Instruction, comment string) {
		v, ok := in.(ssa.Value)
		if !ok || comment != "carried" && comment != "dropped" {
			return
		}
		n := p.LineOf(in.Pos())
		want[n], got[n] = comment == "carried", got[n] || flow.Carried(v)
	})
	if len(want) != 4 {
		t.Errorf("%d lines, want 4", len(want))
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("line %d is there in the next turn: %v, want %v", n, got[n], want[n])
		}
	}
}
