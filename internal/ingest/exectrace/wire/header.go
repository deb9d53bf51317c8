package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Bounds of the format.
const (
	MaxVarint    = 10              // bytes of a number
	MaxHeader    = 2 + 4*MaxVarint // bytes of the header of a batch
	MaxBatchSize = 64 << 10        // bytes of its data
)

// Header is the beginning of a batch.
type Header struct {
	Kind                     byte
	Generation, Thread, Time uint64
	Size, Length             int // of the data, of the header
}

// ReadHeader reads the header of the batch that b begins with. It returns io.ErrUnexpectedEOF where b ends too early.
func ReadHeader(b []byte) (Header, error) {
	h := Header{Kind: b[0], Length: 1}
	switch h.Kind {
	case EndOfGeneration:
		return h, nil
	case Batch:
	case ExperimentalBatch:
		h.Length = 2
	default:
		return h, fmt.Errorf("no batch begins here, but event %d", h.Kind)
	}
	var size uint64
	for _, v := range []*uint64{&h.Generation, &h.Thread, &h.Time, &size} {
		if h.Length >= len(b) {
			return h, io.ErrUnexpectedEOF
		}
		n := 0
		switch *v, n = binary.Uvarint(b[h.Length:]); {
		case n == 0:
			return h, io.ErrUnexpectedEOF
		case n < 0:
			return h, fmt.Errorf("a number of the batch's header has more than 64 bits")
		}
		h.Length += n
	}
	if size > MaxBatchSize {
		return h, fmt.Errorf("a batch of %d bytes; the format allows %d", size, MaxBatchSize)
	}
	h.Size = int(size)
	return h, nil
}
