package pprof

import (
	"encoding/binary"
	"math/bits"
)

// The wire types of protocol buffers. Groups (3 and 4) are not used in pprof.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

const maxVarint = binary.MaxVarintLen64

// varint decodes the varint at the start of b and returns its length, which is
// 0 if b holds no complete one of at most 64 bits.
func varint(b []byte) (uint64, int) {
	// Nearly all varints of a profile have one to four bytes. Where their
	// lengths vary, branches on them would be mispredicted half of the time.
	if len(b) >= 4 {
		x := binary.LittleEndian.Uint32(b)
		if last := ^x & 0x80808080; last != 0 {
			x &= last ^ (last - 1)
			u := x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21)
			return uint64(u), bits.TrailingZeros32(last)/8 + 1
		}
	}
	u, n := binary.Uvarint(b)
	return u, max(n, 0)
}

// splitTag divides a tag into field number and wire type.
func splitTag(tag uint64, off int64) (num, wire int, err error) {
	const maxField = 1<<29 - 1
	field := tag >> 3
	wire = int(tag & 7)
	switch {
	case field == 0 || field > maxField:
		return 0, 0, syntaxErrorf(off, "invalid field number %d", field)
	case wire == 3 || wire == 4 || wire > 5:
		return 0, 0, syntaxErrorf(off, "invalid wire type %d", wire)
	}
	return int(field), wire, nil
}

// cursor walks through the fields of one message in memory.
type cursor struct {
	b    []byte
	i    int
	base int64 // offset of b[0] in the decompressed stream

	// The field that next found.
	num, wire int
	u         uint64 // value, for numbers
	data      []byte // content, for wireBytes
	dataOff   int64  // offset of data
}

// next moves to the next field and reports whether there is one.
func (c *cursor) next() (bool, error) {
	if c.i >= len(c.b) {
		return false, nil
	}
	start := c.offset()
	tag, err := c.varint()
	if err != nil {
		return false, err
	}
	if c.num, c.wire, err = splitTag(tag, start); err != nil {
		return false, err
	}
	switch c.wire {
	case wireVarint:
		c.u, err = c.varint()
		return err == nil, err
	case wireBytes:
		n, err := c.varint()
		if err != nil {
			return false, err
		}
		return c.bytes(n)
	case wireFixed32:
		return c.bytes(4)
	default:
		return c.bytes(8)
	}
}

func (c *cursor) offset() int64 { return c.base + int64(c.i) }

func (c *cursor) varint() (uint64, error) {
	u, n := varint(c.b[c.i:])
	if n == 0 {
		return 0, syntaxErrorf(c.offset(), "varint is cut off or does not fit 64 bits")
	}
	c.i += n
	return u, nil
}

func (c *cursor) bytes(n uint64) (bool, error) {
	if left := uint64(len(c.b) - c.i); n > left {
		return false, syntaxErrorf(c.offset(), "length %d, but %d bytes are left in the message", n, left)
	}
	c.dataOff = c.offset()
	c.data = c.b[c.i : c.i+int(n)]
	c.i += int(n)
	return true, nil
}

// want refuses a field of an unexpected wire type.
func (c *cursor) want(wire int) error {
	if c.wire != wire {
		return syntaxErrorf(c.offset(), "field %d has wire type %d, not %d", c.num, c.wire, wire)
	}
	return nil
}

// numbers reads every field of a message that consists of plain numbers into
// dst, indexed by field number; fields beyond it are skipped. Nil entries are
// fields that the reader has no use for.
func (c *cursor) numbers(dst []*uint64) error {
	for {
		ok, err := c.next()
		if !ok {
			return err
		}
		if c.num >= len(dst) || dst[c.num] == nil {
			continue
		}
		if err := c.want(wireVarint); err != nil {
			return err
		}
		*dst[c.num] = c.u
	}
}
