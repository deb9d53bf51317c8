package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TraceSchema is the version of the JSON that TraceJSON writes; see
// doc/format/trace.md.
const TraceSchema = "heaptrim.trace/1"

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
	d := traceDocument{
		Schema: TraceSchema, File: t.File, Problem: t.Problem, Format: s.Version, Bytes: s.Bytes, Events: s.Events,
		Generations: s.Generations, LengthNS: s.Length,
		Mark:      traceMark{s.Cycles.Count, s.Cycles.Mark, s.UnlistedCycles, rowsOf(s.Cycles.List, cycleRow)},
		Assist:    assistRow(s.Assist),
		WorkersNS: traceWorkers{s.Workers.Dedicated, s.Workers.Fractional, s.Workers.Idle},
		Sweep:     sweepRow(s.Sweep),
		Heap:      traceHeap{courseRow(s.Heap.Live), courseRow(s.Heap.Goal)},
		Pauses:    rowsOf(s.Pauses, pauseRow),
		Stops: rowsOf(s.Stops, func(s exectrace.Stop) traceStop {
			return traceStop{s.Start, s.Length, s.Reason, s.Goroutine}
		}),
		UnlistedStops: s.UnlistedStops,
		Goroutines:    rowsOf(s.Payers, goroutineRow),
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

// The document. Times are in nanoseconds, amounts in bytes.
type (
	traceDocument struct {
		Schema        string           `json:"schema"`
		File          string           `json:"file"`
		Problem       string           `json:"problem"`
		Format        string           `json:"format"`
		Bytes         int64            `json:"bytes"`
		Events        int64            `json:"events"`
		Generations   int              `json:"generations"`
		LengthNS      time.Duration    `json:"length_ns"`
		Mark          traceMark        `json:"mark"`
		Assist        traceAssist      `json:"assist"`
		WorkersNS     traceWorkers     `json:"workers_ns"`
		Sweep         traceSweep       `json:"sweep"`
		Heap          traceHeap        `json:"heap"`
		Pauses        []tracePause     `json:"pauses"`
		Stops         []traceStop      `json:"stops"`
		UnlistedStops int              `json:"unlisted_stops"`
		Goroutines    []traceGoroutine `json:"goroutines"`
		Others        traceGoroutine   `json:"other_goroutines"`
		Payers        *tracePayers     `json:"payers"`
	}
	traceMark struct {
		Count    int           `json:"count"`
		TotalNS  time.Duration `json:"total_ns"`
		Unlisted int           `json:"unlisted"`
		Cycles   []traceCycle  `json:"cycles"`
	}
	traceCycle struct {
		StartNS   time.Duration `json:"start_ns"`
		EndNS     time.Duration `json:"end_ns"`
		LiveStart int64         `json:"live_start_bytes"`
		LiveEnd   int64         `json:"live_end_bytes"`
		Goal      int64         `json:"goal_bytes"`
		Open      bool          `json:"open"`
	}
	traceAssist struct {
		Count     int           `json:"count"`
		OnCPUNS   time.Duration `json:"on_cpu_ns"`
		ParkedNS  time.Duration `json:"parked_ns"`
		WaitingNS time.Duration `json:"waiting_ns"`
	}
	traceWorkers struct {
		Dedicated  time.Duration `json:"dedicated"`
		Fractional time.Duration `json:"fractional"`
		Idle       time.Duration `json:"idle"`
	}
	traceSweep struct {
		Count     int           `json:"count"`
		TimeNS    time.Duration `json:"time_ns"`
		Swept     int64         `json:"swept_bytes"`
		Reclaimed int64         `json:"reclaimed_bytes"`
	}
	traceHeap struct {
		Live traceCourse `json:"live"`
		Goal traceCourse `json:"goal"`
	}
	traceCourse struct {
		Samples int   `json:"samples"`
		First   int64 `json:"first_bytes"`
		Last    int64 `json:"last_bytes"`
		Min     int64 `json:"min_bytes"`
		Max     int64 `json:"max_bytes"`
	}
	tracePause struct {
		Reason  string        `json:"reason"`
		Count   int           `json:"count"`
		TotalNS time.Duration `json:"total_ns"`
		MaxNS   time.Duration `json:"max_ns"`
	}
	traceStop struct {
		StartNS   time.Duration `json:"start_ns"`
		LengthNS  time.Duration `json:"length_ns"`
		Reason    string        `json:"reason"`
		Goroutine uint64        `json:"goroutine"`
	}
	traceGoroutine struct {
		ID      uint64        `json:"id"`
		Assist  traceAssist   `json:"assist"`
		Sweep   traceSweep    `json:"sweep"`
		Stops   int           `json:"stops"`
		StopsNS time.Duration `json:"stops_ns"`
	}
)

// Who pays.
type (
	tracePayers struct {
		Goroutines    int             `json:"goroutines"`
		STWNS         time.Duration   `json:"stw_ns"`
		Groups        []traceGroup    `json:"groups"`
		Requests      []traceRequests `json:"requests"`
		UnlistedKinds int             `json:"unlisted_kinds"`
		Windows       []traceWindow   `json:"windows"`
		Unlisted      int             `json:"unlisted_windows"`
		Causes        traceCauses     `json:"causes"`
	}
	traceCauses struct {
		Samples    int         `json:"samples"`
		Mark       int         `json:"mark_samples"`
		Allocating traceTally  `json:"allocating"`
		PaidNS     traceSplit  `json:"paid_ns"`
		Sites      []traceSite `json:"sites"`
		Unlisted   int         `json:"unlisted_samples"`
	}
	traceTally struct {
		All    int `json:"all"`
		Mark   int `json:"mark"`
		Others int `json:"others_paying"`
	}
	traceSite struct {
		Func       string         `json:"function"`
		File       string         `json:"file"`
		Line       int            `json:"line"`
		Allocating traceTally     `json:"allocating"`
		Paying     int            `json:"paying"`
		Share      stats.Interval `json:"mark_share"`
		Phases     int            `json:"phases"`
		PaidNS     traceSplit     `json:"paid_ns"`
	}
	traceGroup struct {
		Start      string     `json:"start"`
		Handler    string     `json:"handler"`
		System     bool       `json:"system"`
		Goroutines int        `json:"goroutines"`
		PartsNS    traceSplit `json:"parts_ns"`
	}
	traceRequests struct {
		Kind    latency.Kind   `json:"kind"`
		Name    string         `json:"name"`
		Count   int            `json:"count"`
		TotalNS time.Duration  `json:"total_ns"`
		P50NS   time.Duration  `json:"p50_ns"`
		P90NS   time.Duration  `json:"p90_ns"`
		P99NS   time.Duration  `json:"p99_ns"`
		MaxNS   time.Duration  `json:"max_ns"`
		PartsNS traceSplit     `json:"parts_ns"`
		SlowN   int            `json:"slow_count"`
		SlowNS  traceSplit     `json:"slow_parts_ns"`
		Slowest []traceRequest `json:"slowest"`
		MostGC  []traceRequest `json:"most_memory"`
	}
	traceRequest struct {
		StartNS   time.Duration `json:"start_ns"`
		LengthNS  time.Duration `json:"length_ns"`
		Goroutine int64         `json:"goroutine"`
		Task      uint64        `json:"task"`
		MarkNS    time.Duration `json:"mark_ns"`
		PartsNS   traceSplit    `json:"parts_ns"`
	}
	traceWindow struct {
		StartNS time.Duration `json:"start_ns"`
		EndNS   time.Duration `json:"end_ns"`
		PaidNS  traceSplit    `json:"paid_ns"`
	}
	traceSplit map[string]time.Duration
)

// rowsOf converts rows; no rows are [] in JSON, not null.
func rowsOf[T, R any](from []T, row func(T) R) []R {
	rows := make([]R, 0, len(from))
	for _, f := range from {
		rows = append(rows, row(f))
	}
	return rows
}

func cycleRow(c exectrace.Cycle) traceCycle {
	return traceCycle{c.Start, c.End, int64(c.LiveStart), int64(c.LiveEnd), int64(c.Goal), c.Open}
}

func assistRow(a exectrace.Assist) traceAssist {
	return traceAssist{a.Count, a.OnCPU, a.Parked, a.Waiting}
}

func sweepRow(s exectrace.Sweep) traceSweep {
	return traceSweep{s.Count, s.Time, int64(s.Swept), int64(s.Reclaimed)}
}

func courseRow(c exectrace.Course) traceCourse {
	return traceCourse{c.Samples, int64(c.First), int64(c.Last), int64(c.Min), int64(c.Max)}
}

func pauseRow(p exectrace.Pause) tracePause {
	return tracePause{p.Reason, p.Count, p.Total, p.Max}
}

func goroutineRow(g exectrace.Goroutine) traceGoroutine {
	return traceGoroutine{g.ID, assistRow(g.Assist), sweepRow(g.Sweep), g.Stops, g.StopsTime}
}

func splitRow(s latency.Split) traceSplit {
	row := traceSplit{}
	for p := range latency.Parts {
		row[p.Key()] = s[p]
	}
	return row
}

func requestRow(r latency.Request) traceRequest {
	return traceRequest{r.Start, r.Length, r.Goroutine, r.Task, r.Mark, splitRow(r.Split)}
}

func causesRow(c latency.Causes) traceCauses {
	return traceCauses{c.Samples, c.Mark, traceTally(c.Allocating), splitRow(c.Paid), rowsOf(c.Sites, func(s latency.Site) traceSite {
		return traceSite{s.Func, s.File, s.Line, traceTally(s.Allocating), s.Paying, s.Share, s.Phases, splitRow(s.Paid)}
	}), c.Unlisted}
}

func payersRow(r *latency.Report) *tracePayers {
	return &tracePayers{
		Goroutines: r.Goroutines, STWNS: r.STW, UnlistedKinds: r.UnlistedKinds, Unlisted: r.Unlisted, Causes: causesRow(r.Causes),
		Groups: rowsOf(r.Groups, func(g latency.Group) traceGroup {
			return traceGroup{g.Start, g.Handler, g.System, g.Goroutines, splitRow(g.Split)}
		}),
		Requests: rowsOf(r.Requests, func(q latency.Requests) traceRequests {
			return traceRequests{
				q.Kind, q.Name, q.Count, q.Total, q.P50, q.P90, q.P99, q.Max, splitRow(q.All), q.SlowN, splitRow(q.Slow),
				rowsOf(q.Slowest, requestRow), rowsOf(q.MostGC, requestRow),
			}
		}),
		Windows: rowsOf(r.Windows, func(w latency.Window) traceWindow { return traceWindow{w.Start, w.End, splitRow(w.Paid)} }),
	}
}
