package exectrace

import "iter"

// Event is one event of a trace. Events come in the order in which they
// happened. The fields that say nothing about a kind are 0.
type Event struct {
	Time      int64  // nanoseconds on the clock of the trace; no two are equal
	Goroutine int64  // that ran where the event happened, before it, or None
	Thread    int64  // where it happened, or None
	Subject   int64  // what the event is about: see the kinds
	Value     uint64 // see the kinds
	Text      Text   // see the kinds
	Stack     Stack  // where the goroutine was; of one that begins, where it will be
	Kind      EventKind
	From, To  State     // of goroutines and procs
	Range     RangeKind // of ranges
}

// None stands for no goroutine, proc or thread.
const None int64 = -1

// noTask is the Value of a task without a parent.
const noTask = ^uint64(0)

// EventKind is a kind of event.
type EventKind uint8

// The kinds of event.
const (
	EventSync         EventKind = iota // a generation begins, or the trace ends; Value counts them from 1
	EventGoroutine                     // goroutine Subject changes its state, or still has it; Text is the reason
	EventProc                          // the same for a proc
	EventRangeBegin                    // a range begins; Text is the reason of a stop, Subject the goroutine, or the proc that sweeps
	EventRangeActive                   // a range goes on in a new generation, or began before the trace
	EventRangeEnd                      // a range ends; Value is what a sweep has swept, in bytes
	EventTaskBegin                     // task Subject begins, of type Text; Value is its parent or NoTask
	EventTaskEnd                       // … ends; what is not known of a task from before the trace is "" and NoTask
	EventRegionBegin                   // a region of name Text begins, of task Subject
	EventRegionEnd                     // … ends
	EventLog                           // a message of task Subject: Text is its category, Value the Text of the message
	EventMetric                        // Subject is one of the metrics, Value its value
	EventLabel                         // the goroutine is named Text from now on
	EventSample                        // a sample of the CPU profile
	EventExperimental                  // of an experiment of the runtime
	kindsOfEvent
)

// What EventMetric is about.
const (
	MetricProcs    int64 = iota // GOMAXPROCS
	MetricHeapLive              // bytes
	MetricHeapGoal              // bytes
)

// State is the state of a goroutine or a proc.
type State uint8

// The states. Of procs there are Undetermined, NotExist, Running and Idle.
const (
	Undetermined State = iota // before the trace
	NotExist
	Runnable
	Running
	Waiting
	Syscall
	Idle
)

// RangeKind is a kind of range.
type RangeKind uint8

// The kinds of range.
const (
	RangeMark   RangeKind = iota + 1 // the concurrent mark phase; about no one
	RangeAssist                      // a goroutine assists in marking
	RangeSweep                       // a proc sweeps
	RangeStop                        // a goroutine stops the world
)

// Kinds is a set of kinds of event.
type Kinds uint32

// KindsOf returns the set of some kinds.
func KindsOf(kinds ...EventKind) Kinds {
	var set Kinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// AllKinds is the set of all kinds.
const AllKinds Kinds = 1<<kindsOfEvent - 1

// Text is the number of a string in a generation; 0 stands for "".
type Text uint32

// Stack is the number of a stack in a generation; 0 stands for none.
type Stack uint32

// Frame is one call on a stack.
type Frame struct {
	PC         uint64
	Func, File string
	Line       int
}

// Names says what the numbers in an event stand for. It is valid as long as the
// event; equal numbers stand for the same until the next EventSync.
type Names struct {
	*names
	late []string // of earlier generations, by numbers from lateText on
}

// lateText is the first number of a text that its generation does not have.
const lateText Text = 1 << 31

// Text returns the string of a number.
func (n *Names) Text(t Text) string {
	switch {
	case t == 0:
		return ""
	case t >= lateText:
		return n.late[t-lateText]
	}
	return n.texts[t]
}

// Texts iterates over the strings of the generation, in no order.
func (n *Names) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.names == nil {
			return
		}
		for _, s := range n.texts[1:] {
			if !yield(s) {
				return
			}
		}
	}
}

// Frames iterates over a stack, innermost call first.
func (n *Names) Frames(s Stack) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		if s == 0 {
			return
		}
		for _, i := range n.calls[n.stacks[s-1]:n.stacks[s]] {
			f := &n.frames[i]
			if !yield(Frame{f.pc, n.texts[f.fn], n.texts[f.file], int(f.line)}) {
				return
			}
		}
	}
}
