package load

// N returns the number of durations.
func (h *Histogram) N() int64 { return h.n }
