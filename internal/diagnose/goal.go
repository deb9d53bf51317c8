package diagnose

import (
	"math"
	"strconv"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// toldGoal is the heap of a service of which only MemStats and heap profiles are
// known.
type toldGoal struct {
	goal, live float64 // bytes
	gogc       string  // that leads from the one to the other; "" where nothing contradicts the setting that is known, or the default
}

const (
	// Samples of the live heap contradict a setting beyond a fifth, and three times
	// the standard error that they have under it.
	contradicts    = 0.2
	standardErrors = 3
	// largestGOGC is more than any service is set to.
	largestGOGC = 1e6
	// minimumHeap is the runtime's smallest heap goal with GOGC=100.
	minimumHeap = 4 * unit.MiB
)

// goalOf reads the heap goal from MemStats. The live heap that leads to it is by
// the pacer's formula, without stacks and globals, for the GOGC that the service was
// started with, or for 100 where that is not known: the program may have set
// another one, or the goal may be the runtime's minimum. So where its heap profiles
// show another live heap they are believed. There is no goal when collection is
// off.
func (d *runData) goalOf(m metrics.MemStats, env evidence.Environment) (toldGoal, bool) {
	if m.NextGC <= 0 || m.NextGC >= maxHeap {
		return toldGoal{}, false
	}
	set, err := settingOf(env)
	limited := err != nil || set.Limit > 0 || set.GOGC < 0
	gogc := 100.0
	if err == nil && set.GOGC >= 0 {
		gogc = float64(set.GOGC)
	}
	t := toldGoal{goal: float64(m.NextGC)}
	t.live = t.goal / (1 + gogc/100)
	inUse, samples := d.inUseOfAll()
	if inUse <= 0 || inUse >= t.goal {
		return t, true
	}
	expected := samples * t.live / inUse
	if math.Abs(inUse-t.live) <= t.live*math.Max(contradicts, standardErrors/math.Sqrt(expected)) {
		return t, true
	}
	t.live = inUse
	atMinimum := math.Abs(t.goal-float64(minimumHeap)*gogc/100) < 1
	if now := math.Round(100 * (t.goal/inUse - 1)); !limited && !atMinimum && now <= largestGOGC {
		t.gogc = strconv.Itoa(int(now))
	}
	return t, true
}

// inUseOfAll is what the heap profiles show in use, in bytes, and the number of
// samples behind it.
func (d *runData) inUseOfAll() (bytes, samples float64) {
	if d.sites == nil || !d.hasInUse {
		return 0, 0
	}
	for _, t := range d.sites.sites {
		bytes += t.inUse.mean()
		samples += events(t.inUseObjs.mean(), t.inUse.mean(), d.liveRate)
	}
	return bytes, samples
}
