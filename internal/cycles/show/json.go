package show

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/cycles"
)

// Schema is the version of the JSON that JSON writes; doc/format/gctrace.md
// describes it.
const Schema = "heaptrim.gctrace/1"

// document is the JSON. Times are in nanoseconds, sizes in bytes.
type document struct {
	Schema    string   `json:"schema"`
	File      string   `json:"file"`
	Lines     int      `json:"lines"`
	Unread    int      `json:"unread"`
	Errors    []string `json:"errors"`
	Cycles    int      `json:"cycles"`
	Forced    int      `json:"forced"`
	Periodic  int      `json:"periodic"`
	Processes int      `json:"processes"`
	Lost      int      `json:"lost"`
	MinProcs  int      `json:"min_procs"`
	MaxProcs  int      `json:"max_procs"`
	Span      int64    `json:"span_ns"`
	Ends      int64    `json:"ends_ns"`

	SweepTermination spread `json:"sweep_termination_ns"`
	Mark             spread `json:"mark_ns"`
	MarkTermination  spread `json:"mark_termination_ns"`
	Pause            spread `json:"pause_ns"`
	Pauses           []bin  `json:"pause_histogram"`
	Between          spread `json:"between_ns"`
	Grown            spread `json:"allocated_bytes"`
	InMark           spread `json:"grown_in_mark_bytes"`
	OverGoal         int    `json:"over_goal"`

	LiveFirst int64 `json:"live_first_bytes"`
	LiveLast  int64 `json:"live_last_bytes"`
	LiveMin   int64 `json:"live_min_bytes"`
	LiveMax   int64 `json:"live_max_bytes"`
	HeapPeak  int64 `json:"heap_peak_bytes"`
	GoalMax   int64 `json:"goal_max_bytes"`

	Assist     int64   `json:"assist_cpu_ns"`
	Background int64   `json:"background_cpu_ns"`
	Idle       int64   `json:"idle_cpu_ns"`
	Stopped    int64   `json:"stopped_cpu_ns"`
	CPUShare   float64 `json:"cpu_share"`
	AllocRate  float64 `json:"allocated_bytes_per_second"`

	Width int64 `json:"timeline_step_ns"`
	Rows  []row `json:"timeline"`
}

// spread is a distribution.
type spread struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	Total float64 `json:"total"`
}

// bin is one bar of the histogram of pauses.
type bin struct {
	UpTo  int64 `json:"up_to_ns"`
	Count int64 `json:"count"`
}

// row is one step of the time line.
type row struct {
	At       int64 `json:"at_ns"`
	Cycles   int   `json:"cycles"`
	Forced   int   `json:"forced"`
	Mark     int64 `json:"mark_ns"`
	Pause    int64 `json:"longest_pause_ns"`
	Assist   int64 `json:"assist_cpu_ns"`
	CPU      int64 `json:"cpu_ns"`
	Live     int64 `json:"live_bytes"`
	HeapPeak int64 `json:"heap_peak_bytes"`
}

// JSON writes l as a document of the version Schema.
func JSON(w io.Writer, l *Log) error {
	s := l.Summary
	d := document{
		Schema: Schema, File: l.File, Lines: l.Lines, Unread: l.Unread, Errors: append([]string{}, l.Errors...),
		Cycles: s.Cycles, Forced: s.Forced, Periodic: s.Periodic, Processes: s.Processes, Lost: s.Lost,
		MinProcs: s.MinProcs, MaxProcs: s.MaxProcs, Span: int64(s.Span), Ends: int64(s.Ends),
		SweepTermination: spreadOf(s.SweepTermination), Mark: spreadOf(s.Mark), MarkTermination: spreadOf(s.MarkTermination),
		Pause: spreadOf(s.Pause), Pauses: []bin{}, Between: spreadOf(s.Between), Grown: spreadOf(s.Grown), InMark: spreadOf(s.InMark),
		OverGoal: s.OverGoal, LiveFirst: int64(s.LiveFirst), LiveLast: int64(s.LiveLast), LiveMin: int64(s.LiveMin), LiveMax: int64(s.LiveMax),
		HeapPeak: int64(s.HeapPeak), GoalMax: int64(s.GoalMax),
		Assist: int64(s.Assist), Background: int64(s.Background), Idle: int64(s.Idle), Stopped: int64(s.Stopped),
		CPUShare: s.CPUShare, AllocRate: s.AllocRate, Width: int64(s.Width), Rows: []row{},
	}
	for _, b := range s.Pauses {
		d.Pauses = append(d.Pauses, bin{int64(b.UpTo), b.Count})
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

func spreadOf(d cycles.Distribution) spread {
	return spread{d.Count, d.Min, d.P50, d.P90, d.P99, d.Max, d.Total}
}

func rowOf(r cycles.Row) row {
	ns := func(d time.Duration) int64 { return int64(d) }
	return row{ns(r.At), r.Cycles, r.Forced, ns(r.Mark), ns(r.Pause), ns(r.Assist), ns(r.CPU), int64(r.Live), int64(r.HeapPeak)}
}
