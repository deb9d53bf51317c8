package schema

// GCTraceVersion is the version of the JSON of a collector's log;
// doc/format/gctrace.md is its specification.
const GCTraceVersion = "heaptrim.gctrace/1"

// GCTrace is the document of heaptrim gctrace. Times are in nanoseconds, sizes in bytes.
type GCTrace struct {
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

	SweepTermination GCTraceSpread `json:"sweep_termination_ns"`
	Mark             GCTraceSpread `json:"mark_ns"`
	MarkTermination  GCTraceSpread `json:"mark_termination_ns"`
	Pause            GCTraceSpread `json:"pause_ns"`
	Pauses           []GCTraceBin  `json:"pause_histogram"`
	Between          GCTraceSpread `json:"between_ns"`
	Grown            GCTraceSpread `json:"allocated_bytes"`
	InMark           GCTraceSpread `json:"grown_in_mark_bytes"`
	OverGoal         int           `json:"over_goal"`

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

	Width int64         `json:"timeline_step_ns"`
	Rows  []GCTraceStep `json:"timeline"`
}

// GCTraceSpread is a distribution.
type GCTraceSpread struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	Total float64 `json:"total"`
}

// GCTraceBin is one bar of the histogram of pauses.
type GCTraceBin struct {
	UpTo  int64 `json:"up_to_ns"`
	Count int64 `json:"count"`
}

// GCTraceStep is one step of the time line.
type GCTraceStep struct {
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
