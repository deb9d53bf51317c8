package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// Trace is what is to be shown of an execution trace.
type Trace struct {
	File    string
	Summary *exectrace.Summary
	Payers  *latency.Report // nil where only the summary was asked for
	Problem string          // what is wrong with the file; the rest is of what comes before
	Top     int             // rows of each table in text; 0 stands for 10
}

// TraceJSON writes t as one JSON object.
func TraceJSON(w io.Writer, t *Trace) error {
	s := t.Summary
	d := schema.TraceReport{
		Schema: schema.TraceVersion, File: t.File, Problem: t.Problem, Format: s.Version, Bytes: s.Bytes, Events: s.Events,
		Generations: s.Generations, LengthNS: s.Length,
		Mark:      schema.TraceMark{s.Cycles.Count, s.Cycles.Mark, s.UnlistedCycles, schema.Rows(s.Cycles.List, cycleRow)},
		Assist:    assistRow(s.Assist),
		WorkersNS: schema.TraceWorkers{s.Workers.Dedicated, s.Workers.Fractional, s.Workers.Idle},
		Sweep:     sweepRow(s.Sweep),
		Heap:      schema.TraceHeap{courseRow(s.Heap.Live), courseRow(s.Heap.Goal)},
		Pauses:    schema.Rows(s.Pauses, pauseRow),
		Stops: schema.Rows(s.Stops, func(s exectrace.Stop) schema.TraceStop {
			return schema.TraceStop{s.Start, s.Length, s.Reason, s.Goroutine}
		}),
		UnlistedStops: s.UnlistedStops,
		Goroutines:    schema.Rows(s.Payers, goroutineRow),
		Others:        goroutineRow(s.Others),
	}
	if t.Payers != nil {
		d.Payers = payersRow(t.Payers)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("write the trace report: %w", err)
	}
	return nil
}

func cycleRow(c exectrace.Cycle) schema.TraceCycle {
	return schema.TraceCycle{c.Start, c.End, int64(c.LiveStart), int64(c.LiveEnd), int64(c.Goal), c.Open}
}

func assistRow(a exectrace.Assist) schema.TraceAssist {
	return schema.TraceAssist{a.Count, a.OnCPU, a.Parked, a.Waiting}
}

func sweepRow(s exectrace.Sweep) schema.TraceSweep {
	return schema.TraceSweep{s.Count, s.Time, int64(s.Swept), int64(s.Reclaimed)}
}

func courseRow(c exectrace.Course) schema.TraceCourse {
	return schema.TraceCourse{c.Samples, int64(c.First), int64(c.Last), int64(c.Min), int64(c.Max)}
}

func pauseRow(p exectrace.Pause) schema.TracePause {
	return schema.TracePause{p.Reason, p.Count, p.Total, p.Max}
}

func goroutineRow(g exectrace.Goroutine) schema.TraceGoroutine {
	return schema.TraceGoroutine{g.ID, assistRow(g.Assist), sweepRow(g.Sweep), g.Stops, g.StopsTime}
}

func splitRow(s latency.Split) schema.TraceSplit {
	row := schema.TraceSplit{}
	for p := range latency.Parts {
		row[p.Key()] = s[p]
	}
	return row
}

func requestRow(r latency.Request) schema.TraceRequest {
	return schema.TraceRequest{r.Start, r.Length, r.Goroutine, r.Task, r.Mark, splitRow(r.Split)}
}

func causesRow(c latency.Causes) schema.TraceCauses {
	return schema.TraceCauses{c.Samples, c.Mark, schema.TraceTally(c.Allocating), splitRow(c.Paid), schema.Rows(c.Sites, func(s latency.Site) schema.TraceSite {
		return schema.TraceSite{s.Func, s.File, s.Line, schema.TraceTally(s.Allocating), s.Paying, s.Share, s.Phases, splitRow(s.Paid)}
	}), c.Unlisted}
}

func payersRow(r *latency.Report) *schema.TracePayers {
	return &schema.TracePayers{
		Goroutines: r.Goroutines, STWNS: r.STW, UnlistedKinds: r.UnlistedKinds, Unlisted: r.Unlisted, Causes: causesRow(r.Causes),
		Groups: schema.Rows(r.Groups, func(g latency.Group) schema.TraceGroup {
			return schema.TraceGroup{g.Start, g.Handler, g.System, g.Goroutines, splitRow(g.Split)}
		}),
		Requests: schema.Rows(r.Requests, func(q latency.Requests) schema.TraceRequests {
			return schema.TraceRequests{
				string(q.Kind), q.Name, q.Count, q.Total, q.P50, q.P90, q.P99, q.Max, splitRow(q.All), q.SlowN, splitRow(q.Slow),
				schema.Rows(q.Slowest, requestRow), schema.Rows(q.MostGC, requestRow),
			}
		}),
		Windows: schema.Rows(r.Windows, func(w latency.Window) schema.TraceWindow { return schema.TraceWindow{w.Start, w.End, splitRow(w.Paid)} }),
	}
}
