package pprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Header is what a written profile says of itself. Only Types is required.
type Header struct {
	Types       []evidence.ValueType // the columns, in order
	DefaultType string               // of the column shown first; "" leaves the choice to the viewer
	PeriodOf    evidence.ValueType
	Period      int64
	Start       time.Time
	Duration    time.Duration
	Program     string   // named as the mapped file; "" means "program"
	Comments    []string // shown by go tool pprof -comments
}

// Writer writes a profile as a gzip-compressed pprof proto. Samples go out as
// they come; only the distinct strings, functions and locations stay in
// memory. It is not safe for concurrent use.
type Writer struct {
	gz        *gzip.Writer
	types     int
	err       error // sticky
	closed    bool
	buf       []byte // fields to be written
	body      []byte // a message under construction
	line      []byte // a Line in it
	key       []byte
	ids       []uint64
	strings   map[string]uint64
	functions map[functionKey]uint64
	locations map[string]uint64 // by the bytes of their encoded lines
}

// functionKey identifies a function. Its start line is no part of it: some profiles lack it,
// and viewers would show one function as two.
type functionKey struct{ name, file string }

// All locations lie in one made-up mapping, which says that the profile is
// symbolised already.
const (
	mappingID    = 1
	mappingStart = 0x1000
	mappingLimit = 1 << 47
)

// flushSize is how much is gathered before it is handed to the compressor.
const flushSize = 64 << 10

// NewWriter starts a profile on w. The caller must Close the Writer to
// complete the profile; w itself is left open.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if len(h.Types) == 0 {
		return nil, errors.New("write profile: no sample types")
	}
	known := func(v evidence.ValueType) bool { return v.Type == h.DefaultType }
	if h.DefaultType != "" && !slices.ContainsFunc(h.Types, known) {
		return nil, fmt.Errorf("write profile: default type %q is not one of its types", h.DefaultType)
	}
	pw := &Writer{
		gz:        gzip.NewWriter(w),
		types:     len(h.Types),
		strings:   make(map[string]uint64),
		functions: make(map[functionKey]uint64),
		locations: make(map[string]uint64),
	}
	pw.header(h)
	return pw, pw.err
}

func (w *Writer) header(h Header) {
	w.str("") // string 0 is the empty one by definition
	for _, t := range h.Types {
		w.valueType(fieldSampleType, t)
	}
	w.valueType(fieldPeriodType, h.PeriodOf)
	w.buf = appendNumber(w.buf, fieldPeriod, uint64(h.Period))
	w.buf = appendNumber(w.buf, fieldDuration, uint64(h.Duration))
	if !h.Start.IsZero() {
		w.buf = appendNumber(w.buf, fieldTime, uint64(h.Start.UnixNano()))
	}
	if h.DefaultType != "" {
		i := w.str(h.DefaultType)
		w.buf = appendNumber(w.buf, fieldDefaultSampleType, i)
	}
	for _, c := range h.Comments {
		i := w.str(c)
		w.buf = appendNumber(w.buf, 13, i)
	}
	program := h.Program
	if program == "" {
		program = "program"
	}
	file := w.str(program)
	b := appendNumber(w.body[:0], 1, mappingID)
	b = appendNumber(b, 2, mappingStart)
	b = appendNumber(b, 3, mappingLimit)
	b = appendNumber(b, 5, file)
	for has := 7; has <= 10; has++ { // functions, filenames, line numbers, inline frames
		b = appendNumber(b, has, 1)
	}
	w.message(fieldMapping, b)
}

func (w *Writer) valueType(field int, t evidence.ValueType) {
	typ, unit := w.str(t.Type), w.str(t.Unit)
	b := appendNumber(w.body[:0], 1, typ)
	w.message(field, appendNumber(b, 2, unit))
}

// Add writes one sample. Each element of stack is one physical frame, leaf
// first, with the calls that were inlined there, innermost first, as in
// evidence.Location; Frame.Inlined is not looked at. A function keeps the start
// line that it has first. Values has one element per
// Header.Types. Neither is kept. An error is final.
func (w *Writer) Add(stack [][]evidence.Frame, values []int64) error {
	if w.closed {
		return errors.New("write profile: already closed")
	}
	if w.err != nil {
		return w.err
	}
	if len(values) != w.types {
		return w.fail(fmt.Errorf("a sample with %d values for %d types", len(values), w.types))
	}
	w.ids = w.ids[:0]
	for _, frames := range stack {
		id, err := w.location(frames)
		if err != nil {
			return w.fail(err)
		}
		w.ids = append(w.ids, id)
	}
	w.line = w.line[:0]
	for _, id := range w.ids {
		w.line = binary.AppendUvarint(w.line, id)
	}
	b := appendBytes(w.body[:0], 1, w.line)
	w.line = w.line[:0]
	for _, v := range values {
		w.line = binary.AppendUvarint(w.line, uint64(v))
	}
	w.message(fieldSample, appendBytes(b, 2, w.line))
	if len(w.buf) >= flushSize {
		w.flush()
	}
	return w.err
}

// Close completes the profile. It returns the first error of the Writer.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	w.flush()
	if err := w.gz.Close(); err != nil && w.err == nil {
		return w.fail(err)
	}
	return w.err
}

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("write profile: %w", err)
	return w.err
}

func (w *Writer) flush() {
	if w.err != nil {
		return
	}
	if _, err := w.gz.Write(w.buf); err != nil {
		_ = w.fail(err)
	}
	w.buf = w.buf[:0]
}

// location returns the id of the location with these frames, which it writes
// when they are new.
func (w *Writer) location(frames []evidence.Frame) (uint64, error) {
	if len(frames) == 0 {
		return 0, errors.New("a location without frames")
	}
	w.key = w.key[:0]
	for _, f := range frames {
		if f.Line < 0 || f.Line > maxLineNumber || f.StartLine < 0 || f.StartLine > maxLineNumber {
			return 0, fmt.Errorf("line %d of %s, which starts at line %d, is out of range", f.Line, f.Function, f.StartLine)
		}
		w.line = appendNumber(w.line[:0], 1, w.function(f))
		w.line = appendNumber(w.line, 2, uint64(f.Line))
		w.key = appendBytes(w.key, 4, w.line)
	}
	if id, ok := w.locations[string(w.key)]; ok {
		return id, nil
	}
	id := uint64(len(w.locations) + 1)
	w.locations[string(w.key)] = id
	b := appendNumber(w.body[:0], 1, id)
	b = appendNumber(b, 2, mappingID)
	b = appendNumber(b, 3, mappingStart+id) // addresses tell locations apart
	w.message(fieldLocation, append(b, w.key...))
	return id, nil
}

func (w *Writer) function(f evidence.Frame) uint64 {
	key := functionKey{f.Function, f.File}
	if id, ok := w.functions[key]; ok {
		return id
	}
	id := uint64(len(w.functions) + 1)
	w.functions[key] = id
	name, file := w.str(f.Function), w.str(f.File)
	b := appendNumber(w.body[:0], 1, id)
	b = appendNumber(b, 2, name)
	b = appendNumber(b, 3, name)
	b = appendNumber(b, 4, file)
	w.message(fieldFunction, appendNumber(b, 5, uint64(f.StartLine)))
	return id
}

// str returns the index of s in the string table, to which it writes s when
// it is new.
func (w *Writer) str(s string) uint64 {
	if i, ok := w.strings[s]; ok {
		return i
	}
	i := uint64(len(w.strings))
	w.strings[s] = i
	w.buf = appendTag(w.buf, fieldString, wireBytes)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(s)))
	w.buf = append(w.buf, s...)
	return i
}

// message writes a message whose fields are in body, and takes the buffer
// back for the next one.
func (w *Writer) message(field int, body []byte) {
	w.buf = appendBytes(w.buf, field, body)
	w.body = body
}

func appendTag(b []byte, field, wire int) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(wire))
}

func appendNumber(b []byte, field int, u uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, wireVarint), u)
}

func appendBytes(b []byte, field int, content []byte) []byte {
	b = binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(content)))
	return append(b, content...)
}
