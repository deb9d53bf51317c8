package pprof

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
)

// buffers is the number of chunks in flight: one being filled, one waiting,
// one being read.
const buffers = 3

// inflater reads ahead on a goroutine of its own, so that inflating and
// decoding overlap. Whoever starts one must close it; close waits for the
// goroutine. Its other methods belong to one goroutine.
type inflater struct {
	full chan chunk
	free chan []byte
	stop chan struct{}
	done chan struct{}
	last []byte // the chunk the reader holds
	err  error  // sticky
}

// chunk has either data or the error that ended the stream.
type chunk struct {
	data []byte
	err  error
}

func startInflater(r io.Reader, size int) *inflater {
	p := &inflater{
		full: make(chan chunk, buffers+1),
		free: make(chan []byte, buffers),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range buffers {
		p.free <- make([]byte, size)
	}
	go p.run(r)
	return p
}

func (p *inflater) run(r io.Reader) {
	defer close(p.done)
	for {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-p.stop:
			return
		}
		n, err := fill(r, buf)
		// Never blocks: full has room for every buffer and the error.
		if n > 0 {
			p.full <- chunk{data: buf[:n]}
		}
		if err != nil {
			p.full <- chunk{err: err}
			return
		}
	}
}

// fill is io.ReadFull, but it leaves the reader's own error as it is:
// a clean end must not look like a cut one.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

// next returns the following chunk, which is valid until the next call.
func (p *inflater) next() ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.last != nil {
		p.free <- p.last
		p.last = nil
	}
	c := <-p.full
	if c.err != nil {
		p.err = c.err
		return nil, c.err
	}
	p.last = c.data[:cap(c.data)]
	return c.data, nil
}

func (p *inflater) close() {
	close(p.stop)
	<-p.done
}

// members reads the members of a gzip file one by one. The multistream mode
// of the gzip package takes a further member that is cut off inside its header
// for the end of the file.
type members struct {
	br *bufio.Reader
	z  *gzip.Reader
}

func newMembers(br *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, noEOF(err)
	}
	z.Multistream(false)
	return &members{br: br, z: z}, nil
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && err == io.EOF {
			return n, nil // the reader repeats the io.EOF
		}
		if err != io.EOF {
			return n, err
		}
		if _, err := m.br.Peek(1); err != nil {
			return 0, err
		}
		if err := m.z.Reset(m.br); err != nil {
			return 0, noEOF(err)
		}
		m.z.Multistream(false)
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
