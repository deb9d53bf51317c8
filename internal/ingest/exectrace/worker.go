package exectrace

import (
	"encoding/binary"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// worker reads the batches of generations.
type worker struct {
	hopper  *hop.Hopper
	parsers [hop.Lanes]parser
}

func newWorker(always bool) *worker {
	const room = wire.MaxBatchSize + wire.Slack
	w := &worker{hopper: hop.New(always)}
	for i := range w.parsers {
		p := &w.parsers[i]
		p.kinds, p.data, p.start = &w.hopper.Kinds, w.hopper.Data[:], i*room
	}
	return w
}

// run reads batches of g until there is no next one.
func (w *worker) run(g *parsed, next func() (*batch, *result)) {
	h := w.hopper
	h.Block = wire.GoBlock | uint64(binary.AppendUvarint(nil, g.rules.assistWait)[0])<<16
	var busy []*parser
	for i := range w.parsers {
		w.parsers[i].use(g)
		busy = append(busy, &w.parsers[i])
	}
	for {
		busy = slices.DeleteFunc(busy, func(p *parser) bool { return !p.ready(next) })
		if len(busy) == 0 {
			return
		}
		for lane, p := range busy {
			h.Begin(lane, p.walk.pos)
		}
		n, stuck := h.Hop(len(busy))
		for lane, p := range busy {
			p.walk.events += n
			p.pick(h, lane)
			switch {
			case lane < stuck:
				p.walk.events++
			case lane == stuck && !p.done():
				p.walk.events++
				p.long()
			}
		}
	}
}
