package load

// N is how many durations are counted.
func (h *Histogram) N() int64 { return h.n }
