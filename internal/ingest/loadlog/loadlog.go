// Package loadlog reads what load tools print at their end: how many requests
// were answered, how many failed, how fast, and the quantiles of their latency.
package loadlog

import (
	"bytes"
	"math"
	"regexp"
	"time"
)

// Summary is what a load tool said at its end. A field that is zero was not
// said, or is nothing.
type Summary struct {
	Tool     string  // whose words they are
	Requests int64   // answered, whatever the status
	Failed   int64   // answered with a status of 400 and above, or never
	Rate     float64 // answered requests per second, as the tool counts them
	// Quantiles of latency. Tools that send at a fixed rate count it from when a
	// request was due, the others from when it was sent.
	P50, P90, P99, Max time.Duration
}

// Share is the part of all requests that failed, 0 where there were none.
func (s Summary) Share() float64 {
	if s.Failed <= 0 {
		return 0
	}
	// Most tools count a failed answer as one; those that nobody answered are
	// beside them. So this is a lower bound, and never above one.
	return math.Min(float64(s.Failed)/math.Max(float64(s.Requests), float64(s.Failed)), 1)
}

// Read finds the summary of a load tool in what it printed: wrk and wrk2, ab,
// hey, oha, vegeta, bombardier, k6, ghz, and heaptrim load, as text, or as JSON or
// CSV where they have it. It is false when nothing is understood. Where several
// loads follow each other, their requests and failures are summed up; the rest
// is the last one's, but for the rate, which nobody can say then.
func Read(output []byte) (Summary, bool) {
	output = plain(output)
	if s, ok := readJSON(output); ok {
		return s.checked()
	}
	for _, f := range forms() {
		if s, ok := f.read(output); ok {
			return s.checked()
		}
	}
	if s, ok := readCSV(output); ok {
		return s.checked()
	}
	return Summary{}, false
}

// Requests reads the number of answered requests from a load tool's output, 0
// when it says nothing that is understood.
func Requests(output []byte) int64 {
	s, _ := Read(output)
	return s.Requests
}

// checked drops what no load tool means.
func (s Summary) checked() (Summary, bool) {
	const longest, fastest, most = 1000 * time.Hour, 1e12, 1 << 53
	if s.Requests < 0 || s.Requests > most {
		return Summary{}, false
	}
	if s.Failed < 0 || s.Failed > most {
		s.Failed = 0
	}
	if !(s.Rate > 0 && s.Rate < fastest) {
		s.Rate = 0
	}
	for _, d := range []*time.Duration{&s.P50, &s.P90, &s.P99, &s.Max} {
		if *d < 0 || *d > longest {
			*d = 0
		}
	}
	s.ordered()
	if s.Requests == 0 && s.Failed == 0 {
		return Summary{}, false
	}
	return s, true
}

// plain is text without the colours and the returns of a terminal.
func plain(output []byte) []byte {
	output = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`).ReplaceAll(output, nil)
	return bytes.ReplaceAll(output, []byte("\r"), []byte("\n"))
}

// spell turns a number and a unit into a time; an unknown unit is false.
func spell(v float64, unit string) (time.Duration, bool) {
	of := map[string]time.Duration{
		"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "sec": time.Second, "secs": time.Second, "m": time.Minute, "h": time.Hour,
	}
	u, ok := of[unit]
	if t := v * float64(u); !ok || !(t >= 0 && t < math.MaxInt64/2) {
		return 0, false
	}
	return time.Duration(v * float64(u)), true
}

// ordered drops all quantiles if one is below a lower one: then they are not what they seem.
func (s *Summary) ordered() {
	last := time.Duration(0)
	for _, d := range []time.Duration{s.P50, s.P90, s.P99, s.Max} {
		if d > 0 && d < last {
			s.P50, s.P90, s.P99, s.Max = 0, 0, 0, 0
			return
		}
		last = max(last, d)
	}
}
