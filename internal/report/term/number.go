package term

import (
	"fmt"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Plural is the word for v things, from the word for one.
func Plural(v float64, one string) string {
	if v == 1 {
		return one
	}
	return one + "s"
}

// Dash is printed for an unknown value if a table has no room to say what it needs.
const Dash = "–"

// Some reports whether v is more than nothing, and a number.
func Some(v float64) bool { return schema.Finite(v) && v > 0 }

// Percent prints a share as a number of percent, without the sign.
func Percent(share float64) string {
	v := share * 100
	a := math.Abs(v)
	switch {
	case !schema.Finite(v):
		return Dash
	case a == 0:
		return "0"
	case a >= 0.095:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.0095:
		return fmt.Sprintf("%.2f", v)
	case v < 0:
		return ">-0.01"
	}
	return "<0.01"
}

// Half is the larger half of an interval; 0 when it is exact or not a number.
func Half(i stats.Interval) float64 {
	h := math.Max(i.High-i.Value, i.Value-i.Low)
	if !schema.Finite(h) || h < 0 {
		return 0
	}
	return h
}

// PlusMinus prints the error of a share: " ±0.9", or nothing when it is exact.
func PlusMinus(i stats.Interval) string {
	if h := Half(i); h > 0 {
		return " ±" + Percent(h)
	}
	return ""
}

// SharePercent prints a share with its error: "9.1 % ±0.9".
func SharePercent(i stats.Interval) string { return Percent(i.Value) + " %" + PlusMinus(i) }

// Error prints the larger half of an interval by a printer of values, without the unit if
// that is the value's: "±0.9". Exact values have none.
func Error(i stats.Interval, format func(float64) string) string {
	h := Half(i)
	if h == 0 {
		return ""
	}
	text := format(h)
	if u := unitOf(text); u != "" && u == unitOf(format(i.Value)) {
		text = strings.TrimSuffix(text, u)
	}
	return "±" + text
}

// WithError prints a value with its error: "322 KiB ±28".
func WithError(i stats.Interval, format func(float64) string) string {
	return strings.TrimSuffix(format(i.Value)+" "+Error(i, format), " ")
}

// unitOf is what follows the last space of a printed value, with the space.
func unitOf(s string) string {
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		return s[i:]
	}
	return ""
}

// Amount prints a quantity that is not known when it is zero.
func Amount(v float64, format func(float64) string) string {
	if v == 0 || !schema.Finite(v) {
		return Dash
	}
	return format(v)
}

// FormatPercent prints a share as percent, with the sign.
func FormatPercent(share float64) string { return Percent(share) + " %" }

// JoinKnown puts commas between the parts that are there.
func JoinKnown(parts []string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}
