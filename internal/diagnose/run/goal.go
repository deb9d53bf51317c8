package run

import (
	"math"
	"strconv"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// toldGoal is the heap of a service, derived from MemStats and heap profiles only.
type toldGoal struct {
	Goal, Live float64 // bytes
	// GOGC that Live and Goal imply; "" if nothing contradicts the known setting, or the
	// default
	Gogc string
}

const (
	// Samples of the live heap contradict a setting if they differ by more than a fifth, and
	// by more than three times their standard error under it.
	contradicts    = 0.2
	standardErrors = 3
	// largestGOGC is more than any service is set to.
	largestGOGC = 1e6
	// minimumHeap is the runtime's smallest heap goal with GOGC=100.
	minimumHeap = 4 * unit.MiB
)

// GoalOf reads the heap goal from MemStats. The live heap follows by the pacer's formula,
// without stacks and globals, from the GOGC that the service was started with, or from 100
// if that is not known. The program may have set another GOGC: if its heap profiles show
// another live heap, that is used. The runtime's minimum as the goal says nothing of the live
// heap, so then the heap profiles alone count. There is no goal when collection is off.
func (d *Data) GoalOf(m metrics.MemStats, env evidence.Environment) (toldGoal, bool) {
	if m.NextGC <= 0 || m.NextGC >= MaxHeap {
		return toldGoal{}, false
	}
	set, err := SettingOf(env)
	limited := err != nil || set.Limit > 0 || set.GOGC < 0
	gogc := 100.0
	if err == nil && set.GOGC >= 0 {
		gogc = float64(set.GOGC)
	}
	t := toldGoal{Goal: float64(m.NextGC)}
	t.Live = t.Goal / (1 + gogc/100)
	inUse, samples := d.inUseOfAll()
	if inUse <= 0 || inUse >= t.Goal {
		return t, true
	}
	if math.Abs(t.Goal-float64(minimumHeap)*gogc/100) < 1 {
		t.Live = inUse
		return t, true
	}
	expected := samples * t.Live / inUse
	if math.Abs(inUse-t.Live) <= t.Live*math.Max(contradicts, standardErrors/math.Sqrt(expected)) {
		return t, true
	}
	t.Live = inUse
	if now := math.Round(100 * (t.Goal/inUse - 1)); !limited && now <= largestGOGC {
		t.Gogc = strconv.Itoa(int(now))
	}
	return t, true
}

// inUseOfAll is what the heap profiles show in use, in bytes, and the number of
// samples behind it.
func (d *Data) inUseOfAll() (bytes, samples float64) {
	if d.Sites == nil || !d.Heap.InUse {
		return 0, 0
	}
	for _, t := range d.Sites.Sorted() {
		bytes += t.InUse.Mean()
		samples += Events(t.InUseObjs.Mean(), t.InUse.Mean(), d.Heap.Rate)
	}
	return bytes, samples
}
