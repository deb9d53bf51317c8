package pool

// Stats is what a [Bytes] did and what it holds. There is no count of hits: that would
// cost more than a Get.
type Stats struct {
	Classes []ClassStats // with a count that is not 0, by size
	// HeldBytes lie free in the reserve. What lies in caches of Locals and of Ps cannot
	// be counted: the collector drops it.
	HeldBytes int64
	Oversize  uint64 // requests above the largest class or MaxSize
	// Foreign counts Puts of slices whose capacity is not that of a class, or is
	// above all classes. They were dropped.
	Foreign uint64
}

// ClassStats is Stats for the buffers of one size.
type ClassStats struct {
	Size      int    // of a buffer, in bytes
	Misses    uint64 // requests for which a buffer was made
	HeldBytes int64  // that lie free in the reserve
}

// Stats returns the counts so far.
func (p *Bytes) Stats() Stats {
	d := p.depot()
	s := Stats{Oversize: d.oversize.Load(), Foreign: d.foreign.Load()}
	for k := range d.shelves {
		size, shelf := classSize(uint(k)), &d.shelves[k]
		shelf.mu.Lock()
		c := ClassStats{Size: size, Misses: shelf.misses, HeldBytes: int64(shelf.n * size)}
		shelf.mu.Unlock()
		if c != (ClassStats{Size: size}) {
			s.Classes = append(s.Classes, c)
		}
		s.HeldBytes += c.HeldBytes
	}
	return s
}
