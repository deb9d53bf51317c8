package loadlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// document has the keys by which the tools' JSON is told apart, and those that
// say something: oha's, vegeta's, bombardier's and ghz's.
type document struct {
	// oha; times are in seconds
	Summary *struct {
		RequestsPerSec, Slowest float64
	}
	LatencyPercentiles     map[string]float64
	StatusCodeDistribution map[string]float64 // ghz too
	ErrorDistribution      map[string]float64 // ghz too

	// vegeta; times are in nanoseconds
	Latencies map[string]float64
	Requests  float64
	Rate      float64
	Codes     map[string]float64 `json:"status_codes"`

	// bombardier; times are in microseconds
	Result *struct {
		Req1xx, Req2xx, Req3xx, Req4xx, Req5xx, Others float64
		Latency                                        struct {
			Max         float64
			Percentiles map[string]float64
		}
		RPS struct{ Mean float64 }
	}

	// ghz; times are in nanoseconds
	Count, RPS          float64
	SlowestNS           float64 `json:"slowest"`
	LatencyDistribution []struct{ Percentage, Latency float64 }
}

// readJSON reads the last object in the output that a tool of ours wrote. What
// stands before, such as a progress bar, is passed over.
func readJSON(output []byte) (Summary, bool) {
	// A hostile output must not be decoded once for each of its lines.
	const tries = 32
	starts := regexp.MustCompile(`(?m)^\s*\{`).FindAllIndex(output, -1)
	if len(starts) > tries {
		starts = append(slices.Clone(starts[:tries/2]), starts[len(starts)-tries/2:]...)
	}
	var found Summary
	ok, end := false, 0
	for _, at := range starts {
		if at[0] < end {
			continue // inside of an object that was read
		}
		d := json.NewDecoder(bytes.NewReader(output[at[0]:]))
		var doc document
		// The tools give some keys different types; what fits is decoded all the same.
		if err := d.Decode(&doc); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
			continue
		}
		end = at[0] + int(d.InputOffset())
		if s, is := doc.summary(); is {
			if ok {
				s.Requests, s.Failed, s.Rate = s.Requests+found.Requests, s.Failed+found.Failed, 0
			}
			found, ok = s, true
		}
	}
	return found, ok
}

func (d document) summary() (Summary, bool) {
	switch {
	case d.Summary != nil && d.LatencyPercentiles != nil:
		s := Summary{Tool: "oha", Rate: d.Summary.RequestsPerSec, Max: duration(d.Summary.Slowest, time.Second)}
		s.Requests, s.Failed = codes(d.StatusCodeDistribution)
		for what, n := range d.ErrorDistribution {
			if what != "aborted due to deadline" {
				s.Failed += whole(n)
			}
		}
		s.quantiles(d.LatencyPercentiles, [3]string{"p50", "p90", "p99"}, time.Second)
		return s, true
	case d.Latencies != nil && d.Codes != nil:
		s := Summary{Tool: "vegeta", Requests: whole(d.Requests), Rate: d.Rate, Max: duration(d.Latencies["max"], 1)}
		_, s.Failed = codes(d.Codes)
		s.quantiles(d.Latencies, [3]string{"50th", "90th", "99th"}, 1)
		return s, true
	case d.Result != nil && (d.Result.RPS.Mean > 0 || d.Result.Others > 0):
		r := d.Result
		s := Summary{
			Tool: "bombardier", Requests: whole(r.Req1xx) + whole(r.Req2xx) + whole(r.Req3xx) + whole(r.Req4xx) + whole(r.Req5xx),
			Failed: whole(r.Req4xx) + whole(r.Req5xx) + whole(r.Others), Rate: r.RPS.Mean, Max: duration(r.Latency.Max, time.Microsecond),
		}
		s.quantiles(r.Latency.Percentiles, [3]string{"50", "90", "99"}, time.Microsecond)
		return s, true
	case d.LatencyDistribution != nil && d.Count > 0:
		s := Summary{Tool: "ghz", Requests: whole(d.Count), Rate: d.RPS, Max: duration(d.SlowestNS, 1)}
		for what, n := range d.StatusCodeDistribution {
			if what != "OK" {
				s.Failed += whole(n)
			}
		}
		at := map[string]float64{}
		for _, l := range d.LatencyDistribution {
			at[strconv.FormatFloat(l.Percentage, 'f', -1, 64)] = l.Latency
		}
		s.quantiles(at, [3]string{"50", "90", "99"}, 1)
		return s, true
	}
	return Summary{}, false
}

func (s *Summary) quantiles(of map[string]float64, names [3]string, unit time.Duration) {
	s.P50, s.P90, s.P99 = duration(of[names[0]], unit), duration(of[names[1]], unit), duration(of[names[2]], unit)
}

// codes counts answers by status: all, and those that failed. Status 0 is no
// answer.
func codes(of map[string]float64) (answered, failed int64) {
	for code, n := range of {
		c, err := strconv.Atoi(code)
		if err != nil {
			continue
		}
		if c != 0 {
			answered += whole(n)
		}
		if c == 0 || c >= 400 {
			failed += whole(n)
		}
	}
	return answered, failed
}

// whole is a count, 0 for what is none.
func whole(v float64) int64 {
	if !(v > 0 && v < 1<<50) {
		return 0
	}
	return int64(v)
}

func duration(v float64, unit time.Duration) time.Duration {
	if t := v * float64(unit); t > 0 && t < math.MaxInt64/2 {
		return time.Duration(t)
	}
	return 0
}

// readCSV reads what hey writes with -o csv: a line for each answer.
func readCSV(output []byte) (Summary, bool) {
	const head = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code"
	_, rest, ok := bytes.Cut(output, []byte(head))
	if !ok {
		return Summary{}, false
	}
	s := Summary{Tool: "hey"}
	var times []float64
	for line := range bytes.Lines(rest) {
		fields := bytes.Split(bytes.TrimSpace(line), []byte(","))
		if len(fields) < 7 {
			continue
		}
		t, err := strconv.ParseFloat(string(fields[0]), 64)
		code, bad := strconv.Atoi(string(fields[6]))
		if err != nil || bad != nil || !(t >= 0) {
			continue
		}
		times = append(times, t)
		if code >= 400 {
			s.Failed++
		}
	}
	if len(times) == 0 {
		return Summary{}, false
	}
	slices.Sort(times)
	at := func(q float64) time.Duration {
		return duration(times[max(int(math.Ceil(q*float64(len(times))))-1, 0)], time.Second)
	}
	s.Requests, s.P50, s.P90, s.P99, s.Max = int64(len(times)), at(0.5), at(0.9), at(0.99), at(1)
	return s, true
}
