package ballast

// object is the ballast itself: bytes without pointers that nobody reads or
// writes. The runtime counts them as live; the kernel never gave them a page.
type object struct {
	pieces [][]byte
	size   int64
}

const (
	// pieceBytes is what is resident for a moment when the runtime makes a piece from
	// memory that was in use before and has to be zeroed.
	pieceBytes = 64 << 20
	// maxObject bounds the object. The runtime keeps 8 bytes for each 8 KiB page of the
	// heap, resident ones, so that 10 GiB would take 12 MiB (measured). GOGC does what
	// the object does not: see state.gogc.
	maxObject = 2 << 30
	// spare is what the runtime may want beside the object when it maps it.
	spare = 256 << 20
)

// newObject returns an object of size bytes at most: less, down to nothing, where it
// would not stay virtual or where there is no room for it. It is not to be called
// while the collector may run at every turn: turn GOGC off before.
func newObject(size int64) object {
	var o object
	size = min(size, maxObject)
	if !canStayVirtual || !reservable(size+spare) {
		return o
	}
	for o.size+pieceBytes <= size {
		piece := make([]byte, pieceBytes)
		if !keepVirtual(piece) {
			break // piece is garbage now
		}
		o.pieces = append(o.pieces, piece)
		o.size += pieceBytes
	}
	return o
}
