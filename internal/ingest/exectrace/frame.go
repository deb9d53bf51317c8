package exectrace

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/section"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// generation is one generation of a trace as it stands in the file.
type generation struct {
	id      uint64
	file    *io.SectionReader // of all generations; nil where the trace can only be read from front to back
	data    []byte            // of the generation, without file
	size    int
	offset  int64   // in the file
	batches []batch // in the order of the file
}

// batch is a batch of a generation: its header, and where its data is.
type batch struct {
	thread     uint64
	time       uint64
	start, end int  // in the generation
	first      byte // of the data; 0 for none
	extra      bool // of an experiment, not to be parsed
}

// framer cuts a trace into generations without looking into the batches. From a
// file it reads their headers only; else it reads into the memory of a generation.
type framer struct {
	file    *io.SectionReader // nil for none
	r       io.Reader
	version version
	header  [wire.MaxHeader + 1]byte
	buf     []byte // what was read and belongs to no generation given out yet
	offset  int64  // of the next generation in the file
	eof     bool
	free    chan *generation // to use again
}

// newFramer returns a framer of what follows the header of a trace.
func newFramer(r io.Reader, v version) *framer {
	return &framer{file: section.Of(r), r: r, version: v, offset: headerSize, free: make(chan *generation, 4)}
}

// release takes back a generation that nobody looks at any more.
func (f *framer) release(g *generation) {
	select {
	case f.free <- g:
	default:
	}
}

// each visits all generations.
func (f *framer) each(visit func(*generation) error) error {
	for {
		g, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = visit(g)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the next complete generation, or io.EOF. After an error there
// is no next one.
func (f *framer) next() (*generation, error) {
	g := &generation{}
	select {
	case g = <-f.free:
	default:
	}
	data := append(g.data[:0], f.buf...)
	*g = generation{file: f.file, data: data, offset: f.offset, batches: g.batches[:0]}
	pos, done := 0, false
	for !done {
		var err error
		if pos, done, err = f.batch(g, pos); err != nil {
			return nil, err
		}
	}
	if f.file == nil {
		f.buf = append(f.buf[:0], g.data[pos:]...)
	}
	f.offset += int64(pos)
	if pos == 0 {
		return nil, io.EOF
	}
	g.size = pos
	return g, nil
}

// batch adds the batch at pos to g. It returns where the next one begins, and
// whether g is complete; then pos is where the next generation begins.
func (f *framer) batch(g *generation, pos int) (next int, done bool, err error) {
	rest, err := f.peek(g, pos)
	if err != nil {
		return pos, false, err
	}
	if len(rest) == 0 {
		return pos, true, f.ended(g)
	}
	h, err := wire.ReadHeader(rest)
	follows := f.version < version126 && g.id != 0 && h.Generation == g.id+1
	if err != nil && !follows {
		return pos, false, f.fail(g, pos, err, len(rest) < wire.MaxHeader)
	}
	if h.Kind == wire.EndOfGeneration {
		if f.version < version126 || len(g.batches) == 0 {
			return pos, false, f.fail(g, pos, fmt.Errorf("a generation ends where none is"), false)
		}
		return pos + 1, true, nil
	}
	switch {
	case h.Generation == 0:
		return pos, false, f.fail(g, pos, fmt.Errorf("generation 0"), false)
	case g.id == 0:
		g.id = h.Generation
	case follows:
		return pos, true, nil
	case h.Generation != g.id:
		return pos, false, f.fail(g, pos, fmt.Errorf("a batch of generation %d in generation %d", h.Generation, g.id), false)
	}
	b := batch{thread: h.Thread, time: h.Time, start: pos + h.Length, extra: h.Kind == wire.ExperimentalBatch}
	b.end = b.start + h.Size
	switch whole, err := f.has(g, b.end); {
	case err != nil:
		return pos, false, err
	case !whole:
		return pos, false, f.cut(g)
	}
	if b.start < b.end {
		b.first = rest[h.Length]
	}
	g.batches = append(g.batches, b)
	return b.end, false, nil
}

// ended says whether a generation may end with the file.
func (f *framer) ended(g *generation) error {
	switch {
	case f.version >= version126 && len(g.batches) > 0:
		return f.cut(g)
	case f.version < version126 && len(g.batches) == 0 && f.offset == headerSize:
		return f.cut(g) // there is one generation at least
	}
	return nil
}

func (f *framer) cut(g *generation) error {
	at := f.offset + int64(len(g.data))
	if f.file != nil {
		at = headerSize + f.file.Size()
	}
	return &Error{at, fmt.Sprintf("the trace ends in the middle of a generation, which began at offset %d", f.offset), io.ErrUnexpectedEOF}
}

func (f *framer) fail(g *generation, pos int, err error, atEnd bool) error {
	if atEnd && err == io.ErrUnexpectedEOF {
		return f.cut(g)
	}
	return &Error{Offset: f.offset + int64(pos), Reason: err.Error()}
}

// peek returns the bytes at pos: a header and one more, or fewer at the end. They are valid until the next call.
func (f *framer) peek(g *generation, pos int) ([]byte, error) {
	if f.file == nil {
		err := f.want(g, pos+len(f.header))
		return g.data[pos:], err
	}
	at := f.offset + int64(pos)
	n, err := f.file.ReadAt(f.header[:], at-headerSize)
	if err != nil && err != io.EOF {
		return nil, readError(at, err)
	}
	return f.header[:n], nil
}

// has reports whether the trace goes on to end, which is in g.
func (f *framer) has(g *generation, end int) (bool, error) {
	if f.file == nil {
		err := f.want(g, end)
		return len(g.data) >= end, err
	}
	return f.offset+int64(end) <= headerSize+f.file.Size(), nil
}

// load reads a batch into buf, which has room for it and for slack behind, and clears the slack.
func (g *generation) load(b *batch, buf []byte) error {
	n := b.end - b.start
	clear(buf[n : n+wire.Slack])
	if g.file == nil {
		copy(buf, g.data[b.start:b.end])
		return nil
	}
	at := g.offset + int64(b.start)
	if read, err := g.file.ReadAt(buf[:n], at-headerSize); read < n {
		return readError(at+int64(read), err)
	}
	return nil
}

func readError(at int64, err error) error {
	return fmt.Errorf("read execution trace at offset %d: %w", at, err)
}

// want reads until g has n bytes, or the file ends.
func (f *framer) want(g *generation, n int) error {
	const chunk = 512 << 10
	for len(g.data) < n && !f.eof {
		if cap(g.data) < len(g.data)+chunk {
			g.data = slices.Grow(g.data, cap(g.data)+2*chunk) // twice as much: little is copied twice
		}
		read, err := f.r.Read(g.data[len(g.data) : len(g.data)+chunk])
		g.data = g.data[:len(g.data)+read]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			f.eof = true
		case err != nil:
			return readError(f.offset+int64(len(g.data)), err)
		}
	}
	return nil
}
