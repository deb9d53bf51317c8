package pprof

import (
	"fmt"
	"path"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// resolve turns ids and string indices into values: it completes p and the
// lookup table of s.
func (t *tables) resolve(p *evidence.Profile, s *source) error {
	r := resolver{tables: t}
	if err := r.header(p); err != nil {
		return err
	}
	if err := r.index(); err != nil {
		return err
	}
	locs, err := r.locations()
	if err != nil {
		return err
	}
	p.Locations = len(locs)
	s.byID = newIDTable[*evidence.Location](len(locs))
	for i, l := range t.locations {
		if l.id == 0 {
			return syntaxErrorf(l.off, "a location has the reserved id 0")
		}
		if !s.byID.put(l.id, &locs[i]) {
			return syntaxErrorf(l.off, "a second location has id %d", l.id)
		}
	}
	return nil
}

type resolver struct {
	*tables
	mappingOf  idTable[*evidence.Mapping]
	functionOf idTable[*evidence.Frame] // without its Line
}

func (r *resolver) header(p *evidence.Profile) error {
	if len(r.types) == 0 {
		return syntaxErrorf(0, "no sample types: not a pprof profile, or only a part of one")
	}
	for _, v := range r.types {
		vt, err := r.valueType(v)
		if err != nil {
			return err
		}
		p.Types = append(p.Types, vt)
	}
	var err error
	if p.PeriodOf, err = r.valueType(r.periodOf); err != nil {
		return err
	}
	if _, err := r.strings.at(r.defaultType, r.defaultOffset); err != nil {
		return err
	}
	p.Period = r.period
	p.Duration = time.Duration(r.duration)
	if r.time != 0 {
		p.Start = time.Unix(0, r.time)
	}
	return nil
}

func (r *resolver) valueType(v valueType) (evidence.ValueType, error) {
	typ, err := r.strings.at(v.typ, v.off)
	if err != nil {
		return evidence.ValueType{}, err
	}
	unit, err := r.strings.at(v.unit, v.off)
	return evidence.ValueType{Type: typ, Unit: unit}, err
}

// index makes mappings and functions findable by id.
func (r *resolver) index() error {
	if err := r.indexMappings(); err != nil {
		return err
	}
	r.functionOf = newIDTable[*evidence.Frame](len(r.functions))
	frames := make([]evidence.Frame, len(r.functions))
	for i, f := range r.functions {
		if f.id == 0 {
			return syntaxErrorf(f.off, "a function has the reserved id 0")
		}
		if !r.functionOf.put(f.id, &frames[i]) {
			return syntaxErrorf(f.off, "a second function has id %d", f.id)
		}
		var err error
		if frames[i], err = r.function(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) indexMappings() error {
	r.mappingOf = newIDTable[*evidence.Mapping](len(r.mappings))
	mapped := make([]evidence.Mapping, len(r.mappings))
	for i, m := range r.mappings {
		if m.id == 0 {
			return syntaxErrorf(m.off, "a mapping has the reserved id 0")
		}
		if !r.mappingOf.put(m.id, &mapped[i]) {
			return syntaxErrorf(m.off, "a second mapping has id %d", m.id)
		}
		mapped[i] = evidence.Mapping{Start: m.start, Limit: m.limit, Offset: m.offset}
		var err error
		if mapped[i].File, err = r.strings.at(m.file, m.off); err != nil {
			return err
		}
		if mapped[i].BuildID, err = r.strings.at(m.buildID, m.off); err != nil {
			return err
		}
	}
	return nil
}

// function is a frame of f whose Line is still to be set.
func (r *resolver) function(f function) (evidence.Frame, error) {
	fr := evidence.Frame{StartLine: int(f.startLine)}
	var err error
	if fr.Function, err = r.strings.at(f.name, f.off); err != nil {
		return fr, err
	}
	if fr.Function == "" {
		if fr.Function, err = r.strings.at(f.systemName, f.off); err != nil {
			return fr, err
		}
	}
	fr.File, err = r.strings.at(f.file, f.off)
	return fr, err
}

func (r *resolver) locations() ([]evidence.Location, error) {
	locs := make([]evidence.Location, len(r.tables.locations))
	frames := make([]evidence.Frame, 0, len(r.lines))
	for i, l := range r.tables.locations {
		end := len(r.lines)
		if i+1 < len(r.tables.locations) {
			end = r.tables.locations[i+1].lines
		}
		first := len(frames)
		for n := l.lines; n < end; n++ {
			ln := r.lines[n]
			f := r.functionOf.get(ln.function)
			if f == nil {
				return nil, syntaxErrorf(l.off, "location %d has a line of function %d, which is not in the profile", l.id, ln.function)
			}
			frames = append(frames, *f)
			last := &frames[len(frames)-1]
			last.Line, last.Inlined = int(ln.line), n+1 < end
		}
		locs[i] = evidence.Location{Index: i, Frames: frames[first:len(frames):len(frames)], Address: l.address, Mapping: r.mappingOf.get(l.mapping)}
		if first == len(frames) {
			locs[i].Frames = []evidence.Frame{bareFrame(&locs[i])}
		}
	}
	return locs, nil
}

// bareFrame stands for a location without symbols: its address, and the
// mapped file where that is known.
func bareFrame(l *evidence.Location) evidence.Frame {
	fr := evidence.Frame{Function: fmt.Sprintf("%#x", l.Address)}
	if l.Mapping != nil && l.Mapping.File != "" {
		fr.Function += " [" + path.Base(l.Mapping.File) + "]"
	}
	return fr
}

// idTable finds values by their id in the file. Ids are dense in nearly every
// profile, addresses in some.
type idTable[T comparable] struct {
	dense  []T
	sparse map[uint64]T
}

// newIDTable returns a table for n entries.
func newIDTable[T comparable](n int) idTable[T] {
	return idTable[T]{dense: make([]T, 2*n+64)}
}

// get returns the zero T for an unknown id.
func (t *idTable[T]) get(id uint64) T {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	return t.sparse[id]
}

// put enters v, which is not the zero T, and reports whether id was free.
func (t *idTable[T]) put(id uint64, v T) bool {
	var zero T
	if t.get(id) != zero {
		return false
	}
	if id < uint64(len(t.dense)) {
		t.dense[id] = v
		return true
	}
	if t.sparse == nil {
		t.sparse = make(map[uint64]T)
	}
	t.sparse[id] = v
	return true
}
