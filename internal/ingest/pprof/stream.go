package pprof

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
)

// maxMessage bounds a single field of the profile, and with it what a hostile
// file can make the reader hold at once.
const maxMessage = 64 << 20

// headSize is how much of the beginning is kept to say what a file that is no
// profile looks like.
const headSize = 256

// stream cuts the decompressed profile into its top-level fields.
type stream struct {
	closer io.Closer
	in     *inflater
	cur    []byte // unread rest of the current chunk
	base   int64  // offset just after cur
	spill  []byte // assembles bodies that span chunks
	head   []byte // first bytes of the stream
}

// header is the tag of a top-level field, with the value of a number or the
// length of a body that has to be read or skipped next.
type header struct {
	num  int
	wire int
	u    uint64 // value, for wire types other than bytes
	n    int    // length of the body, for wireBytes
	off  int64  // of the tag
}

// newStream reads from r, gzip or plain, and owns it.
func newStream(r io.ReadCloser, chunkSize int) (*stream, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var in io.Reader = br
	magic, err := br.Peek(2)
	if err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		in, err = newMembers(br)
	}
	if err != nil && err != io.EOF {
		err = inflateError(0, err)
		return nil, errors.Join(err, r.Close())
	}
	s := &stream{closer: r, in: startInflater(in, chunkSize)}
	if err := s.more(); err != nil {
		s.close()
		if err == io.EOF {
			err = syntaxErrorf(0, "empty profile")
		}
		return nil, err
	}
	s.head = bytes.Clone(s.cur[:min(len(s.cur), headSize)])
	return s, nil
}

// close stops reading. The input was only read from, so that an error of its
// Close says nothing about the data.
func (s *stream) close() {
	s.in.close()
	_ = s.closer.Close()
}

// offset is the position of the next byte.
func (s *stream) offset() int64 { return s.base - int64(len(s.cur)) }

// more makes the next chunk current. The current one must be used up.
func (s *stream) more() error {
	c, err := s.in.next()
	if err == io.EOF {
		return err
	}
	if err != nil {
		return inflateError(s.base, err)
	}
	s.cur = c
	s.base += int64(len(c))
	return nil
}

// inflateError tells content that is broken from a file that cannot be read.
func inflateError(offset int64, err error) error {
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return syntaxErrorf(offset, "the compressed data is cut off here")
	default:
		return syntaxErrorf(offset, "the compressed data is corrupt: %v", err)
	}
}

// next reads the tag of the next field. It returns io.EOF at the end of the
// profile.
func (s *stream) next() (header, error) {
	h := header{off: s.offset()}
	if len(s.cur) == 0 {
		if err := s.more(); err != nil {
			return h, err
		}
	}
	tag, err := s.varint()
	if err != nil {
		return h, err
	}
	if h.num, h.wire, err = splitTag(tag, h.off); err != nil {
		return h, err
	}
	switch h.wire {
	case wireVarint:
		h.u, err = s.varint()
	case wireBytes:
		h.u, err = s.varint()
		if err == nil && h.u > maxMessage {
			err = syntaxErrorf(h.off, "field %d is %d bytes long, more than the %d allowed", h.num, h.u, maxMessage)
		}
		h.n = int(h.u)
	case wireFixed32:
		err = s.skip(4)
	case wireFixed64:
		err = s.skip(8)
	}
	return h, err
}

// varint reads one varint, across chunks where need be.
func (s *stream) varint() (uint64, error) {
	start := s.offset()
	if u, n := varint(s.cur); n > 0 {
		s.cur = s.cur[n:]
		return u, nil
	}
	var buf [maxVarint]byte
	for i := range buf {
		if len(s.cur) == 0 {
			if err := s.more(); err == io.EOF {
				return 0, syntaxErrorf(start, "the profile ends inside a varint")
			} else if err != nil {
				return 0, err
			}
		}
		buf[i] = s.cur[0]
		s.cur = s.cur[1:]
		if u, n := varint(buf[:i+1]); n > 0 {
			return u, nil
		}
	}
	return 0, syntaxErrorf(start, "varint does not fit 64 bits")
}

// body reads the n bytes that follow a header. They are valid until the next
// call on the stream.
func (s *stream) body(n int) ([]byte, error) {
	if n <= len(s.cur) {
		b := s.cur[:n:n]
		s.cur = s.cur[n:]
		return b, nil
	}
	// Grows with the data that is there, not with the length that is claimed.
	s.spill = s.spill[:0]
	err := s.take(n, func(b []byte) { s.spill = append(s.spill, b...) })
	return s.spill, err
}

// skip passes over n bytes.
func (s *stream) skip(n int) error {
	return s.take(n, func([]byte) {})
}

func (s *stream) take(n int, use func([]byte)) error {
	start := s.offset()
	for left := n; ; {
		m := min(left, len(s.cur))
		use(s.cur[:m])
		s.cur = s.cur[m:]
		left -= m
		if left == 0 {
			return nil
		}
		if err := s.more(); err == io.EOF {
			return syntaxErrorf(start, "length %d, but the profile ends after %d bytes", n, n-left)
		} else if err != nil {
			return err
		}
	}
}
