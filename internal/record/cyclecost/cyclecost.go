// Package cyclecost tells what one collection cycle costs a process in
// processor time, in whatever place that is spent. A profile shows the
// collector's own work. It does not show that marking reads the whole live heap
// and puts out of the caches what the program was using: the program waits for
// that afterwards, in its own name.
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

// Reading is what a process has done so far, read when a stretch at one pace of
// collection ends.
type Reading struct {
	At     time.Duration `json:"t_ns"`   // since the recorder started
	GOGC   int64         `json:"gogc"`   // of the stretch, in percent
	CPU    time.Duration `json:"cpu_ns"` // user and system time of the process
	Cycles uint64        `json:"cycles"` // collections that were not forced
	Bytes  uint64        `json:"bytes"`  // allocated
}

// longest is the longest line that a recorder writes, with room to spare.
const longest = 1024

// Read reads the readings of paces.jsonl, one JSON object a line. A last line
// that was cut off, as of a process that was killed, is left out. Counters that
// fall and lines that are none are errors that name the line.
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

// Estimate returns what a cycle costs by the stretches between from and to, of a
// process that does the same work all the time; false where there are fewer than
// six pairs. A stretch counts if the one before had the same GOGC: the heap that
// a cycle leaves is swept, and its memory used again, in the stretch that
// follows. In stretches of GOGC and of several times that, the time goes by the
// bytes that were allocated, which stand for the work done, and by the cycles:
// two neighbouring ones have these two unknowns, and what else runs on the
// machine changes little between them. The result is the pseudomedian over the
// pairs that do not overlap, with its 95 % interval by signed ranks.
func Estimate(all []Reading, from, to time.Duration) (evidence.CycleCost, bool) {
	var costs []float64
	var out evidence.CycleCost
	var last stretch // of no cycles: none
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
		last = stretch{} // the next pair begins behind this one
	}
	if len(costs) < fewest {
		return evidence.CycleCost{}, false
	}
	out.Pairs = len(costs)
	out.NS = stats.Shift(costs)
	return out, true
}

// stretch is what a process did between two readings.
type stretch struct{ gogc, cpu, cycles, bytes float64 }

func stretchOf(a, b Reading) stretch {
	return stretch{float64(b.GOGC), float64(b.CPU - a.CPU), float64(b.Cycles - a.Cycles), float64(b.Bytes - a.Bytes)}
}
