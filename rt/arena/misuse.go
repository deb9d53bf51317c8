package arena

import (
	"runtime"
	"strconv"
	"strings"
)

// Kind is a kind of misuse.
type Kind string

// What checking mode finds.
const (
	UseAfterFree    Kind = "use after Free"
	UseAfterReset   Kind = "use after Reset"
	WriteAfterReset Kind = "write after Reset or Free" // found later, when the memory is looked at
	ConcurrentUse   Kind = "use by two goroutines at once"
	Leak            Kind = "collected without Free"
)

// Misuse says what checking mode found. It is the value of the panic, if there
// is one.
type Misuse struct {
	Kind Kind
	// Here is where it was found: the use, or for WriteAfterReset a later call
	// that found it. It is empty for a Leak.
	Here Stack
	// There is the other place: the Reset or Free, the use by the other
	// goroutine, or the first use of the arena that leaked.
	There Stack
}

// Error returns the report: what, and both stacks.
func (m *Misuse) Error() string {
	here, there := "used at", "taken back at"
	switch m.Kind {
	case WriteAfterReset:
		here = "found at"
	case ConcurrentUse:
		there = "used by another goroutine at"
	case Leak:
		there = "first used at"
	}
	var b strings.Builder
	b.WriteString("arena: " + string(m.Kind))
	if len(m.Here) > 0 {
		b.WriteString("\n" + here + "\n" + m.Here.String())
	}
	b.WriteString("\n" + there + "\n" + m.There.String())
	return strings.TrimSuffix(b.String(), "\n")
}

// Stack is a call stack, innermost first, without the frames of this package.
type Stack []uintptr

const maxStack = 32

func callers() Stack {
	var pcs [maxStack]uintptr
	n := runtime.Callers(2, pcs[:])
	return append(Stack(nil), pcs[:n]...)
}

// Frames returns the calls, innermost first.
func (s Stack) Frames() []runtime.Frame {
	var list []runtime.Frame
	if len(s) == 0 {
		return nil
	}
	frames := runtime.CallersFrames(s)
	for {
		f, more := frames.Next()
		if f.PC != 0 && (len(list) > 0 || !strings.HasPrefix(f.Function, packagePath)) {
			list = append(list, f)
		}
		if !more {
			return list
		}
	}
}

const packagePath = "github.com/heaptrim/heaptrim/rt/arena."

// String returns the calls as panics show them: the function, and below it the
// file and line.
func (s Stack) String() string {
	var b strings.Builder
	for _, f := range s.Frames() {
		b.WriteString("  " + f.Function + "\n      " + f.File + ":" + strconv.Itoa(f.Line) + "\n")
	}
	return b.String()
}
