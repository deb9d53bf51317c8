package unit

import "math"

// FormatNanoseconds prints a duration in nanoseconds, which need not be whole,
// in the unit that keeps it readable: "0.310 ns", "46 µs", "1.2 ms", "3.4 s".
func FormatNanoseconds(ns float64) string {
	names := []string{"ns", "µs", "ms", "s"}
	i := 0
	for math.Abs(ns) >= 1000 && i < len(names)-1 {
		ns /= 1000
		i++
	}
	return FormatCount(ns) + " " + names[i]
}

// FormatScaled prints a count as [FormatCount] does below ten thousand, and
// above with a decimal prefix: "9800", "1.2 M", "48 k".
func FormatScaled(v float64) string {
	if math.Abs(v) < 1e4 {
		return FormatCount(v)
	}
	names := []string{"", " k", " M", " G", " T"}
	i := 0
	for math.Abs(v) >= 1000 && i < len(names)-1 {
		v /= 1000
		i++
	}
	return FormatCount(v) + names[i]
}
