package tune

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
)

// FromDiagnosis makes a workload from a recording without a log of collections, such
// as one of a live service, using only averages over the window. It does not know how
// the live heap varies, or what is allocated during marking.
func FromDiagnosis(d *finding.Diagnosis) (Workload, error) {
	t := d.Totals
	live, room := float64(t.Heap.Live), float64(t.Heap.Goal-t.Heap.Live)
	if t.Cycles.Automatic < 2 || live <= 0 || room <= 0 || t.CPUSeconds <= 0 {
		return Workload{}, fmt.Errorf("%s in the window of the service, which has no log: tune needs two, "+
			"a heap goal and a CPU profile; record for longer (-for), or under load", collections(t.Cycles.Automatic))
	}
	n := float64(t.Cycles.Automatic)
	if t.BytesPerSecond > 0 && t.Cycles.PerSecond > 0 {
		// The allocation per cycle is measured over the window; the goal is a single reading.
		room = t.BytesPerSecond / t.Cycles.PerSecond
	}
	e := evidenceOf{env: d.Environment}
	set, err := e.setting()
	if err != nil {
		return Workload{}, err
	}
	idle := t.IdleMarkShare.Value
	tr := &gcmodel.Trace{
		Setting: set, Procs: d.Environment.GOMAXPROCS, CPU: t.CPUSeconds * (1 + idle), // IdleMarkShare is relative to CPUSeconds, which excludes it
		Peak: math.Max(float64(t.Heap.Peak), live+room), RSS: float64(t.Heap.Resident),
	}
	tr.Memory = memoryBeside(t.Heap, tr.Peak)
	if t.Cycles.PerSecond > 0 {
		tr.Wall = n / t.Cycles.PerSecond
	}
	if tr.Procs == 0 {
		tr.Procs = d.Environment.NumCPU
	}
	assist := math.Min(t.AssistShare.Value, t.CollectorShare.Value)
	p := gcmodel.Point{
		Live: live, End: live + room, HeapScan: live,
		Assist: assist * t.CPUSeconds / n, Background: (t.CollectorShare.Value - assist) * t.CPUSeconds / n, Idle: idle * t.CPUSeconds / n,
	}
	for i := range t.Cycles.Automatic + 1 {
		p.At = float64(i) * room
		tr.Points = append(tr.Points, p)
	}
	return Workload{Name: "service", Trace: tr, Means: true, Sampled: t.CollectorShare, Told: &d.Totals}, tr.Check()
}

// memoryBeside is the memory mapped beside objects of a heap that grows to peak bytes.
func memoryBeside(h finding.HeapTotals, peak float64) gcmodel.Memory {
	m := gcmodel.Memory{Fixed: usualFixed, Slack: usualSlack, Scatter: usualScatter()}
	if h.Tables > 0 {
		m.Fixed, m.Slack = float64(h.Tables), float64(h.Slots)/peak
	}
	return m
}

func collections(n int) string {
	switch n {
	case 0:
		return "no collection"
	case 1:
		return "1 collection"
	}
	return fmt.Sprintf("%d collections", n)
}
