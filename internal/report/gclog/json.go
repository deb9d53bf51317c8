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
		Cycles: s.Cycles, Forced: s.Forced, Periodic: s.Periodic, Processes: s.Processes, Lost: s.Lost,
		MinProcs: s.MinProcs, MaxProcs: s.MaxProcs, Span: int64(s.Span), Ends: int64(s.Ends),
		SweepTermination: spreadOf(s.SweepTermination), Mark: spreadOf(s.Mark),
		MarkTermination: spreadOf(s.MarkTermination),
		Pause:           spreadOf(s.Pause), Pauses: []schema.GCTraceBin{}, Between: spreadOf(s.Between),
		Grown: spreadOf(s.Grown), InMark: spreadOf(s.InMark),
		OverGoal: s.OverGoal, LiveFirst: int64(s.LiveFirst), LiveLast: int64(s.LiveLast), LiveMin: int64(s.LiveMin),
		LiveMax:  int64(s.LiveMax),
		HeapPeak: int64(s.HeapPeak), GoalMax: int64(s.GoalMax),
		Assist: int64(s.Assist), Background: int64(s.Background), Idle: int64(s.Idle), Stopped: int64(s.Stopped),
		CPUShare: s.CPUShare, AllocRate: s.AllocRate, Width: int64(s.Width), Rows: []schema.GCTraceStep{},
	}
	for _, b := range s.Pauses {
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
