package flow_test

import (
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const resetProgram = `package m

type value struct{ n int }

func (v *value) clear() { v.n = 0 }

func (v *value) keep() { last = v }

var last *value

type list struct{ all []value }

func (l *list) cleared() {
	all := l.all
	for i := range all {
		all[i].clear()
	}
	l.all = nil
}

func (l *list) measured() {
	if len(l.all) > 10 {
		l.all = []value{}
	}
}

func (l *list) zeroed() {
	clear(l.all)
	for i := range l.all {
		l.all[i].n = 1
	}
	l.all = make([]value, 0)
}

func (l *list) kept() {
	l.all[0].keep()
	l.all = nil
}

func (l *list) taken() []value {
	all := l.all
	l.all = nil
	return all
}

func (l *list) sized() { l.all = make([]value, 0, 8) }

func made() *list {
	l := &list{}
	l.all = nil
	return l
}
`

// TestResets: fields that are emptied, and those whose memory somebody else may have got before.
func TestResets(t *testing.T) {
	p, _ := sourcetest.Load(t, resetProgram)
	want := map[string]bool{"cleared": true, "measured": true, "zeroed": true, "kept": false, "taken": false, "sized": false, "made": false}
	seen := 0
	for fn := range p.Functions() {
		for in := range flow.Instructions(fn) {
			st, ok := in.(*ssa.Store)
			at, field := ssa.Value(nil), false
			if ok {
				at = st.Addr
				_, field = at.(*ssa.FieldAddr)
			}
			if empties, ok := want[fn.Name()]; ok && field && flow.Field(at.(*ssa.FieldAddr)).Name() == "all" {
				seen++
				if got := flow.SetField(at) != nil && flow.EmptySlice(st.Val) && !flow.ReadBefore(st); got != empties {
					t.Errorf("%s: emptied is %v", fn.Name(), got)
				}
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d stores, want %d", seen, len(want))
	}
}
