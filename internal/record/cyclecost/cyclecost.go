// Package cyclecost estimates the CPU time that one collection cycle costs a process,
// wherever it is spent. A profile shows the collector's own work. It does not show
// that marking reads the whole live heap and evicts the program's data from the
// caches: the program waits for that data afterwards, in its own code.
package cyclecost

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Reading is what a process has used so far, read at the end of a stretch with one
// GOGC value.
type Reading struct {
	At     time.Duration `json:"t_ns"`   // since the recorder started
	GOGC   int64         `json:"gogc"`   // during the stretch, in percent
	CPU    time.Duration `json:"cpu_ns"` // user and system time of the process
	Cycles uint64        `json:"cycles"` // collections that were not forced
	Bytes  uint64        `json:"bytes"`  // allocated
}

// longest is more than the longest line that a recorder writes.
const longest = 1024

// Read parses paces.jsonl, one JSON object per line. It ignores an incomplete last
// line, which a killed process leaves. For a decreasing counter or a malformed line it
// returns an error with the line number.
func Read(name string, r io.Reader) ([]Reading, error) {
	var all []Reading
	lines := bufio.NewReaderSize(r, longest)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read paces %s:%d: %w", name, n, err)
		}
		var now Reading
		if err := json.Unmarshal(text, &now); err != nil {
			return nil, fmt.Errorf("read paces %s:%d: %w", name, n, err)
		}
		if len(all) > 0 {
			last := all[len(all)-1]
			if now.At < last.At || now.CPU < last.CPU || now.Cycles < last.Cycles || now.Bytes < last.Bytes {
				return nil, fmt.Errorf("read paces %s:%d: a counter falls", name, n)
			}
		}
		all = append(all, now)
	}
}

// fewest is how many pairs of stretches are needed for a 95 % interval.
const fewest = 6

// Estimate returns the cost of a cycle from the stretches between from and to. The
// process must do the same work all the time. The result is false with fewer than six
// pairs of stretches.
//
// A stretch counts only if the one before had the same GOGC, because the heap that a
// cycle leaves is swept, and its memory reused, in the following stretch. CPU time is
// modelled as proportional to allocated bytes, which stand for the work done, plus a
// cost per cycle. Two neighbouring stretches with different GOGC determine these two
// unknowns, and other load on the machine changes little between them. The result is
// the pseudomedian over pairs that do not overlap, with its 95 % interval by signed
// ranks.
func Estimate(all []Reading, from, to time.Duration) (evidence.CycleCost, bool) {
	var costs []float64
	var out evidence.CycleCost
	var last stretch // zero if there is none
	for i := 2; i < len(all); i++ {
		if all[i-1].At < from || all[i].At > to || all[i].GOGC != all[i-1].GOGC {
			continue
		}
		now := stretchOf(all[i-1], all[i])
		det := last.cycles*now.bytes - now.cycles*last.bytes
		if now.gogc == last.gogc || math.Abs(det) < 0.25*last.cycles*now.bytes || det == 0 {
			last = now
			continue
		}
		costs = append(costs, (last.cpu*now.bytes-now.cpu*last.bytes)/det)
		out.Times = max(now.gogc, last.gogc) / max(min(now.gogc, last.gogc), 1)
		last = stretch{} // the next pair begins after this one
	}
	if len(costs) < fewest {
		return evidence.CycleCost{}, false
	}
	out.Pairs = len(costs)
	out.NS = stats.Shift(costs)
	return out, true
}

// stretch is what a process used between two readings.
type stretch struct{ gogc, cpu, cycles, bytes float64 }

func stretchOf(a, b Reading) stretch {
	return stretch{float64(b.GOGC), float64(b.CPU - a.CPU), float64(b.Cycles - a.Cycles), float64(b.Bytes - a.Bytes)}
}
