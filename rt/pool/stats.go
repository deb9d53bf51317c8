package pool

// Stats is what a [Bytes] did and what it holds.
//
// Every cache – of a P, a goroutine, a Local – counts for itself, and adds its counts
// to these at its first Put after a collection, and when it is dropped. So Gets and
// HeldBytes may lag behind by what the caches did since the last collection;
// everything else is exact.
type Stats struct {
	Classes   []ClassStats // that were used, by size
	HeldBytes int64        // that lie free in the pool
	Oversize  uint64       // requests above the largest class or MaxSize
	// OversizeBytes were asked for in these.
	OversizeBytes uint64
	// Foreign counts Puts of slices whose capacity is not that of a class, or is
	// above all classes. They were dropped.
	Foreign uint64
}

// ClassStats is Stats for the buffers of one size.
type ClassStats struct {
	Size      int    // of a buffer, in bytes
	Gets      uint64 // all requests
	Misses    uint64 // requests for which a buffer was made
	Drops     uint64 // Puts beyond MaxBytes or MaxSize
	Refused   uint64 // second Puts that were noticed
	HeldBytes int64  // that lie free in the pool
}

// Hits is the number of requests for which a buffer was there.
func (s ClassStats) Hits() uint64 { return s.Gets - min(s.Gets, s.Misses) }

// Stats returns the counts so far.
func (p *Bytes) Stats() Stats {
	d := p.depot()
	p.publish()
	s := Stats{
		Oversize:      d.oversize.gets.Load(),
		OversizeBytes: d.oversize.bytes.Load(),
		Foreign:       d.odd.Load() + d.oversize.puts.Load(),
	}
	for k := range d.classes {
		c := d.classes[k].stats(classSize(uint(k)), int64(d.reserve.classes[k].have.Load())+int64(d.classes[k].tray.len()))
		if checking {
			c.HeldBytes = p.checks.ledger().held(c.Size)
		}
		if c != (ClassStats{Size: c.Size}) {
			s.Classes = append(s.Classes, c)
		}
		s.HeldBytes += c.HeldBytes
	}
	return s
}

func (sh *shelf) stats(size int, strong int64) ClassStats {
	// A block that changes hands while the collector runs may be counted as young
	// and taken off as old, until the next turn.
	items := max(0, sh.young.Load()+sh.old.Load()) + sh.cached.Load() + strong
	return ClassStats{
		Size:      size,
		Gets:      sh.counts.gets.Load(),
		Misses:    sh.counts.misses.Load(),
		Drops:     sh.counts.drops.Load(),
		Refused:   sh.counts.twice.Load(),
		HeldBytes: items * int64(size),
	}
}

// publish has the caches publish their counts that can be had from this P.
func (p *Bytes) publish() {
	if checking {
		return
	}
	if s := p.seats.Load(); seated && s != nil {
		if l, ok := s.list.of(goroutine()); ok {
			l.turn()
			l.publishAll()
		}
	}
	var seen []*Local
	for {
		l, _ := p.caches.Get().(*Local)
		if l == nil {
			break
		}
		l.turn()
		l.publishAll()
		seen = append(seen, l)
	}
	for _, l := range seen {
		p.caches.Put(l)
	}
	if l := p.depot().spares.released.Swap(nil); l != nil {
		l.turn()
		l.publishAll()
		l.Release()
	}
}

func (l *Local) publishAll() {
	for k := range l.stacks {
		l.publish(uint(k))
	}
}

// held returns the free bytes in items of size bytes.
func (l *ledger) held(size int) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.free[size]) * size)
}
