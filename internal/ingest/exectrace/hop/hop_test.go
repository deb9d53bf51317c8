package hop

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// TestHop: a Hopper passes the same events, at the same times, as one who reads number by number. It is stuck
// only where a batch ends, a time has three bytes, or an event more than sixteen.
func TestHop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var kinds []byte
	for kind, n := range wire.Arguments() {
		if n > 0 {
			kinds = append(kinds, byte(kind))
		}
	}
	for range 300 {
		data, events := batchOf(random, kinds)
		h := New(false)
		pos, first := 0, 0
		copy(h.Data[:], data)
		for pos < len(data) {
			h.Begin(0, pos)
			n, stuck := h.Hop(1)
			_, next := h.Found(0)
			time := uint64(0)
			for _, e := range events[first : first+n] {
				time += e.since
			}
			first += n
			if first < len(events) && next.Pos() != events[first].pos || first == len(events) && next.Pos() != len(data) || next.Time() != time {
				t.Fatalf("%d events, then at %d with time %d; the next is %+v, time %d", n, next.Pos(), next.Time(), events[min(first, len(events)-1)], time)
			}
			if stuck < 0 || first == len(events) {
				pos = next.Pos()
				continue
			}
			e := events[first]
			if e.size <= 16 && e.since < 1<<14 {
				t.Fatalf("stuck at %+v", e)
			}
			first++
			pos = e.pos + e.size
		}
		if first != len(events) {
			t.Fatalf("%d of %d events", first, len(events))
		}
	}
}

type event struct {
	pos, size int
	since     uint64
}

// batchOf makes events whose numbers have any length.
func batchOf(random *rand.Rand, kinds []byte) (data []byte, events []event) {
	arguments := wire.Arguments()
	for range random.IntN(600) {
		kind := kinds[random.IntN(len(kinds))]
		e := event{pos: len(data)}
		data = append(data, kind)
		for i := range arguments[kind] {
			v := random.Uint64() >> random.IntN(64)
			if i == 0 || random.IntN(2) == 0 {
				v >>= 40
			}
			if i == 0 {
				e.since = v
			}
			data = binary.AppendUvarint(data, v)
		}
		e.size = len(data) - e.pos
		events = append(events, e)
	}
	return slices.Clip(data), events
}
