// Package errors validates forms, most of which have a fault. The rules keep
// some 25 MiB alive; the marked site makes the error value of a fault, dead when
// it has been counted by its field.
package errors

import (
	"fmt"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type fault struct {
	field      string
	got, limit int
	form       *form
}

// Error implements error.
func (f *fault) Error() string { return fmt.Sprintf("%s is %d, above %d", f.field, f.got, f.limit) }

type form struct {
	values map[string]int
	names  []string
}

// World holds the forms and a limit for each field.
type World struct {
	forms  []*form
	limits map[string]int
}

// New makes the forms; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(57, 58))
	w := &World{limits: map[string]int{}}
	for i := range 40 {
		w.limits[fmt.Sprintf("field-%02d", i)] = 500
	}
	for range 25_000 {
		f := &form{values: map[string]int{}}
		for range 8 {
			name := fmt.Sprintf("field-%02d", r.IntN(40))
			f.values[name] = r.IntN(1000)
			f.names = append(f.names, name)
		}
		w.forms = append(w.forms, f)
	}
	return w
}

// Worker returns the operation: validate four forms.
func (w *World) Worker(int) drive.Op {
	v := &validator{world: w}
	return func(i int) uint64 {
		var h uint64
		for k := range 4 {
			f := w.forms[(i*11+k)%len(w.forms)]
			for _, name := range f.names {
				if err := v.check(f, name); err != nil {
					bad := err.(*fault)
					h = drive.Mix(h, uint64(len(bad.field)+bad.got-bad.limit))
				}
			}
		}
		return h
	}
}

type validator struct {
	world *World
	last  fault
}

// check returns a fault or nil. In the version without the site it is valid until
// the next call.
func (v *validator) check(f *form, name string) error {
	got, limit := f.values[name], v.world.limits[name]
	if got <= limit {
		return nil
	}
	if variant.Without {
		v.last = fault{name, got, limit, f}
		return &v.last
	}
	return &fault{name, got, limit, f} // site
}
