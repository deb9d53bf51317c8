package wire

import (
	"encoding/binary"
	"math/bits"
)

// Slack is how many bytes behind the data of a generation may be loaded, so that eight bytes can be looked
// at anywhere.
const Slack = 64

// Number reads one number. It needs no check of bounds: an event begins inside
// its batch, has no more than five numbers, and there is slack behind. A bad one
// leads into the slack.
func Number(d []byte, i int) (v uint64, next int) {
	v, next = uint64(d[i]), i+1
	if v >= 0x80 { // in this form, the compiler inlines it
		v, next = long(d, i)
	}
	return
}

// long is Number where that has more than one byte.
func long(d []byte, i int) (uint64, int) {
	x := binary.LittleEndian.Uint64(d[i:])
	ends := ^x & 0x8080808080808080
	if ends == 0 {
		v, n := binary.Uvarint(d[i : i+binary.MaxVarintLen64])
		if n <= 0 {
			return 0, len(d) - Slack/4
		}
		return v, i + n
	}
	x &= ends ^ (ends - 1)
	// Seven bits of each byte; then of two, four and eight.
	x = x&0x007f007f007f007f | x>>1&0x3f803f803f803f80
	x = x&0x00003fff00003fff | x>>2&0x0fffc0000fffc000
	x = x&0x000000000fffffff | x>>4&0x00fffffff0000000
	return x, i + bits.TrailingZeros64(ends)>>3 + 1
}
