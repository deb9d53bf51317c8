// Package latency tells from an execution trace who pays for memory
// management, and with what: it splits the time of goroutines, and of the
// requests that they serve, into running, assisting, sweeping, waiting for a
// processor during a collection and outside, and so on. The parts of a request
// add up to its time, to the nanosecond.
package latency

import "time"

// Part is what a goroutine can be doing, or waiting for.
type Part int

// The parts, which exclude each other.
const (
	Running          Part = iota // running, or descheduled by the system: a trace cannot tell, but see Options.Delays
	AssistCPU                    // marking in place of the collector
	AssistParked                 // in an assist, waiting for marking to be done by others
	Sweep                        // sweeping in order to allocate
	STW                          // kept from running while the world was stopped, or stopping it
	WaitMark                     // runnable, waiting for a processor, during a mark phase
	WaitOutside                  // runnable, waiting for a processor, outside
	Syscall                      // in a system call
	BlockedChannel               // on a channel, or in a select
	BlockedSync                  // on a lock, a condition, a group
	BlockedNetwork               // on the network or a file that is polled
	BlockedSleep                 // asleep
	BlockedCollector             // on the collector, but not in an assist
	BlockedOther                 // for another reason
	Unknown                      // the trace does not say
	Descheduled                  // would have run, but the system ran something else, at least; only with Options.Delays
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

// Memory is the time that memory management took for itself: assists, sweeping
// and stops of the world. Waiting for a processor is not in it, since some of
// it would have been without a collection too.
func (s *Split) Memory() time.Duration { return s[AssistCPU] + s[AssistParked] + s[Sweep] + s[STW] }

// Add adds o to s, part by part.
func (s *Split) Add(o *Split) {
	for i := range s {
		s[i] += o[i]
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

// Report says who paid in a trace. Moments are since the first event.
type Report struct {
	Length time.Duration
	Mark   time.Duration // in mark phases
	STW    time.Duration // with the world stopped, or stopping
	Events int64         // that tell about goroutines, the collector or requests

	Groups   []Group    // by time paid for memory management, greatest first
	Requests []Requests // by number, greatest first
	Windows  []Window   // mark phases, with what was paid in each
	Causes   Causes     // who allocated then

	Goroutines    int // that were seen
	UnlistedKinds int // of requests; those are under the name "(others)"
	Unlisted      int // windows beyond the limit of the list
}

// Group is the goroutines that began in one function.
type Group struct {
	Start      string // the function, or "" where it is not known
	Handler    string // HTTP handler they served meanwhile; "" outside of one, or where it is not known
	System     bool   // goroutines of the runtime, or of heaptrim's recorder
	Goroutines int    // 0 in the rows of handlers, which goroutines pass through
	Split      Split
}

// Kind is what delimits a request.
type Kind string

// The kinds of request.
const (
	Task   Kind = "task"   // runtime/trace.NewTask to Task.End
	Region Kind = "region" // a region on one goroutine
)

// Requests are the tasks of one type, or the regions of one name, that began
// and ended in the trace. Their times are in buckets 1.6 % wide, of which
// quantiles give the mean.
type Requests struct {
	Kind               Kind
	Name               string
	Count              int
	Total              time.Duration // of all, and what the parts in All add up to
	P50, P90, P99, Max time.Duration

	All     Split     // of all requests
	Slow    Split     // of the slowest hundredth, and all in its fastest one's bucket
	SlowN   int       // how many these are
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

// Window is a mark phase and what goroutines of the program paid in it. What
// allocated then, and made them pay, is in Causes.
type Window struct {
	Start, End time.Duration
	// Paid has the parts AssistCPU, AssistParked, STW and WaitMark; a wait is
	// booked on the window in which it ends, or the last one before.
	Paid Split
}

// Limits of the lists in a Report.
const (
	maxKinds   = 1000
	maxWindows = 1 << 16
	shown      = 10 // requests in Slowest and MostGC
)

// Options say how to look at a trace. The zero value is the default.
type Options struct {
	// Progress, where not nil, is called now and then with the time of the
	// trace that has been seen.
	Progress func(time.Duration)
	// Own are the import paths of the user's code, which stand for all below
	// them too: allocations that libraries make are charged to the line there
	// that called them. Without any, all but the standard library is the user's.
	Own []string
	// Delays takes from Running, AssistCPU and Sweep what threads have surely
	// waited for a processor, where the recorder has noted in the trace how long
	// they ran.
	Delays bool
}
