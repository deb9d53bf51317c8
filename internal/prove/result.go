package prove

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Outcome says how B compares with A.
type Outcome string

// The outcomes. Those of a metric are the first four; the others sum up the
// metrics of a benchmark, or all benchmarks.
const (
	Same         Outcome = "same"    // no difference that counts
	Better       Outcome = "better"  // B is better
	Worse        Outcome = "worse"   // B is worse
	Unclear      Outcome = "unclear" // the runs cannot tell
	Mixed        Outcome = "mixed"   // B is better in one and worse in another
	Incomparable Outcome = "incomparable"
	NotJudged    Outcome = "" // shown beside, no call is made
)

// Result is a finished comparison. It is data only: what two reports show of
// it, they read here.
type Result struct {
	ClearAfter int // pairs after which every call was clear, and stayed so; 0 if none was while measuring went on

	Sides       []sides.Info // A, and what is compared with it: B, C, …
	Target      Target
	Rules       Rules
	Seed        uint64 // of the order of runs
	Environment evidence.Environment
	Comparisons []Comparison // of each benchmark, one for each side but A
	Verdict     Verdict
	BySide      []Verdict // of B, C, … each alone
	Warnings    []string  // what weakens the whole, one sentence each
	LeftOut     []string  // what is not in it, and why
	Partial     bool      // interrupted: the runs until then are in it
	Measured    time.Duration
}

// Target says what was run.
type Target struct {
	Kind    string   // packages, command or load
	Args    []string // packages, or command line
	Bench   string
	Load    string
	Flags   []string // for the go command
	RunTime time.Duration
}

// The kinds of target.
const (
	KindPackages = "packages"
	KindCommand  = "command"
	KindLoad     = "load"
)

// Verdict sums up a comparison.
type Verdict struct {
	Outcome  Outcome
	Sentence string
	// How many benchmarks had which outcome.
	Counts map[Outcome]int
}

// Worse reports whether B is worse in anything that is judged.
func (v Verdict) Worse() bool { return v.Outcome == Worse || v.Outcome == Mixed }

// Comparison is one benchmark, or the command, on two sides: A, and one that is
// called B here whichever it is.
type Comparison struct {
	Name       string // without the GOMAXPROCS suffix
	Package    string
	Side       int   // B's place in Result.Sides
	Iterations int64 // of the measured loop, in every run of either side; 0 for a command
	Pairs      int   // of an A and a B run each that count
	Outcome    Outcome
	Changes    []Change // in the order of the metrics
	Differs    []string // in the work done: then no call is made
	Failed     [2]string
	Warnings   []string
	Pauses     [2]Pauses
	Runs       []Sample // of the two sides, in the order they were made
}

// Pauses are the collector's stop-the-world pauses of all runs of a side: two
// for each cycle that the program did not ask for.
type Pauses struct {
	Count         int
	P50, P99, Max time.Duration // 0 without any
}

// Change is one metric on both sides.
type Change struct {
	Metric
	A, B stats.Interval // medians with 95 % bounds
	Runs RunCount

	// Delta is B's change against A as a fraction of A, with its 95 % bounds
	// from pairs of neighbouring runs: 0.1 is 10 % more. NaN where A is 0.
	Delta     stats.Interval
	Exact     bool // all runs of a side gave one and the same value
	Separated bool // counts that vary a little, and lie far apart: as good as exact
	Tests     Tests

	Outcome Outcome
	// Warnings are benchmath's, and our own.
	Warnings []string
}

// RunCount is how many runs either side has.
type RunCount struct {
	A int // runs of A
	B int
}

// Tests are the p-values of a change.
type Tests struct {
	P         float64 // that pairs differ so much by chance; NaN when Exact or without pairs
	RankSumP  float64 // p-value of benchmath's comparison of the two samples
	AdjustedP float64 // P adjusted for all calls that are made together; NaN when none is made
}

// Sample is one process: of a benchmark that it ran alone, or of the command.
type Sample struct {
	Side      int // 0 is A, 1 is B; before it is in a Comparison, the place in Result.Sides
	Pair      int // runs of one pair followed each other
	Collector bool
	Procs     int
	Values    map[string]float64 // by unit
	Output    string             // hash of what a command printed; "" for benchmarks
	Wall      time.Duration      // of the process

	pauses []uint32 // in nanoseconds, by size
}

// Rules say what counts as a difference. The zero value means the defaults.
type Rules struct {
	Alpha     float64  // chance of any false call in one comparison of A with itself; 0 means 0.05
	MinEffect float64  // smallest change, as a fraction, that counts where values vary; 0 means 0.01
	Precision float64  // half-width of the interval of time's change at which measuring stops; 0 means 0.01
	MaxPairs  int      // 0 means 100
	Gate      []string // units that are judged; none means the defaults of the target
}

func (r Rules) withDefaults() Rules {
	if r.Alpha == 0 {
		r.Alpha = 0.05
	}
	if r.MinEffect == 0 {
		r.MinEffect = 0.01
	}
	if r.Precision == 0 {
		r.Precision = 0.01
	}
	if r.MaxPairs == 0 {
		r.MaxPairs = 100
	}
	return r
}
