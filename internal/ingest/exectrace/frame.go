package exectrace

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// generation is one generation of a trace as it stands in the file.
type generation struct {
	id      uint64
	data    []byte  // with slack behind
	size    int     // of data without slack
	offset  int64   // of data in the file
	batches []batch // in the order of the file
}

// batch is a batch of a generation: its header, and where its data is.
type batch struct {
	thread     uint64
	time       uint64
	start, end int  // in generation.data
	extra      bool // of an experiment, not to be parsed
}

// framer cuts a trace into generations without looking into the batches. It
// reads straight into the memory of a generation.
type framer struct {
	r       io.Reader
	version version
	buf     []byte // what was read and belongs to no generation given out yet
	offset  int64  // of buf in the file
	eof     bool
	free    chan *generation // to use again
}

func newFramer(r io.Reader, v version) *framer {
	return &framer{r: r, version: v, offset: headerSize, free: make(chan *generation, 4)}
}

// release takes back a generation that nobody looks at any more.
func (f *framer) release(g *generation) {
	select {
	case f.free <- g:
	default:
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
	*g = generation{data: data, offset: f.offset, batches: g.batches[:0]}
	pos, done := 0, false
	for !done {
		var err error
		if pos, done, err = f.batch(g, pos); err != nil {
			return nil, err
		}
	}
	f.buf = append(f.buf[:0], g.data[pos:]...)
	f.offset += int64(pos)
	if pos == 0 {
		return nil, io.EOF
	}
	g.size = pos
	g.data = append(g.data[:pos], make([]byte, wire.Slack)...)
	return g, nil
}

// batch adds the batch at pos to g. It returns where the next one begins, and
// whether g is complete; then pos is where the next generation begins.
func (f *framer) batch(g *generation, pos int) (next int, done bool, err error) {
	const maxHeader = 2 + 4*maxVarint
	if err := f.want(g, pos+maxHeader); err != nil {
		return pos, false, err
	}
	rest := g.data[pos:]
	if len(rest) == 0 {
		return pos, true, f.ended(g)
	}
	h, err := parseBatchHeader(rest)
	follows := f.version < version126 && g.id != 0 && h.generation == g.id+1
	if err != nil && !follows {
		return pos, false, f.fail(g, pos, err, len(rest) < maxHeader)
	}
	if h.kind == wire.EndOfGeneration {
		if f.version < version126 || len(g.batches) == 0 {
			return pos, false, f.fail(g, pos, fmt.Errorf("a generation ends where none is"), false)
		}
		return pos + 1, true, nil
	}
	switch {
	case h.generation == 0:
		return pos, false, f.fail(g, pos, fmt.Errorf("generation 0"), false)
	case g.id == 0:
		g.id = h.generation
	case follows:
		return pos, true, nil
	case h.generation != g.id:
		return pos, false, f.fail(g, pos, fmt.Errorf("a batch of generation %d in generation %d", h.generation, g.id), false)
	}
	b := batch{thread: h.thread, time: h.time, start: pos + h.length, extra: h.kind == wire.ExperimentalBatch}
	b.end = b.start + h.size
	if err := f.want(g, b.end); err != nil {
		return pos, false, err
	}
	if len(g.data) < b.end {
		return pos, false, f.cut(g)
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
	return &Error{at, fmt.Sprintf("the trace ends in the middle of a generation, which began at offset %d", f.offset), io.ErrUnexpectedEOF}
}

func (f *framer) fail(g *generation, pos int, err error, atEnd bool) error {
	if atEnd && err == io.ErrUnexpectedEOF {
		return f.cut(g)
	}
	return &Error{Offset: f.offset + int64(pos), Reason: err.Error()}
}

// want reads until g has n bytes, or the file ends.
func (f *framer) want(g *generation, n int) error {
	const chunk = 512 << 10
	for len(g.data) < n && !f.eof {
		if cap(g.data) < len(g.data)+chunk+wire.Slack {
			g.data = slices.Grow(g.data, cap(g.data)+2*chunk) // twice as much: little is copied twice
		}
		read, err := f.r.Read(g.data[len(g.data) : len(g.data)+chunk])
		g.data = g.data[:len(g.data)+read]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			f.eof = true
		case err != nil:
			return fmt.Errorf("read execution trace at offset %d: %w", f.offset+int64(len(g.data)), err)
		}
	}
	return nil
}

// batchHeader is the beginning of a batch.
type batchHeader struct {
	kind                     byte
	generation, thread, time uint64
	size, length             int // of the data, of the header
}

// parseBatchHeader returns io.ErrUnexpectedEOF where b ends too early.
func parseBatchHeader(b []byte) (batchHeader, error) {
	h := batchHeader{kind: b[0], length: 1}
	switch h.kind {
	case wire.EndOfGeneration:
		return h, nil
	case wire.Batch:
	case wire.ExperimentalBatch:
		h.length = 2
	default:
		return h, fmt.Errorf("no batch begins here, but event %d", h.kind)
	}
	var size uint64
	for _, v := range []*uint64{&h.generation, &h.thread, &h.time, &size} {
		if h.length >= len(b) {
			return h, io.ErrUnexpectedEOF
		}
		n := 0
		switch *v, n = binary.Uvarint(b[h.length:]); {
		case n == 0:
			return h, io.ErrUnexpectedEOF
		case n < 0:
			return h, fmt.Errorf("a number of the batch's header has more than 64 bits")
		}
		h.length += n
	}
	if size > maxBatchSize {
		return h, fmt.Errorf("a batch of %d bytes; the format allows %d", size, maxBatchSize)
	}
	h.size = int(size)
	return h, nil
}
