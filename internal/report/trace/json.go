package trace

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// Document is the JSON document of t.
func Document(t *latency.Trace) *schema.TraceReport {
	s := t.Summary
	d := &schema.TraceReport{
		Schema: schema.TraceVersion, File: t.File, Problem: t.Problem, Format: s.Read.Version, Bytes: s.Read.Bytes,
		Events:      s.Read.Events,
		Generations: s.Read.Generations, LengthNS: s.Length,
		Mark: schema.TraceMark{
			Count: s.Cycles.Count, TotalNS: s.Cycles.Mark, Unlisted: s.UnlistedCycles,
			Cycles: schema.Rows(s.Cycles.List, cycleRow),
		},
		Assist: assistRow(s.Assist),
		WorkersNS: schema.TraceWorkers{
			Dedicated: s.Workers.Dedicated, Fractional: s.Workers.Fractional, Idle: s.Workers.Idle,
		},
		Sweep:  sweepRow(s.Sweep),
		Heap:   schema.TraceHeap{Live: courseRow(s.Heap.Live), Goal: courseRow(s.Heap.Goal)},
		Pauses: schema.Rows(s.Pauses, pauseRow),
		Stops: schema.Rows(s.Stops, func(s exectrace.Stop) schema.TraceStop {
			return schema.TraceStop{StartNS: s.Start, LengthNS: s.Length, Reason: s.Reason, Goroutine: s.Goroutine}
		}),
		UnlistedStops: s.UnlistedStops,
		Goroutines:    schema.Rows(s.Delayed, goroutineRow),
		Others:        goroutineRow(s.Others),
	}
	if t.Delayed != nil {
		d.Delayed = payersRow(t.Delayed)
	}
	return d
}

// JSON writes t as one JSON object.
func JSON(w io.Writer, t *latency.Trace) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(Document(t)); err != nil {
		return fmt.Errorf("write the trace report: %w", err)
	}
	return nil
}

func cycleRow(c exectrace.Cycle) schema.TraceCycle {
	return schema.TraceCycle{
		StartNS: c.Start, EndNS: c.End, LiveStart: int64(c.LiveStart), LiveEnd: int64(c.LiveEnd), Goal: int64(c.Goal),
		Open: c.Open,
	}
}

func assistRow(a exectrace.Assist) schema.TraceAssist {
	return schema.TraceAssist{Count: a.Count, OnCPUNS: a.OnCPU, ParkedNS: a.Parked, WaitingNS: a.Waiting}
}

func sweepRow(s exectrace.Sweep) schema.TraceSweep {
	return schema.TraceSweep{Count: s.Count, TimeNS: s.Time, Swept: int64(s.Swept), Reclaimed: int64(s.Reclaimed)}
}

func courseRow(c exectrace.Course) schema.TraceCourse {
	return schema.TraceCourse{
		Samples: c.Samples, First: int64(c.First), Last: int64(c.Last), Min: int64(c.Min), Max: int64(c.Max),
	}
}

func pauseRow(p exectrace.Pause) schema.TracePause {
	return schema.TracePause{Reason: p.Reason, Count: p.Count, TotalNS: p.Total, MaxNS: p.Max}
}

func goroutineRow(g exectrace.Goroutine) schema.TraceGoroutine {
	return schema.TraceGoroutine{
		ID: g.ID, Assist: assistRow(g.Assist), Sweep: sweepRow(g.Sweep), Stops: g.Stops, StopsNS: g.StopsTime,
	}
}

func splitRow(s latency.Split) schema.TraceSplit {
	row := schema.TraceSplit{}
	for p := range latency.Parts {
		row[p.Key()] = s[p]
	}
	return row
}

func requestRow(r latency.Request) schema.TraceRequest {
	return schema.TraceRequest{
		StartNS: r.Start, LengthNS: r.Length, Goroutine: r.Goroutine, Task: r.Task, MarkNS: r.Mark,
		PartsNS: splitRow(r.Split),
	}
}

func causesRow(c latency.Causes) schema.TraceCauses {
	return schema.TraceCauses{Samples: c.Samples, Mark: c.Mark, Allocating: schema.TraceTally(
		c.Allocating,
	), PaidNS: splitRow(c.Paid), Sites: schema.Rows(c.Sites, func(s latency.Site) schema.TraceSite {
		return schema.TraceSite{
			Func: s.Func, File: s.File, Line: s.Line, Allocating: schema.TraceTally(s.Allocating), Paying: s.Paying,
			Share: s.Share, Phases: s.Phases, PaidNS: splitRow(s.Paid),
		}
	}), Unlisted: c.Unlisted}
}

func payersRow(r *latency.Report) *schema.TraceDelayed {
	return &schema.TraceDelayed{
		Goroutines: r.Goroutines, STWNS: r.STW, UnlistedKinds: r.UnlistedKinds, Unlisted: r.Unlisted,
		Causes: causesRow(r.Causes),
		Groups: schema.Rows(r.Groups, func(g latency.Group) schema.TraceGroup {
			return schema.TraceGroup{
				Start: g.Start, Handler: g.Handler, System: g.System, Goroutines: g.Goroutines,
				PartsNS: splitRow(g.Split),
			}
		}),
		Requests: schema.Rows(r.Requests, func(q latency.Requests) schema.TraceRequests {
			return schema.TraceRequests{
				Kind: string(q.Kind), Name: q.Name, Count: q.Count, TotalNS: q.Total, P50NS: q.P50, P90NS: q.P90,
				P99NS: q.P99, MaxNS: q.Max, PartsNS: splitRow(q.All), SlowN: q.SlowN, SlowNS: splitRow(q.Slow),
				Slowest: schema.Rows(q.Slowest, requestRow), MostGC: schema.Rows(q.MostGC, requestRow),
			}
		}),
		Windows: schema.Rows(r.Windows, func(w latency.Window) schema.TraceWindow {
			return schema.TraceWindow{StartNS: w.Start, EndNS: w.End, PaidNS: splitRow(w.Paid)}
		}),
	}
}

// Section is the section of a trace; nil without one. Single mark phases are only in
// `heaptrim trace -json`: there can be very many.
func Section(t *latency.Trace) *schema.Latency {
	if t == nil || t.Summary == nil {
		return nil
	}
	s := t.Summary
	out := &schema.Latency{
		Problem: t.Problem, LengthNS: &s.Length, MarkN: &s.Cycles.Count, MarkNS: &s.Cycles.Mark,
		Pauses: schema.Rows(s.Pauses, pauseRow),
	}
	if t.Delayed != nil {
		out.Payers = payersRow(t.Delayed)
		out.Payers.Unlisted += len(out.Payers.Windows)
		out.Payers.Windows = []schema.TraceWindow{}
	}
	return out
}
