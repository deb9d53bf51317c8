// Package unit gives quantities a type that names their unit and one way to
// print and parse them. It has no dependencies and keeps no state.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes.
type Bytes int64

// Binary multiples of a byte.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// String prints b with a binary prefix and at most four significant characters:
// "512 B", "1.5 KiB", "23 MiB".
func (b Bytes) String() string { return FormatBytes(float64(b)) }

// FormatBytes prints a number of bytes that need not be whole, such as a mean
// per operation, the way [Bytes.String] does.
func FormatBytes(b float64) string {
	names := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(b) >= 1024 && i < len(names)-1 {
		b /= 1024
		i++
	}
	return FormatCount(b) + " " + names[i]
}

// FormatCount prints a number with three significant digits and no exponent
// below a million: "0.05", "3.2", "48", "1234".
func FormatCount(v float64) string {
	a := math.Abs(v)
	switch {
	case v == math.Trunc(v) && a < 1e6, a >= 100 && a < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 1e6:
		return fmt.Sprintf("%.3g", v)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	case a >= 0.001:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return fmt.Sprintf("%.2g", v)
}

// ParseBytes reads a size such as "512", "64KiB", "1.5 GiB" or "10MB". Binary
// and decimal prefixes keep their own meaning: 1KB is 1000 bytes. The result
// is never negative.
func ParseBytes(s string) (Bytes, error) {
	t := strings.TrimSpace(s)
	cut := len(t)
	for cut > 0 && (t[cut-1] < '0' || t[cut-1] > '9') && t[cut-1] != '.' {
		cut--
	}
	scale, ok := prefixes[strings.TrimSpace(t[cut:])]
	v, err := strconv.ParseFloat(t[:cut], 64)
	if !ok || err != nil || v < 0 || v*scale > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size: want a number and B, KiB, MiB, GiB, KB, MB or GB", s)
	}
	return Bytes(v * scale), nil
}

var prefixes = map[string]float64{
	"": 1, "B": 1,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}
