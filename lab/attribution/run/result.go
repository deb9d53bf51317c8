package main

import (
	"math"
	"os"
	"runtime"
	"strings"
)

// Targets for sites whose objects are short-lived: of the relative errors, and
// the absolute error, as a share of CPU, that always passes.
const (
	targetMedian = 0.15
	targetWorst  = 0.35
	targetPoints = 0.01
)

// Result is everything that a run of the table found.
type Result struct {
	Environment Environment `json:"environment"`
	Summary     Summary     `json:"summary"`
	Rows        []Row       `json:"rows"`
}

// Environment says where the figures come from.
type Environment struct {
	Go         string `json:"go"`
	System     string `json:"system"`
	CPU        string `json:"cpu"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Load       string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
	Took       string `json:"took"`
}

// Row is one program.
type Row struct {
	program
	Site       Site        `json:"site"`
	Checksum   string      `json:"checksum"` // the same for both versions
	Measured   Measurement `json:"measured"`
	Prediction *Prediction `json:"prediction,omitempty"`
	Error      float64     `json:"error"`          // predicted minus measured saving, as a share of CPU
	Relative   float64     `json:"relative_error"` // |Error| over the measured saving
	Verdict    string      `json:"verdict"`
}

// The verdicts.
const (
	verdictGood     = "good"    // short-lived: within 15 % or 1 point
	verdictPass     = "pass"    // short-lived: within 35 %; retained: sign and interval right
	verdictMiss     = "miss"    // outside
	verdictOpen     = "open"    // retained: the measured sign is not resolved, the intervals overlap
	verdictNotFound = "no site" // no finding names the marked line
)

// judge compares the prediction with the measurement.
func (r *Row) judge() {
	if !r.Prediction.Found {
		r.Verdict = verdictNotFound
		return
	}
	want, got := r.Measured.Saving, r.Prediction.Saving
	r.Error = got.Value - want.Value
	if want.Value != 0 {
		r.Relative = math.Abs(r.Error / want.Value)
	}
	if r.Class == retained {
		r.Verdict = judgeRetained(got, want)
		return
	}
	switch {
	case r.Relative <= targetMedian || math.Abs(r.Error) <= targetPoints:
		r.Verdict = verdictGood
	case r.Relative <= targetWorst:
		r.Verdict = verdictPass
	default:
		r.Verdict = verdictMiss
	}
}

func judgeRetained(got, want Interval) string {
	covers := got.contains(want.Value) || got.Low <= want.High && want.Low <= got.High
	switch {
	case !covers:
		return verdictMiss
	case want.sign() == 0:
		return verdictOpen
	case want.sign() == 1 && got.Value > 0, want.sign() == -1 && got.Value < 0:
		return verdictPass
	}
	return verdictMiss
}

// Summary holds the table against the targets.
type Summary struct {
	Short          int     `json:"short"`           // short-lived sites judged
	MedianRelative float64 `json:"median_relative"` // over the short-lived sites
	WorstRelative  float64 `json:"worst_relative"`  // over those that are off by more than a point; 0 for none
	WorstName      string  `json:"worst_name,omitempty"`
	Missed         int     `json:"missed"`
	Retained       int     `json:"retained"`
	RetainedRight  int     `json:"retained_right"`
	Unfound        int     `json:"unfound"`
	MedianMet      bool    `json:"median_met"`
	WorstMet       bool    `json:"worst_met"`
}

func summarise(rows []Row) Summary {
	var s Summary
	var relative []float64
	within := 0
	for _, r := range rows {
		switch {
		case r.Prediction == nil:
			continue
		case r.Verdict == verdictNotFound:
			s.Unfound++
			continue
		case r.Class == retained:
			s.Retained++
			if r.Verdict == verdictPass {
				s.RetainedRight++
			}
			continue
		}
		s.Short++
		relative = append(relative, r.Relative)
		if r.Verdict == verdictGood {
			within++
		}
		if r.Verdict == verdictMiss {
			s.Missed++
		}
		if math.Abs(r.Error) > targetPoints && r.Relative > s.WorstRelative {
			s.WorstRelative, s.WorstName = r.Relative, r.Name
		}
	}
	s.MedianRelative = median(relative)
	// The median of max(error, 1 point) is within the target when half of the
	// sites are.
	s.MedianMet = s.Short > 0 && 2*within >= s.Short && s.Unfound == 0
	s.WorstMet = s.Short > 0 && s.Missed == 0 && s.Unfound == 0
	return s
}

func environment() Environment {
	return Environment{
		Go:         runtime.Version(),
		System:     runtime.GOOS + "/" + runtime.GOARCH,
		CPU:        cpuModel(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Load:       loadAverage(),
	}
}

// loadAverage returns the system's load averages, "" where it has none.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b))
	return strings.Join(f[:min(3, len(f))], " ")
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
