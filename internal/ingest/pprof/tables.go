package pprof

import (
	"io"
	"strings"
)

// Limits of the tables, far beyond what any real profile has, so that a small
// hostile file cannot fill the memory. At the limits the tables take about
// 2 GiB.
const (
	maxEntries     = 4 << 20   // each of mappings, functions, locations
	maxLines       = 16 << 20  // of all locations together
	maxStrings     = 16 << 20  // entries of the string table
	maxStringBytes = 256 << 20 // all strings together
	maxTypes       = 1 << 10   // sample types
	maxLineNumber  = 1<<31 - 1
)

// The fields of the Profile message.
const (
	fieldSampleType        = 1
	fieldSample            = 2
	fieldMapping           = 3
	fieldLocation          = 4
	fieldFunction          = 5
	fieldString            = 6
	fieldTime              = 9
	fieldDuration          = 10
	fieldPeriodType        = 11
	fieldPeriod            = 12
	fieldDefaultSampleType = 14
)

// wireOf is the wire type of the fields that the reader uses.
var wireOf = [...]int{
	fieldSampleType:        wireBytes,
	fieldSample:            wireBytes,
	fieldMapping:           wireBytes,
	fieldLocation:          wireBytes,
	fieldFunction:          wireBytes,
	fieldString:            wireBytes,
	fieldTime:              wireVarint,
	fieldDuration:          wireVarint,
	fieldPeriodType:        wireBytes,
	fieldPeriod:            wireVarint,
	fieldDefaultSampleType: wireVarint,
}

// used reports whether the reader looks into the field of that number.
func used(num int) bool {
	switch num {
	case 7, 8: // drop_frames and keep_frames: nothing is pruned here
		return false
	}
	return num < len(wireOf) && num != 13 // comments
}

// tables is what the first pass keeps, in the file's own terms: ids and
// indices into the string table, each with its offset for messages.
type tables struct {
	types         []valueType
	periodOf      valueType
	period        int64
	time          int64
	duration      int64
	defaultType   uint64
	defaultOffset int64

	strings   stringTable
	mappings  []mapping
	functions []function
	locations []location
	lines     []line

	samples int // seen, not kept
}

type valueType struct {
	typ, unit uint64
	off       int64
}

type mapping struct {
	id, start, limit, offset, file, buildID uint64
	off                                     int64
}

type function struct {
	id, name, systemName, file, startLine uint64
	off                                   int64
}

type location struct {
	id, mapping, address uint64
	lines                int // in tables.lines, up to the next location's
	off                  int64
}

type line struct {
	function, line uint64
}

// stringTable holds all strings end to end: its strings are parts of one.
type stringTable struct {
	text *strings.Builder // nil: empty
	ends []uint32
}

func (t *stringTable) add(b []byte) {
	if t.text == nil {
		t.text = new(strings.Builder)
	}
	t.text.Write(b)
	t.ends = append(t.ends, uint32(t.text.Len()))
}

func (t *stringTable) len() int { return len(t.ends) }

// bytes is the length of all strings together.
func (t *stringTable) bytes() int {
	if t.text == nil {
		return 0
	}
	return t.text.Len()
}

// at returns string i; off is where it was referred to.
func (t *stringTable) at(i uint64, off int64) (string, error) {
	if i >= uint64(t.len()) {
		return "", syntaxErrorf(off, "string %d of a table of %d", int64(i), t.len())
	}
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text.String()[start:t.ends[i]], nil
}

// read takes the tables from a stream and follows it to its end.
func (t *tables) read(st *stream) error {
	for {
		h, err := st.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.field(st, h); err != nil {
			return err
		}
	}
}

func (t *tables) field(st *stream, h header) error {
	if !used(h.num) {
		return st.skip(h.n)
	}
	if h.wire != wireOf[h.num] {
		return syntaxErrorf(h.off, "field %d of the profile has wire type %d, not %d", h.num, h.wire, wireOf[h.num])
	}
	if h.wire == wireVarint {
		return t.number(h)
	}
	if h.num == fieldSample {
		t.samples++
		return st.skip(h.n)
	}
	base := st.offset()
	body, err := st.body(h.n)
	if err != nil {
		return err
	}
	return t.message(h, cursor{b: body, base: base})
}

func (t *tables) number(h header) error {
	switch h.num {
	case fieldTime:
		if t.time != 0 {
			return syntaxErrorf(h.off, "a second time_nanos: these are several profiles, one after the other")
		}
		t.time = int64(h.u)
	case fieldDuration:
		t.duration = int64(h.u)
	case fieldPeriod:
		t.period = int64(h.u)
	case fieldDefaultSampleType:
		t.defaultType, t.defaultOffset = h.u, h.off
	}
	return nil
}

func (t *tables) message(h header, c cursor) error {
	switch h.num {
	case fieldSampleType:
		if len(t.types) == maxTypes {
			return tooMany(h, "sample types", maxTypes)
		}
		v, err := readValueType(h, c)
		t.types = append(t.types, v)
		return err
	case fieldPeriodType:
		var err error
		t.periodOf, err = readValueType(h, c)
		return err
	case fieldMapping:
		return t.mapping(h, c)
	case fieldFunction:
		return t.function(h, c)
	case fieldLocation:
		return t.location(h, c)
	default: // fieldString
		return t.string(h, c.b)
	}
}

func tooMany(h header, what string, limit int) error {
	return syntaxErrorf(h.off, "more than %d %s", limit, what)
}

func readValueType(h header, c cursor) (valueType, error) {
	v := valueType{off: h.off}
	return v, c.numbers([]*uint64{1: &v.typ, 2: &v.unit})
}

func (t *tables) mapping(h header, c cursor) error {
	if len(t.mappings) == maxEntries {
		return tooMany(h, "mappings", maxEntries)
	}
	m := mapping{off: h.off}
	if err := c.numbers([]*uint64{1: &m.id, 2: &m.start, 3: &m.limit, 4: &m.offset, 5: &m.file, 6: &m.buildID}); err != nil {
		return err
	}
	t.mappings = append(t.mappings, m)
	return nil
}

func (t *tables) function(h header, c cursor) error {
	if len(t.functions) == maxEntries {
		return tooMany(h, "functions", maxEntries)
	}
	f := function{off: h.off}
	err := c.numbers([]*uint64{1: &f.id, 2: &f.name, 3: &f.systemName, 4: &f.file, 5: &f.startLine})
	if err == nil {
		err = checkLine(f.startLine, h.off)
	}
	t.functions = append(t.functions, f)
	return err
}

func (t *tables) location(h header, c cursor) error {
	if len(t.locations) == maxEntries {
		return tooMany(h, "locations", maxEntries)
	}
	l := location{off: h.off, lines: len(t.lines)}
	dst := [...]*uint64{1: &l.id, 2: &l.mapping, 3: &l.address}
	for {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch c.num {
		case 1, 2, 3:
			if err := c.want(wireVarint); err != nil {
				return err
			}
			*dst[c.num] = c.u
		case 4:
			if err := t.line(h, &c); err != nil {
				return err
			}
		}
	}
	t.locations = append(t.locations, l)
	return nil
}

func (t *tables) line(h header, c *cursor) error {
	if err := c.want(wireBytes); err != nil {
		return err
	}
	if len(t.lines) == maxLines {
		return tooMany(h, "lines", maxLines)
	}
	var l line
	inner := cursor{b: c.data, base: c.dataOff}
	if err := inner.numbers([]*uint64{1: &l.function, 2: &l.line}); err != nil {
		return err
	}
	t.lines = append(t.lines, l)
	return checkLine(l.line, c.dataOff)
}

// checkLine refuses line numbers that no source file has, negative ones
// among them.
func checkLine(line uint64, off int64) error {
	if line > maxLineNumber {
		return syntaxErrorf(off, "line number %d", int64(line))
	}
	return nil
}

func (t *tables) string(h header, b []byte) error {
	switch {
	case t.strings.len() == 0 && len(b) > 0:
		return syntaxErrorf(h.off, "the string table begins with %.40q, not with the empty string", b)
	case t.strings.len() == maxStrings:
		return tooMany(h, "strings", maxStrings)
	case t.strings.bytes()+len(b) > maxStringBytes:
		return tooMany(h, "bytes of strings", maxStringBytes)
	}
	t.strings.add(b)
	return nil
}
