package pool

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Kind is a kind of misuse.
type Kind string

// What the checking mode finds.
const (
	DoublePut       Kind = "put twice"
	UseAfterPut     Kind = "written to after Put"
	Foreign         Kind = "put into a pool that it is not from"
	Leak            Kind = "never put"
	UseAfterRelease Kind = "Local used after Release"
	ConcurrentUse   Kind = "Local used by two goroutines at once"
)

// Misuse says what the checking mode found. It is the value of the panic, if
// there is one.
type Misuse struct {
	Kind Kind
	Size int // of the buffer's capacity or of the object, in bytes; 0 for a Local
	// Here is where it was found: the second Put, the call that noticed the write
	// to a buffer that lay in the pool, the Put of something foreign, the use of
	// the Local. A Leak has no Here.
	Here Stack
	// There is the other place: the first Put, the Put before the write, the
	// Release; for a Leak the Get; for something Foreign that is a part of a
	// buffer of this pool, the Get of that.
	There Stack
	// Got is the Get of the owner that misused it, where that is neither of the
	// two.
	Got Stack
}

// Error returns the report with all stacks.
func (m *Misuse) Error() string {
	here, there := "put at", "first put at"
	switch m.Kind {
	case UseAfterPut:
		here, there = "noticed at", "put at"
	case Foreign:
		there = "it is a part of, or was, what was got at"
	case Leak:
		there = "got at"
	case UseAfterRelease:
		here, there = "used at", "released at"
	case ConcurrentUse:
		here = "used at"
	}
	var b strings.Builder
	b.WriteString("pool: " + string(m.Kind))
	if m.Size > 0 {
		b.WriteString(" (" + strconv.Itoa(m.Size) + " bytes)")
	}
	for _, place := range []struct {
		what  string
		stack Stack
	}{{here, m.Here}, {there, m.There}, {"got at", m.Got}} {
		if len(place.stack) > 0 {
			b.WriteString("\n" + place.what + "\n" + place.stack.String())
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tell reports m, if there is any.
func tell(report func(*Misuse), m *Misuse) {
	switch {
	case m == nil:
	case report != nil:
		report(m)
	case m.Kind == Leak:
		// Found on a goroutine of the runtime, where nobody could recover.
		os.Stderr.WriteString(m.Error() + "\n")
	default:
		panic(m)
	}
}

// Stack is a call stack, innermost first.
type Stack []uintptr

func callers() Stack {
	var pcs [32]uintptr
	n := runtime.Callers(2, pcs[:])
	return append(Stack(nil), pcs[:n]...)
}

// Frames returns the calls, innermost first, without those within this package.
func (s Stack) Frames() []runtime.Frame {
	var list []runtime.Frame
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

const packagePath = "github.com/heaptrim/heaptrim/rt/pool."

// String returns the calls as a panic shows them: the function, and below it the
// file and line.
func (s Stack) String() string {
	var b strings.Builder
	for _, f := range s.Frames() {
		b.WriteString("  " + f.Function + "\n      " + f.File + ":" + strconv.Itoa(f.Line) + "\n")
	}
	return b.String()
}
