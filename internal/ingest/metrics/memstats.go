package metrics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// MemStats is what a heap profile in text says of runtime.MemStats. The fields
// mean what they mean there. A field that the program's Go version does not
// print is 0: MaxRSS is missing on a few systems.
type MemStats struct {
	Alloc, TotalAlloc, Sys                                unit.Bytes
	HeapAlloc, HeapSys, HeapIdle, HeapInuse, HeapReleased unit.Bytes
	MaxRSS                                                unit.Bytes
	NextGC                                                unit.Bytes // heap goal; the largest int64 if there is none, as with GOGC=off
	Mallocs, Frees, HeapObjects                           int64
	NumGC, NumForcedGC                                    int64
	LastGC                                                time.Time          // zero before the first cycle
	PauseNs                                               [256]time.Duration // a ring; see PausesSince
	GCCPUFraction                                         float64
}

// PausesSince returns the pauses of the cycles after the first numGC ones,
// oldest first: at most the last 256, because the ring holds no more.
func (m *MemStats) PausesSince(numGC int64) []time.Duration {
	ring := int64(len(m.PauseNs))
	first := max(numGC, m.NumGC-ring, 0)
	var out []time.Duration
	for i := first; i < m.NumGC; i++ {
		out = append(out, m.PauseNs[i%ring])
	}
	return out
}

const (
	statsHead = "# runtime.MemStats"
	statsLast = "DebugGC" // the last field that every Go version prints

	// maxStatsLine is far above the 5 KB of 256 pauses.
	maxStatsLine = 64 << 10
)

var errCut = errors.New("cut off in the runtime.MemStats part")

// ReadMemStats reads the text of /debug/pprof/heap?debug=1, or its end from
// the line "# runtime.MemStats" on, passing over the profile. A text without
// that part, or cut off within it, is an error, a *SyntaxError where a line is
// to blame. name is for messages. Memory use is constant.
func ReadMemStats(name string, r io.Reader) (MemStats, error) {
	var m MemStats
	lines := bufio.NewReaderSize(r, maxStatsLine)
	found, whole, number := false, false, 0
	for {
		raw, long, err := nextLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return MemStats{}, fmt.Errorf("read MemStats %s, line %d: %w", name, number+1, err)
		}
		if len(raw) > 0 || long {
			number++
		}
		line := strings.TrimRight(string(raw), "\r\n")
		switch {
		case !found:
			found = !long && line == statsHead
		case long:
			return MemStats{}, &SyntaxError{name, number, "the line is too long"}
		default:
			last, parseErr := m.line(line)
			whole = whole || last
			if parseErr == nil && err != nil && !last && line != "" {
				parseErr = errCut // its number may have had more digits
			}
			if parseErr != nil {
				return MemStats{}, &SyntaxError{name, number, parseErr.Error()}
			}
		}
		if err != nil {
			break
		}
	}
	switch {
	case !found:
		return MemStats{}, &SyntaxError{name, number, "no line " + statsHead + "; only a heap profile fetched with debug=1 has it"}
	case !whole:
		return MemStats{}, &SyntaxError{name, number, errCut.Error()}
	}
	return m, nil
}

// line takes one line of the tail and says whether it is statsLast's.
func (m *MemStats) line(line string) (last bool, err error) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
	if !ok || !strings.HasPrefix(line, "# ") {
		return false, nil
	}
	switch key {
	case statsLast:
		return value == "true" || value == "false", nil
	case "PauseNs":
		err = m.pauses(value)
	case "GCCPUFraction":
		m.GCCPUFraction, err = strconv.ParseFloat(value, 64)
		if err == nil && (math.IsNaN(m.GCCPUFraction) || math.IsInf(m.GCCPUFraction, 0)) {
			err = errors.New("not finite")
		}
	default:
		set := m.setter(key)
		if set == nil {
			return false, nil
		}
		var v int64
		if v, err = parseCount(value); err == nil || key == "NextGC" && errors.Is(err, strconv.ErrRange) {
			set(v)
			err = nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("%s = %.40q: %w", key, value, err)
	}
	return false, nil
}

// setter returns where the value of a key belongs, or nil if nowhere.
func (m *MemStats) setter(key string) func(int64) {
	sizes := map[string]*unit.Bytes{
		"Alloc": &m.Alloc, "TotalAlloc": &m.TotalAlloc, "Sys": &m.Sys,
		"HeapAlloc": &m.HeapAlloc, "HeapSys": &m.HeapSys, "HeapIdle": &m.HeapIdle,
		"HeapInuse": &m.HeapInuse, "HeapReleased": &m.HeapReleased,
		"NextGC": &m.NextGC, "MaxRSS": &m.MaxRSS,
	}
	counts := map[string]*int64{
		"Mallocs": &m.Mallocs, "Frees": &m.Frees, "HeapObjects": &m.HeapObjects,
		"NumGC": &m.NumGC, "NumForcedGC": &m.NumForcedGC,
	}
	if p := sizes[key]; p != nil {
		return func(v int64) { *p = unit.Bytes(v) }
	}
	if p := counts[key]; p != nil {
		return func(v int64) { *p = v }
	}
	if key == "LastGC" {
		return func(v int64) {
			if v > 0 {
				m.LastGC = time.Unix(0, v)
			}
		}
	}
	return nil
}

func (m *MemStats) pauses(value string) error {
	list, ok := strings.CutPrefix(value, "[")
	list, closed := strings.CutSuffix(list, "]")
	fields := strings.Fields(list)
	if !ok || !closed || len(fields) != len(m.PauseNs) {
		return fmt.Errorf("want %d pauses in brackets", len(m.PauseNs))
	}
	for i, f := range fields {
		ns, err := parseCount(f)
		if err != nil {
			return err
		}
		m.PauseNs[i] = time.Duration(ns)
	}
	return nil
}

// parseCount reads a whole number that is not negative. One that is too large
// gives the largest and strconv.ErrRange.
func parseCount(s string) (int64, error) {
	v, err := strconv.ParseUint(s, 10, 63)
	return int64(v), errors.Unwrap(err)
}
