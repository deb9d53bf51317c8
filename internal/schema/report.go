// Package schema has the Go types of the JSON documents that heaptrim promises
// to other programs. Writers and readers use the same ones. They repeat the
// nouns of the stages on purpose: those may move, a schema may not. Within one
// version keys are added, never removed, renamed or given another meaning; the
// pages in doc/format are the specification. The format of bundles is
// evidence.Manifest, that of the page is internal/web's own.
package schema

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// ReportVersion is the version of the JSON report; doc/format/report.md is its
// specification.
const ReportVersion = "heaptrim.report/1"

// The JSON report. Every key is always there; a nil pointer is an unknown number
// or object, an empty string an unknown text, and a list is never null.
type (
	Report struct {
		Schema        string       `json:"schema"`
		Tool          string       `json:"tool"`
		Created       *time.Time   `json:"created"`
		Target        Target       `json:"target"`
		Environment   Environment  `json:"environment"`
		Totals        Totals       `json:"totals"`
		Decomposition []Bucket     `json:"decomposition"`
		Groups        []Group      `json:"groups"`
		Findings      []Finding    `json:"findings"`
		Functions     []Function   `json:"functions"`
		Excluded      []Finding    `json:"set_apart"`
		Advice        []Advice     `json:"advice"`
		Threshold     *float64     `json:"threshold"`
		Below         int          `json:"below_threshold"`
		Together      Prediction   `json:"together"`
		TogetherOf    int          `json:"together_of"`
		Detections    []Detection  `json:"detections"`
		Latency       *Latency     `json:"latency"`
		Vet           []RuleHit    `json:"vet"`
		Runs          []RunSummary `json:"runs"`
		Gaps          []Gap        `json:"missing"`
		Warnings      []string     `json:"warnings"`
	}

	Target struct {
		Kind       string   `json:"kind"`
		Args       []string `json:"args"`
		Module     string   `json:"module"`
		ModuleDir  string   `json:"module_dir"`
		Workspace  []string `json:"workspace"`
		Packages   []string `json:"packages"`
		BuildFlags []string `json:"build_flags"`
		Command    []string `json:"command"`
	}

	Environment struct {
		GoVersion        string   `json:"go_version"`
		GOOS             string   `json:"goos"`
		GOARCH           string   `json:"goarch"`
		GOMAXPROCS       *float64 `json:"gomaxprocs"`
		NumCPU           *float64 `json:"num_cpu"`
		GOGC             string   `json:"gogc"`
		GOMEMLIMIT       string   `json:"gomemlimit"`
		GODEBUG          string   `json:"godebug"`
		GOEXPERIMENT     string   `json:"goexperiment"`
		MemoryBytes      *float64 `json:"memory_bytes"`
		CgroupLimitBytes *float64 `json:"cgroup_limit_bytes"`
		CgroupCPU        *float64 `json:"cgroup_cpu"`
		THP              string   `json:"transparent_huge_pages"`
		CPUModel         string   `json:"cpu_model"`
		Kernel           string   `json:"kernel"`
	}

	Totals struct {
		Run            string    `json:"run"`
		CPUSeconds     *float64  `json:"cpu_seconds"`
		Samples        *float64  `json:"samples"`
		MemoryShare    *Interval `json:"memory_share"`
		CollectorShare *Interval `json:"collector_share"`
		IdleMarkShare  *Interval `json:"idle_mark_share"`
		Sites          *Interval `json:"sites"`
		Remainder      *Interval `json:"remainder"`
		Cycles         *float64  `json:"cycles"`
		ForcedCycles   *float64  `json:"forced_cycles"`
		CyclesPerS     *float64  `json:"cycles_per_s"`
		GctraceShare   *float64  `json:"gctrace_share"`
		LiveHeapBytes  *float64  `json:"live_heap_bytes"`
		HeapGoalBytes  *float64  `json:"heap_goal_bytes"`
		NoHeapGoal     bool      `json:"no_heap_goal"`
		PeakHeapBytes  *float64  `json:"peak_heap_bytes"`
		ResidentBytes  *float64  `json:"resident_bytes"`

		RecorderLive     *float64 `json:"recorder_live_bytes"`
		RecorderResident *float64 `json:"recorder_resident_bytes"`

		PauseP50NS     *float64 `json:"pause_p50_ns"`
		PauseMaxNS     *float64 `json:"pause_max_ns"`
		PauseTotalNS   *float64 `json:"pause_total_ns"`
		BytesPerS      *float64 `json:"bytes_per_s"`
		Why            string   `json:"why"`
		RetentionBasis string   `json:"retention_basis"`
	}

	Interval struct {
		Value float64 `json:"value"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}

	Caller struct {
		Function string   `json:"function"`
		File     string   `json:"file"`
		Line     int      `json:"line"`
		Share    *float64 `json:"share"`
	}

	Group struct {
		Name     string    `json:"name"`
		CPUShare *Interval `json:"cpu_share"`
		Memory   bool      `json:"memory"`
	}

	Bucket struct {
		Name     string    `json:"name"`
		Group    string    `json:"group"`
		CPUShare *Interval `json:"cpu_share"`
		Memory   bool      `json:"memory"`
		Charged  bool      `json:"charged"`
	}

	Finding struct {
		Rank       int         `json:"rank"`
		Code       string      `json:"code"`
		Title      string      `json:"title"`
		Site       Site        `json:"site"`
		Run        string      `json:"run"`
		Via        string      `json:"via"`
		Kind       string      `json:"kind"`
		Mix        []Mix       `json:"mix"`
		Sizes      []SizeCount `json:"sizes"`
		Pointers   *bool       `json:"pointers"`
		Stack      []Frame     `json:"stack"`
		StackShare *float64    `json:"stack_share"`
		Stacks     []Stack     `json:"stacks"`
		Callers    []Caller    `json:"callers"`
		Places     []Caller    `json:"places"`
		Cost       Cost        `json:"cost"`
		ByRun      []RunCost   `json:"by_run"`
		Lifetime   Lifetime    `json:"lifetime"`
		Life       Life        `json:"life"`
		Escape     *Escape     `json:"escape"`
		Remedy     Remedy      `json:"remedy"`
		Verified   *Verified   `json:"verified"`
		Prediction Prediction  `json:"prediction"`
		// Removal is null where the finding is no allocation site.
		Removal *Prediction   `json:"removal"`
		Others  []OtherRemedy `json:"others"`
	}

	Function struct {
		Function   string     `json:"function"`
		Ranks      []int      `json:"ranks"`
		Prediction Prediction `json:"prediction"`
	}

	Mix struct {
		Kind    string   `json:"kind"`
		Via     string   `json:"via"`
		Objects *float64 `json:"objects_share"`
		Bytes   *float64 `json:"bytes_share"`
	}

	SizeCount struct {
		Bytes   int64    `json:"block_bytes"`
		Objects *float64 `json:"objects"`
	}

	Site struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
		Package  string `json:"package"`
	}

	Frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}

	Stack struct {
		Share  *float64 `json:"share"`
		Frames []Frame  `json:"frames"`
	}

	Cost struct {
		CPUShare     *Interval     `json:"cpu_share"`
		Malloc       *float64      `json:"malloc"`
		Zeroing      *float64      `json:"zeroing"`
		GrowCopy     *float64      `json:"growcopy"`
		Assist       *float64      `json:"assist"`
		Churn        *float64      `json:"churn"`
		Retention    *float64      `json:"retention"`
		BytesPerOp   *float64      `json:"bytes_per_op"`
		ObjectsPerOp *float64      `json:"objects_per_op"`
		BytesPerS    *float64      `json:"bytes_per_s"`
		ObjectsPerS  *float64      `json:"objects_per_s"`
		InUseBytes   *float64      `json:"in_use_bytes"`
		InUseObjects *float64      `json:"in_use_objects"`
		BytesAll     *float64      `json:"bytes"`
		ObjectsAll   *float64      `json:"objects"`
		Intervals    CostIntervals `json:"intervals"`
	}

	CostIntervals struct {
		Malloc       *Interval `json:"malloc"`
		Zeroing      *Interval `json:"zeroing"`
		GrowCopy     *Interval `json:"growcopy"`
		Assist       *Interval `json:"assist"`
		Churn        *Interval `json:"churn"`
		Retention    *Interval `json:"retention"`
		BytesPerOp   *Interval `json:"bytes_per_op"`
		ObjectsPerOp *Interval `json:"objects_per_op"`
		BytesPerS    *Interval `json:"bytes_per_s"`
		ObjectsPerS  *Interval `json:"objects_per_s"`
		InUseBytes   *Interval `json:"in_use_bytes"`
	}

	RunCost struct {
		Run  string `json:"run"`
		Cost Cost   `json:"cost"`
	}

	Lifetime struct {
		Class  string   `json:"class"`
		MeanNS *float64 `json:"mean_ns"`
		Basis  string   `json:"basis"`
	}

	Life struct {
		End      string `json:"end"`
		Function string `json:"function"`
		Holder   string `json:"holder"`
		Unseen   string `json:"unseen"`
	}

	Escape struct {
		Reason    string `json:"reason"`
		Expr      string `json:"expr"`
		Verb      string `json:"verb"`
		File      string `json:"file"`
		Line      int    `json:"line"`
		Column    *int   `json:"column"`
		Flow      []Flow `json:"flow"`
		Truncated bool   `json:"truncated"`
	}

	Flow struct {
		Dst   string     `json:"dst"`
		Src   string     `json:"src"`
		Edges []FlowEdge `json:"edges"`
	}

	FlowEdge struct {
		Expr   string `json:"expr"`
		Why    string `json:"why"`
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}

	Remedy struct {
		Code   string `json:"code"`
		Safety string `json:"safety"`
		Text   string `json:"text"`
		Why    string `json:"why"`
		Rule   string `json:"rule"`
		// Fit weighs the saving when findings are ranked.
		Fit *float64 `json:"fit"`
	}

	// Verified is an edit that was tried and holds.
	Verified struct {
		Text      string     `json:"edit"`
		Question  string     `json:"question"`
		Benchmark string     `json:"benchmark"`
		Tested    bool       `json:"tested"`
		Before    FixAmounts `json:"before"`
		After     FixAmounts `json:"after"`
	}

	OtherRemedy struct {
		Remedy
		Prediction Prediction `json:"prediction"`
	}

	Advice struct {
		Remedy
		Title      string     `json:"title"`
		Prediction Prediction `json:"prediction"`
	}

	RuleHit struct {
		Code       string    `json:"code"`
		Message    string    `json:"message"`
		Site       Site      `json:"site"`
		Run        string    `json:"run"`
		CPUShare   *Interval `json:"cpu_share"`
		BytesShare *float64  `json:"bytes_share"`
	}

	Prediction struct {
		CPUShare     *Interval           `json:"cpu_share"`
		CachesShare  *Interval           `json:"caches_share"`
		CyclesShare  *Interval           `json:"cycles_share"`
		BytesPerOp   *float64            `json:"bytes_per_op"`
		ObjectsPerOp *float64            `json:"objects_per_op"`
		Intervals    PredictionIntervals `json:"intervals"`
		Basis        string              `json:"basis"`
	}

	PredictionIntervals struct {
		BytesPerOp   *Interval `json:"bytes_per_op"`
		ObjectsPerOp *Interval `json:"objects_per_op"`
	}

	RunSummary struct {
		Name            string     `json:"name"`
		Package         string     `json:"package"`
		Ops             *float64   `json:"ops"`
		NsPerOp         *float64   `json:"ns_per_op"`
		BytesPerOp      *float64   `json:"bytes_per_op"`
		AllocsPerOp     *float64   `json:"allocs_per_op"`
		CyclesPerKiloOp *float64   `json:"cycles_per_1000_ops"`
		MemoryShare     *Interval  `json:"memory_share"`
		CPUSecondsPerOp *float64   `json:"cpu_seconds_per_op"`
		RequestsPerS    *float64   `json:"requests_per_s"`
		ProfilePace     *float64   `json:"profile_pace"`
		FreshLine       *FreshLine `json:"fresh_line"`
		CycleCost       *CycleCost `json:"cycle_cost"`
	}

	FreshLine struct {
		Threads    int       `json:"threads"`
		LiveBytes  int64     `json:"live_bytes"`
		FreshBytes int64     `json:"fresh_bytes"`
		NS         *Interval `json:"ns"`
		UseNS      *float64  `json:"use_ns"`
	}

	CycleCost struct {
		Pairs int       `json:"pairs"`
		Times float64   `json:"times"`
		NS    *Interval `json:"ns"`
	}

	Gap struct {
		What string `json:"what"`
		Adds string `json:"adds"`
	}
)

// NewEnvironment returns e as the documents spell it.
func NewEnvironment(e evidence.Environment) Environment {
	return Environment{
		GoVersion: e.GoVersion, GOOS: e.GOOS, GOARCH: e.GOARCH,
		GOMAXPROCS: Positive(float64(e.GOMAXPROCS)), NumCPU: Positive(float64(e.NumCPU)),
		GOGC: e.GOGC, GOMEMLIMIT: e.GOMEMLIMIT, GODEBUG: e.GODEBUG, GOEXPERIMENT: e.Experiment,
		MemoryBytes: Positive(
			float64(e.MemoryBytes),
		), CgroupLimitBytes: Positive(float64(e.CgroupLimit)), CgroupCPU: Positive(e.CgroupCPU),
		THP: e.THP, CPUModel: e.CPUModel, Kernel: e.Kernel,
	}
}

type (
	// Latency says which goroutines were delayed and which lines allocated
	// meanwhile, by the execution trace of the recording. Times are in nanoseconds.
	Latency struct {
		Problem  string         `json:"problem"`
		LengthNS *time.Duration `json:"length_ns"`
		MarkN    *int           `json:"mark_count"`
		MarkNS   *time.Duration `json:"mark_ns"`
		Pauses   []TracePause   `json:"pauses"`
		Payers   *TraceDelayed  `json:"payers"`
	}

	// Detection is a way in which the collector or the kernel costs more than it needs.
	Detection struct {
		Detector string    `json:"detector"`
		Run      string    `json:"run"`
		Title    string    `json:"title"`
		Code     string    `json:"code"`
		Text     string    `json:"text"`
		Evidence string    `json:"evidence"`
		Amount   *float64  `json:"amount"`
		Saves    *Interval `json:"saves_cpu_share"`
		Basis    string    `json:"basis"`
	}
)
