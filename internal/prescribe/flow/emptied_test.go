package flow_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const emptiedProgram = `package m

type owner struct {
	buf  []byte
	keys []string
	n    int
}

var pool, last *owner

func (o *owner) all()    { *o = owner{} }
func (o *owner) some()   { *o = owner{n: 1, keys: o.keys[:0]} }
func (o *owner) one()    { o.buf = nil }
func (o *owner) none()   { o.n = 0 }
func global()            { *last = owner{n: 3} }

func (o *owner) putBack() {
	buf := o.buf
	*o = owner{}
	o.buf = buf[:0]
}

func (o *owner) copies(from *owner) { *o = *from }

func fresh() *owner {
	o := new(owner)
	*o = owner{n: 2}
	return o
}
`

// TestEmptied: fields whose arrays a store gives up, alone or with all others.
func TestEmptied(t *testing.T) {
	p, _ := sourcetest.Load(t, emptiedProgram)
	want := map[string]string{"all": "buf keys", "some": "buf", "one": "buf", "none": "", "global": "buf keys", "putBack": "keys", "copies": "", "fresh": ""}
	for fn := range p.Functions() {
		fields, known := want[fn.Name()]
		if !known {
			continue
		}
		delete(want, fn.Name())
		var got []string
		for in := range flow.Instructions(fn) {
			if st, ok := in.(*ssa.Store); ok {
				for _, f := range flow.Emptied(st) {
					got = append(got, f.Name())
				}
			}
		}
		if strings.Join(got, " ") != fields {
			t.Errorf("%s: %v, want %s", fn.Name(), got, fields)
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}
