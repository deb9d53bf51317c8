package gclog

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/cycles"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// JSON writes l as a document of the version Schema.
func JSON(w io.Writer, l *Log) error {
	s := l.Summary
	d := schema.GCTrace{
		Schema: schema.GCTraceVersion, File: l.File, Lines: l.Lines, Unread: l.Unread, Errors: append([]string{},
			l.Errors...),
		Cycles: s.Count.Cycles, Forced: s.Count.Forced, Periodic: s.Count.Periodic, Processes: s.Count.Processes,
		Lost:     s.Count.Lost,
		MinProcs: s.MinProcs, MaxProcs: s.MaxProcs, Span: int64(s.Span), Ends: int64(s.Ends),
		SweepTermination: spreadOf(s.Phases.SweepTermination), Mark: spreadOf(s.Phases.Mark),
		MarkTermination: spreadOf(s.Phases.MarkTermination),
		Pause:           spreadOf(s.Phases.Pause), Pauses: []schema.GCTraceBin{}, Between: spreadOf(s.Steps.Between),
		Grown: spreadOf(s.Steps.Grown), InMark: spreadOf(s.Steps.InMark),
		OverGoal: s.Steps.OverGoal, LiveFirst: int64(s.Heap.LiveFirst), LiveLast: int64(s.Heap.LiveLast),
		LiveMin:  int64(s.Heap.LiveMin),
		LiveMax:  int64(s.Heap.LiveMax),
		HeapPeak: int64(s.Heap.Peak), GoalMax: int64(s.Heap.GoalMax),
		Assist: int64(s.CPU.Assist), Background: int64(s.CPU.Background), Idle: int64(s.CPU.Idle),
		Stopped:  int64(s.CPU.Stopped),
		CPUShare: s.CPU.Share, AllocRate: s.AllocRate, Width: int64(s.Width), Rows: []schema.GCTraceStep{},
	}
	for _, b := range s.Phases.Pauses {
		d.Pauses = append(d.Pauses, schema.GCTraceBin{UpTo: int64(b.UpTo), Count: b.Count})
	}
	for _, r := range s.Rows {
		d.Rows = append(d.Rows, rowOf(r))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("write the JSON report: %w", err)
	}
	return nil
}

func spreadOf(d cycles.Distribution) schema.GCTraceSpread {
	return schema.GCTraceSpread{Count: d.Count, Min: d.Min, P50: d.P50, P90: d.P90, P99: d.P99, Max: d.Max,
		Total: d.Total}
}

func rowOf(r cycles.Row) schema.GCTraceStep {
	ns := func(d time.Duration) int64 { return int64(d) }
	return schema.GCTraceStep{At: ns(r.At), Cycles: r.Cycles, Forced: r.Forced, Mark: ns(r.Mark), Pause: ns(r.Pause),
		Assist: ns(r.Assist), CPU: ns(r.CPU), Live: int64(r.Live), HeapPeak: int64(r.HeapPeak)}
}
