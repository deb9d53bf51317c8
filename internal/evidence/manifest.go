package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// ManifestSchema is the version of the bundle format that this code writes.
const ManifestSchema = "heaptrim.bundle/1"

// RecorderPrefix begins the name of every function that the recorder adds to a
// program; what happens below them is the recorder's cost, not the program's.
const RecorderPrefix = "htrim7q"

// OfRecorder reports whether the recorder added a function, or a method of a type
// of its own, to the program; the name is as profiles and traces spell it.
func OfRecorder(function string) bool { return strings.Contains(function, RecorderPrefix) }

// Kind says what a part of a bundle holds; see doc/format/bundle.md.
type Kind string

// The kinds of part.
const (
	KindCPU      Kind = "cpu-profile"       // pprof, cpu/nanoseconds
	KindAllocs   Kind = "allocs-profile"    // pprof, cumulative since start, or the delta of one window
	KindHeap     Kind = "heap-profile"      // pprof snapshot whose in-use columns matter
	KindGCTrace  Kind = "gctrace"           // text of GODEBUG=gctrace=1, with or without gcpacertrace=1
	KindBench    Kind = "benchmark"         // Go benchmark text
	KindMetrics  Kind = "metrics"           // JSON lines of runtime/metrics samples
	KindMemStats Kind = "memstats"          // heap profile with debug=1, for its runtime.MemStats tail
	KindAbove    Kind = "runtime-functions" // through which of them calls of the program allocated
	KindEscapes  Kind = "escapes"           // compiler output of -gcflags=-m or -m=2
	KindTrace    Kind = "execution-trace"
	KindPerf     Kind = "perf"
	KindLoad     Kind = "load-output" // what the load tool printed
	KindCode     Kind = "disassembly" // text of go tool objdump, the functions with samples
)

// Target kinds, for Manifest.Target.
const (
	TargetPackages = "packages"
	TargetExec     = "exec"
	TargetLive     = "live"
	TargetFiles    = "files"
)

// Manifest describes a bundle. It is manifest.json, rewritten atomically each
// time a part is finished, so that an interrupted recording still opens.
type Manifest struct {
	Schema      string      `json:"schema"`
	Tool        string      `json:"tool"` // heaptrim's version
	Created     time.Time   `json:"created"`
	Complete    bool        `json:"complete"` // false: the recording was cut short
	Target      Target      `json:"target"`
	Environment Environment `json:"environment"`
	Runs        []Run       `json:"runs"`
	Warnings    []string    `json:"warnings,omitempty"`
	LeftOut     []string    `json:"left_out,omitempty"` // what a budget or a failure kept out, one sentence each
	Gaps        []Gap       `json:"lacks,omitempty"`    // of what else was meant to be recorded
}

// GapCode names evidence that a recording lacks.
type GapCode string

// The gaps.
const (
	GapLeftOut   GapCode = "left-out" // benchmarks, or what else a budget or a failure kept out
	GapFineRun   GapCode = "fine-run"
	GapAlone     GapCode = "unprofiled-run"
	GapTrace     GapCode = "trace"
	GapCPU       GapCode = "cpu"
	GapAllocs    GapCode = "allocs"
	GapInUse     GapCode = "in-use"
	GapCycles    GapCode = "cycles"
	GapRaw       GapCode = "raw-stacks"
	GapUsed      GapCode = "process-cpu"
	GapCacheMiss GapCode = "fresh-lines"
	GapCycleCost GapCode = "cycle-cost"
	GapSources   GapCode = "sources"
)

// Gap is evidence that is not there. A recorder enters it before the recording
// of it begins and takes it out at its end, so that a crash leaves it.
type Gap struct {
	Code GapCode `json:"code,omitempty"` // "" in recordings by heaptrim before codes
	What string  `json:"what"`           // with the reason where it is known
	Adds string  `json:"adds"`           // what it would tell
}

// Target says what was recorded.
type Target struct {
	Kind      string   `json:"kind"`                 // packages, exec, live or files
	Args      []string `json:"args"`                 // as the user gave them
	Module    string   `json:"module,omitempty"`     // path of the main module
	ModuleDir string   `json:"module_dir,omitempty"` // root of the main module on the recording machine
	Workspace []string `json:"workspace,omitempty"`  // module paths of the go.work workspace
	Packages  []string `json:"packages,omitempty"`   // import paths under test, or the main package
	// Dependencies are the paths of the other modules in the build.
	Dependencies []string `json:"dependencies,omitempty"`
	// Command is the command line of a live service, secrets blanked.
	Command    []string `json:"command,omitempty"`
	BuildFlags []string `json:"build_flags,omitempty"` // flags handed on to the go command
	// Sources are the SHA-256 of the Go files of the module and the workspace that were built,
	// by names relative to ModuleDir.
	Sources map[string]string `json:"sources,omitempty"`
}

// Environment says where it was recorded. Zero means not known.
type Environment struct {
	GoVersion   string  `json:"go_version,omitempty"` // of the target, such as go1.26.8
	GOOS        string  `json:"goos,omitempty"`
	GOARCH      string  `json:"goarch,omitempty"`
	GOROOT      string  `json:"goroot,omitempty"`
	GOMAXPROCS  int     `json:"gomaxprocs,omitempty"`
	NumCPU      int     `json:"num_cpu,omitempty"`
	GOGC        string  `json:"gogc,omitempty"`       // "100", "off", …
	GOMEMLIMIT  string  `json:"gomemlimit,omitempty"` // "off" or a size
	GODEBUG     string  `json:"godebug,omitempty"`
	Experiment  string  `json:"goexperiment,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`           // of the host
	CgroupLimit int64   `json:"cgroup_limit_bytes,omitempty"`     // tightest memory limit; 0: none
	CgroupCPU   float64 `json:"cgroup_cpu,omitempty"`             // CPU quota in cores; 0: none
	THP         string  `json:"transparent_huge_pages,omitempty"` // always, madvise, never
	CPUModel    string  `json:"cpu_model,omitempty"`
	Kernel      string  `json:"kernel,omitempty"`
}

// Run is one workload of a recording: one benchmark, or one service window.
// Its parts were made by separate passes over the same work.
type Run struct {
	Name    string `json:"name"`              // benchmark name without the -P suffix; "service" for exec and live
	Package string `json:"package,omitempty"` // import path
	Parts   []Part `json:"parts"`
	Loops   []Loop `json:"loops,omitempty"` // where the benchmark's measured loops are in its source
	// CacheMiss is what fresh memory costs a program of this run's shape on the
	// machine of the recording; nil where it was not measured.
	CacheMiss *CacheMiss `json:"fresh_line,omitempty"`
	// CycleCost is what one collection costs the process, by a run of the same
	// work at two paces; nil where it was not measured.
	CycleCost *CycleCost `json:"cycle_cost,omitempty"`
}

// CacheLine is the size in bytes of a line of the caches, as fresh memory is
// counted.
const CacheLine = 64

// CacheMiss is what a line of fresh memory costs code that uses other memory
// over again: the time by which that, and writing and reading the line, takes
// longer than with a line that is in the nearest cache.
type CacheMiss struct {
	Threads   int   `json:"threads"`    // that use memory at a time
	LiveBytes int64 `json:"live_bytes"` // of which all threads together use some over again
	// FreshBytes are allocated before the same memory comes round again; 0 in
	// recordings whose loop did not time the writing.
	FreshBytes int64          `json:"fresh_bytes,omitempty"`
	NS         stats.Interval `json:"ns"` // nanoseconds, with quartiles
	// UseNS is how long a line used again takes meanwhile, in nanoseconds: code
	// that does nothing else loses NS of it, and no code loses more.
	UseNS float64 `json:"use_ns"`
}

// CycleCost is what one collection cycle costs a process in processor time, the
// collector's own work and what the program waits for because of it.
type CycleCost struct {
	Pairs int            `json:"pairs"` // of stretches that were compared
	Times float64        `json:"times"` // distance of cycles in half of the stretches, in that of the others
	NS    stats.Interval `json:"ns"`    // user and system time in nanoseconds, with its 95 % interval; chance may put it below zero
}

// Passes of a recording. Parts of one pass were made together.
const (
	PassTiming     = "timing"
	PassAllocation = "allocation"
	PassCollector  = "gc"
	PassService    = "service" // a window of a live service
	PassTrace      = "trace"
	PassCode       = "code"  // what is known of the binary
	PassFiles      = "files" // of which only the user knows how they were made
)

// Part is one file of a bundle.
type Part struct {
	Path  string `json:"path"` // slash-separated, relative to the bundle
	Kind  Kind   `json:"kind"`
	Pass  string `json:"pass"`            // one of the Pass constants
	Rate  int64  `json:"rate,omitempty"`  // bytes a heap sample; 1: every allocation
	Delta bool   `json:"delta,omitempty"` // alloc columns cover the window only, not the time since start
	Raw   bool   `json:"raw,omitempty"`   // stacks keep the runtime's frames above the allocation
	// Work done while the part was recorded. Ops counts every execution of the
	// benchmark's measured loop body, or requests; 0 when not known.
	Ops  int64         `json:"ops,omitempty"`
	Wall time.Duration `json:"wall_ns,omitempty"`
	CPU  time.Duration `json:"cpu_ns,omitempty"` // user and system time of the process, 0 when not known
	// Of a CPU profile what the process used between its start and its end, and of the
	// text of a run alone what it used in the recorder's window, as exactly as the
	// system tells. Less than all of it is in samples: threads that run for moments
	// only miss the ticks at which samples are taken.
	Profiled    time.Duration `json:"profiled_cpu_ns,omitempty"` // user and system time; 0 when not known
	MinorFaults int64         `json:"minor_faults,omitempty"`    // page faults that needed no disk; known where Profiled is
	Sleeps      int64         `json:"sleeps,omitempty"`          // times that a thread went to sleep; known where Profiled is
	Cycles      int64         `json:"cycles,omitempty"`          // collections, forced ones included; 0 when not known
	// Collector is what these took as the runtime accounts for it: marking, but for
	// idle marking, and stops, which count for all processors; 0 when not known.
	Collector time.Duration `json:"collector_cpu_ns,omitempty"`
	// PeakRSS is the largest resident set of the process from its start to the
	// end of the part, in bytes; 0 when not known. It includes the recorder's.
	PeakRSS int64 `json:"peak_rss_bytes,omitempty"`
	// OwnLive and OwnResident are the parts of the live heap and of the resident set that
	// were the recorder's, by its own measurement; 0 when not known.
	OwnLive     int64 `json:"recorder_live_bytes,omitempty"`
	OwnResident int64 `json:"recorder_resident_bytes,omitempty"`
}

// MeasuresItself reports whether the recorder measured its own memory in the process: of a part
// that says nothing then, it had none.
func (r Run) MeasuresItself() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.OwnResident > 0 })
}

// Loop is a source range whose allocations belong to the measured operation.
// Stacks that pass through the same file outside every Loop are set-up.
type Loop struct {
	File  string `json:"file"` // as the compiler records it
	First int    `json:"first"`
	Last  int    `json:"last"`
}
