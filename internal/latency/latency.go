// Package latency shows from an execution trace which goroutines memory management delays,
// and how. It splits the time of goroutines, and of the requests that they serve, into
// running, assisting, sweeping, waiting for a processor during a collection and outside, and
// so on. The parts of a request add up to its time, to the nanosecond.
package latency

import "time"

// Part is an activity of a goroutine, or a reason to wait.
type Part int

// The parts. They exclude each other.
const (
	Running          Part = iota // running, or descheduled by the system; see Options.Delays
	AssistCPU                    // marking in place of the collector
	AssistParked                 // in an assist, waiting for others to mark
	Sweep                        // sweeping before an allocation
	STW                          // waiting while the world is stopped, or stopping it
	WaitMark                     // runnable, waiting for a processor, during a mark phase
	WaitOutside                  // runnable, waiting for a processor, outside a mark phase
	Syscall                      // in a system call
	BlockedChannel               // on a channel, or in a select
	BlockedSync                  // on a lock, a condition, a group
	BlockedNetwork               // on the network or a file that is polled
	BlockedSleep                 // asleep
	BlockedCollector             // on the collector, but not in an assist
	BlockedOther                 // for another reason
	Unknown                      // the trace does not say
	Descheduled                  // runnable, but the system ran something else: a lower bound; only with Options.Delays
	Parts                        // how many there are
)

// String returns the name of the part, as reports show it.
func (p Part) String() string {
	return [...]string{
		"running or descheduled", "assist on CPU", "assist parked", "sweep", "stop the world",
		"runnable during mark", "runnable outside mark", "system call", "blocked on channel", "blocked on sync",
		"blocked on network", "sleep", "blocked on collector", "blocked, other", "unknown", "descheduled",
	}[p]
}

// Key returns the name of the part in JSON.
func (p Part) Key() string {
	return [...]string{
		"running", "assist_cpu", "assist_parked", "sweep", "stw", "wait_mark", "wait_outside", "syscall",
		"blocked_channel", "blocked_sync", "blocked_network", "blocked_sleep", "blocked_collector", "blocked_other", "unknown", "descheduled",
	}[p]
}

// Split is time by part.
type Split [Parts]time.Duration

// Total is the sum of the parts.
func (s *Split) Total() time.Duration {
	var t time.Duration
	for _, d := range s {
		t += d
	}
	return t
}

// Memory is the time that memory management took for itself: assists, sweeping and stops of
// the world. Waiting for a processor is not included, since some of it would occur without a
// collection too.
func (s *Split) Memory() time.Duration { return s[AssistCPU] + s[AssistParked] + s[Sweep] + s[STW] }

// Add adds o to s, part by part.
func (s *Split) Add(o *Split) {
	for i, d := range o {
		if d != 0 { // most parts are
			s[i] += d
		}
	}
}

// less returns s - o.
func (s *Split) less(o *Split) Split {
	d := *s
	for i := range d {
		d[i] -= o[i]
	}
	return d
}

// Report is the delays in a trace. Times are relative to the first event.
type Report struct {
	Length time.Duration
	Mark   time.Duration // in mark phases
	STW    time.Duration // with the world stopped, or stopping
	Events int64         // events about goroutines, the collector or requests

	Groups   []Group    // by delay through memory management, greatest first
	Requests []Requests // by number, greatest first
	Windows  []Window   // mark phases, with the delays in each
	Causes   Causes     // lines that allocated in mark phases

	Goroutines    int // that were seen
	UnlistedKinds int // of requests; those are under the name "(others)"
	Unlisted      int // windows beyond the limit of the list
}

// Group is the goroutines that began in one function.
type Group struct {
	Start      string // the function, or "" if unknown
	Handler    string // HTTP handler they served; "" outside of one or if unknown
	System     bool   // goroutines of the runtime, or of heaptrim's recorder
	Goroutines int    // 0 in the rows of handlers, because one goroutine serves several handlers
	Split      Split
}

// Kind is what delimits a request.
type Kind string

// The kinds of request.
const (
	Task   Kind = "task"   // runtime/trace.NewTask to Task.End
	Region Kind = "region" // a region on one goroutine
)

// Requests are the tasks of one type, or the regions of one name, that began and ended
// in the trace. Their times are kept in buckets 1.6 % wide; a quantile is the mean of
// its bucket.
type Requests struct {
	Kind               Kind
	Name               string
	Count              int
	Total              time.Duration // of all; the parts in All add up to it
	P50, P90, P99, Max time.Duration

	All     Split     // of all requests
	Slow    Split     // of the slowest hundredth, and of all others in the bucket of its fastest one
	SlowN   int       // their number
	Slowest []Request // a few of them, slowest first
	MostGC  []Request // those with the most memory management, greatest first
}

// Request is one request.
type Request struct {
	Start, Length time.Duration
	Goroutine     int64  // that began it
	Task          uint64 // 0 for a region outside of tasks
	Split         Split  // adds up to Length
	Mark          time.Duration
}

// Window is a mark phase with the delays of the program's goroutines in it. Causes has the
// lines that allocated then.
type Window struct {
	Start, End time.Duration
	// Paid is the delay in the parts AssistCPU, AssistParked, STW and WaitMark. A wait
	// counts for the window in which it ends, or for the last one before its end.
	Paid Split
}

// Limits of the lists in a Report.
const (
	maxKinds   = 1000
	maxWindows = 1 << 16
	shown      = 10 // requests in Slowest and MostGC
)

// Options say how to analyse a trace. The zero value is the default.
type Options struct {
	// Progress, if not nil, is called from time to time with the time of the trace read so
	// far.
	Progress func(time.Duration)
	// Own are the import paths of the user's code; packages below them are included.
	// Allocations in libraries are charged to the user's line that called them. If Own is
	// empty, all code outside of the standard library is the user's.
	Own []string
	// Delays moves time from Running, AssistCPU and Sweep to Descheduled if a thread
	// certainly waited for a processor then. It needs the recorder's messages in the trace
	// about how long threads ran.
	Delays bool
}
