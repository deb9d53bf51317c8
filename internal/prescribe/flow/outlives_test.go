package flow_test

import (
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const outlivesProgram = `package m

import (
	"strings"
	"sync"
)

type table struct {
	mu   sync.RWMutex
	row  []int
	seen map[string]int
}

func (t *table) stepsOld(n int) {
	prev := t.row
	t.row = make([]int, n)
	for i := range prev {
		t.row[i] = prev[i]
	}
}

func (t *table) countsOld() {
	old := t.seen
	t.seen = map[string]int{}
	for k, v := range old {
		t.seen[k] = v - 1
	}
}

func (t *table) readsOld(list []string) (n int) {
	t.mu.RLock()
	m := t.seen
	t.mu.RUnlock()
	for _, s := range list {
		n += m[s]
	}
	return n
}

func (t *table) sums() (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, i := range t.row {
		n += i
	}
	return n
}

func (t *table) turns(n int) (sum int) {
	for range n {
		row := t.row
		sum += len(row)
		t.row = make([]int, n)
	}
	return sum
}

func lower(s, t string) bool {
	return strings.ToLower(s) == s || strings.ToLower(s[:1]) == s[:1]
}

func lowerOther(s, t string) bool {
	return strings.ToLower(s) == t || strings.ToLower(s[:1]) == s[:2]
}

func inTurn(parts []string) (n int) {
	for _, p := range parts {
		n += len(p)
	}
	for i := 0; i < len(parts); i++ {
		n += len(parts[i])
	}
	return n
}

func apart(parts []string) (n int) {
	for i := len(parts) - 1; i >= 0; i-- {
		n += len(parts[i])
	}
	for i := range parts[1:] {
		n += len(parts[i+1])
		parts[i] = ""
	}
	return n
}
`

// TestOutlives: what functions use of a field after they set it or gave up a lock, texts compared with themselves, and
// elements in turn.
func TestOutlives(t *testing.T) {
	p, _ := sourcetest.Load(t, outlivesProgram)
	outlives := map[string]bool{"stepsOld": true, "countsOld": true, "readsOld": true, "sums": false, "turns": false}
	itself := map[string]bool{"lower": true, "lowerOther": false}
	turns := map[string]bool{"inTurn": true, "apart": false}
	seen := map[string]bool{}
	for fn := range p.Functions() {
		name := fn.Name()
		for in := range flow.Instructions(fn) {
			switch in := in.(type) {
			case *ssa.UnOp:
				at, ok := in.X.(*ssa.FieldAddr)
				if want, is := outlives[name]; ok && is && flow.Field(at).Name() != "mu" {
					seen[name] = true
					if got := flow.Outlives(in); got != want && !later(in) {
						t.Errorf("%s: %v outlives: %v", name, in, got)
					}
				}
			case *ssa.BinOp:
				if want, ok := itself[name]; ok {
					seen[name] = true
					if got := flow.OfItself(in.X, in.Y); got != want {
						t.Errorf("%s: %v of itself: %v", name, in, got)
					}
				}
			case *ssa.IndexAddr:
				if want, ok := turns[name]; ok {
					seen[name] = true
					if got := flow.InTurn(in); got != want {
						t.Errorf("%s: %v in turn: %v", name, in, got)
					}
				}
			}
		}
	}
	if len(seen) != len(outlives)+len(itself)+len(turns) {
		t.Errorf("seen: %v", seen)
	}
}

// later reports whether a load comes after the field was set.
func later(load *ssa.UnOp) bool {
	for in := range flow.Instructions(load.Parent()) {
		if _, ok := in.(*ssa.Store); ok {
			return true
		}
		if in == ssa.Instruction(load) {
			return false
		}
	}
	return false
}
