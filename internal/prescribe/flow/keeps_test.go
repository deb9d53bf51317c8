package flow_test

import (
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const keepsProgram = `package m

type row struct{ n int }

type top struct{ best *row }

func (t *top) offer(r *row) { t.best = r }
func (t *top) ask(r *row) bool { return t.best.n > r.n }

type list []*row

func (l *list) push(r *row) { *l = append(*l, r) }
func (l *list) hand(r *row) { l.push(r) }

func offers(n int) int {
	var t top
	for i := range n {
		r := &row{i}
		t.offer(r)
	}
	return t.best.n
}

func pushes(n int) int {
	var l list
	for i := range n {
		r := &row{i}
		l.hand(r)
	}
	return len(l)
}

func asks(n int) (found bool) {
	t := top{&row{1}}
	for i := range n {
		r := new(row)
		r.n = i
		found = found || t.ask(r)
	}
	return found
}

func filled(n int) (*top, []int) {
	all := make([]int, n)
	for i := range n {
		all[i] = i
	}
	return nil, all
}

func summed(n int) (sum int, all []int) {
	all = make([]int, n)
	for _, i := range all {
		sum += i
	}
	return sum, all
}

func within(n int) (*holder, error) {
	h := &holder{}
	h.all = make([]int, n)
	return h, h.check()
}

type holder struct{ all []int }

func (h *holder) check() error { return nil }
`

// TestKeptByCalls: objects of a loop that a call stores, what a function reads of a result, and whole structs.
func TestKeptByCalls(t *testing.T) {
	p, _ := sourcetest.Load(t, keepsProgram)
	made := func(fn *ssa.Function) (list []ssa.Value) {
		for in := range flow.Instructions(fn) {
			switch v := in.(type) {
			case *ssa.Alloc:
				if v.Heap && v.Comment != "varargs" && v.Block().Index > 0 {
					list = append(list, v)
				}
			case *ssa.MakeSlice:
				list = append(list, v)
			}
		}
		return list
	}
	carried := map[string]bool{"offers": true, "pushes": true, "asks": false}
	reads := map[string]bool{"filled": false, "summed": true, "within": true}
	seen := 0
	for fn := range p.Functions() {
		for _, v := range made(fn) {
			if want, ok := carried[fn.Name()]; ok {
				seen++
				if got := flow.Carried(v); got != want {
					t.Errorf("%s: carried is %v", fn.Name(), got)
				}
			}
			if want, ok := reads[fn.Name()]; ok {
				seen++
				if got := flow.Reads(v); got != want {
					t.Errorf("%s: reads is %v", fn.Name(), got)
				}
			}
		}
	}
	if seen != len(carried)+len(reads) {
		t.Errorf("%d values seen", seen)
	}
}
