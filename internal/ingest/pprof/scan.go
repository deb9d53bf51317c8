package pprof

import (
	"io"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Scan implements evidence.SampleSource. An error in the content is a
// *SyntaxError; yield's own error comes back as it is.
func (s *source) Scan(yield func(evidence.Sample) error) error {
	st, err := s.stream()
	if err != nil {
		return s.named(err)
	}
	defer st.close()
	sc := scanner{source: s}
	for {
		h, err := st.next()
		if err == io.EOF {
			break
		}
		if err == nil && h.num != fieldSample {
			err = st.skip(h.n)
		} else if err == nil {
			err = sc.sample(st, h)
		}
		if err != nil {
			return s.named(err)
		}
		if h.num != fieldSample {
			continue
		}
		if err := yield(sc.current); err != nil {
			return err
		}
	}
	if sc.seen != s.samples || st.offset() != s.length {
		return s.named(errChanged)
	}
	return nil
}

// scanner decodes samples into slices that it uses again.
type scanner struct {
	*source
	current evidence.Sample
	seen    int
}

func (sc *scanner) sample(st *stream, h header) error {
	if h.wire != wireBytes {
		return errChanged // the first pass checked it
	}
	base := st.offset()
	body, err := st.body(h.n)
	if err != nil {
		return err
	}
	sc.seen++
	sc.current.Stack = sc.current.Stack[:0]
	sc.current.Values = sc.current.Values[:0]
	sc.current.Labels = sc.current.Labels[:0]
	c := cursor{b: body, base: base}
	for {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch c.num {
		case 1:
			err = sc.locations(&c)
		case 2:
			err = sc.values(&c)
		case 3:
			err = sc.label(&c)
		}
		if err != nil {
			return err
		}
	}
	if got := len(sc.current.Values); got != sc.types {
		return syntaxErrorf(h.off, "a sample has %d values, but the profile has %d sample types", got, sc.types)
	}
	return nil
}

func (sc *scanner) locations(c *cursor) error {
	if c.wire == wireVarint {
		return sc.location(c.u, c.offset())
	}
	if err := c.want(wireBytes); err != nil {
		return err
	}
	// The hot loop of a scan: most bytes of a profile are location ids.
	b, dense, stack := c.data, sc.byID.dense, sc.current.Stack
	for i := 0; i < len(b); {
		id, n := varint(b[i:])
		if n == 0 {
			return badPacked(c.dataOff + int64(i))
		}
		var loc *evidence.Location
		if id < uint64(len(dense)) {
			loc = dense[id]
		} else {
			loc = sc.byID.sparse[id]
		}
		if loc == nil {
			return unknownLocation(id, c.dataOff+int64(i))
		}
		stack = append(stack, loc)
		i += n
	}
	sc.current.Stack = stack
	return nil
}

func unknownLocation(id uint64, off int64) error {
	return syntaxErrorf(off, "a sample refers to location %d, which is not in the profile", id)
}

func (sc *scanner) location(id uint64, off int64) error {
	loc := sc.byID.get(id)
	if loc == nil {
		return unknownLocation(id, off)
	}
	sc.current.Stack = append(sc.current.Stack, loc)
	return nil
}

func (sc *scanner) values(c *cursor) error {
	if c.wire == wireVarint {
		sc.current.Values = append(sc.current.Values, int64(c.u))
		return nil
	}
	if err := c.want(wireBytes); err != nil {
		return err
	}
	b := c.data
	for i := 0; i < len(b); {
		u, n := varint(b[i:])
		if n == 0 {
			return badPacked(c.dataOff + int64(i))
		}
		sc.current.Values = append(sc.current.Values, int64(u))
		i += n
	}
	return nil
}

func badPacked(off int64) error {
	return syntaxErrorf(off, "varint is cut off or does not fit 64 bits")
}

// label reads one label of a sample.
func (sc *scanner) label(c *cursor) error {
	if err := c.want(wireBytes); err != nil {
		return err
	}
	var key, text, number, unit uint64
	inner := cursor{b: c.data, base: c.dataOff}
	if err := inner.numbers([]*uint64{1: &key, 2: &text, 3: &number, 4: &unit}); err != nil {
		return err
	}
	if text == 0 && number == 0 && unit == 0 {
		return nil // says nothing
	}
	l := evidence.Label{Number: int64(number)}
	for _, s := range [...]struct {
		at  uint64
		dst *string
	}{{key, &l.Key}, {text, &l.Text}, {unit, &l.Unit}} {
		if s.at == 0 {
			continue // empty, also where there is no table
		}
		var err error
		if *s.dst, err = sc.strings.at(s.at, c.dataOff); err != nil {
			return err
		}
	}
	sc.current.Labels = append(sc.current.Labels, l)
	return nil
}
