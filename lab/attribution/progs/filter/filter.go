// Package filter prepares image tiles for compression as PNG does: it stores
// each row as the difference to the row above. The live heap is tiny; the
// marked site makes one large buffer per tile.
package filter

import (
	"hash/crc32"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const (
	stride = 512 * 4 // bytes of a row
	rows   = 128
)

// World is a set of tiles of 256 KiB.
type World struct {
	tiles [][]byte
}

// New builds the tiles; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(14, 15))
	w := &World{}
	for range 6 {
		t := make([]byte, stride*rows)
		v := byte(0)
		for i := range t {
			if r.IntN(9) == 0 {
				v += byte(r.IntN(7)) - 3
			}
			t[i] = v
		}
		w.tiles = append(w.tiles, t)
	}
	return w
}

// Worker returns the operation: filter one tile and checksum the result.
func (w *World) Worker(int) drive.Op {
	e := &encoder{}
	return func(i int) uint64 {
		out := e.filter(w.tiles[i%len(w.tiles)])
		return uint64(crc32.ChecksumIEEE(out))<<20 | uint64(e.weight(out))
	}
}

type encoder struct {
	out []byte
}

// filter returns the rows of a tile, each after its filter type. In the
// version without the site the result is valid until the next call.
func (e *encoder) filter(tile []byte) []byte {
	size := rows * (1 + stride)
	var out []byte
	if variant.Without {
		if cap(e.out) < size {
			e.out = make([]byte, size)
		}
		out = e.out[:size]
	} else {
		out = make([]byte, size) // site
	}
	var above []byte
	for y := range rows {
		row := tile[y*stride : (y+1)*stride]
		dst := out[y*(1+stride) : (y+1)*(1+stride)]
		if above == nil {
			dst[0] = 0
			copy(dst[1:], row)
		} else {
			dst[0] = 2
			up(dst[1:], row, above)
		}
		above = row
	}
	return out
}

func up(dst, row, above []byte) {
	above = above[:len(row)]
	dst = dst[:len(row)]
	for i, v := range row {
		dst[i] = v - above[i]
	}
}

// weight is the sum of absolute differences by which PNG encoders choose a
// filter.
func (e *encoder) weight(out []byte) int {
	sum := 0
	for _, v := range out {
		if d := int(int8(v)); d < 0 {
			sum -= d
		} else {
			sum += d
		}
	}
	return sum
}
