// Package recorder holds the Go source that heaptrim adds to a program at
// build time, and the tool's side of the files they speak through.
//
// The recorder does nothing unless [DirVariable] names a directory. It then
// claims that directory (only the first process to come records there), writes
// env.json and waits for a window to be started, by [Start] or at once with
// [Options.Auto]. A window is a folder window-NNN that holds finished files
// only: a program that is killed leaves what was complete by then.
package recorder

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// The environment variables that the recorder reads.
const (
	DirVariable     = "HEAPTRIM_RECORD"
	OptionsVariable = "HEAPTRIM_RECORD_OPTIONS"
)

// Names that the generated source declares and other generated code may call.
const (
	// FlushFunc is func(), finishes the open window; for the end of main.
	FlushFunc = "htrim7qFlush"
	// ExitFunc is func(int), finishes the open window and calls os.Exit.
	ExitFunc = "htrim7qExit"
)

// namePrefix begins every identifier of the generated source.
const namePrefix = "htrim7q"

//go:embed recorder.go.tmpl
var recorderSource []byte

//go:embed heap.go.tmpl
var heapSource []byte

// Render returns the recorder's source for a package of the given name. The
// file needs Go 1.24 or later, imports the standard library only, and declares
// no name that a user's file is likely to declare.
func Render(pkg string) []byte {
	head := bytes.Replace(recorderSource, []byte("package PACKAGE\n"), []byte("package "+pkg+"\n"), 1)
	return append(head, heapSource...)
}

// Own reports whether a function, as pprof spells it, belongs to the recorder.
// Samples that pass through one are the recorder's cost, not the program's.
func Own(function string) bool {
	i := strings.LastIndexByte(function, '/')
	_, rest, found := strings.Cut(function[i+1:], ".")
	return found && strings.HasPrefix(strings.TrimLeft(rest, "(*"), namePrefix)
}

// GC says when a window forces collections to have the allocation profile up
// to date; by default the profile lags by up to two cycles.
type GC string

// The choices for forced collections.
const (
	NeverGC GC = ""
	GCAtEnd GC = "1"    // two before the first snapshot and two before the last
	GCExit  GC = "exit" // two before the last one, when the program is ending
)

// Window chooses what a window records. The zero value records everything.
type Window struct {
	NoCPU    bool          // no CPU profile
	GC       GC            // forced collections; default none
	HeapSnap time.Duration // least distance of heap snapshots; 0 means 250 ms, negative none at all
	Metrics  time.Duration // distance of runtime/metrics samples; 0 means 50 ms, negative none
	Max      time.Duration // ends the window by itself; 0 means never
}

func (w Window) list() string {
	set := func(d, zero time.Duration) time.Duration {
		if d == 0 {
			return zero
		}
		return max(d, 0)
	}
	cpu := 1
	if w.NoCPU {
		cpu = 0
	}
	gc := string(w.GC)
	if gc == "" {
		gc = "0"
	}
	return fmt.Sprintf("cpu=%d,gc=%s,heapsnap=%s,metrics=%s,max=%s", cpu, gc,
		set(w.HeapSnap, 250*time.Millisecond), set(w.Metrics, 50*time.Millisecond), w.Max)
}

// Options tells the recorder of one process what to do. The zero value waits
// for [Start] and leaves the program's sampling rate alone.
type Options struct {
	MemRate int64  // bytes a heap sample; 0 leaves the rate alone
	Auto    bool   // start a window when the package is initialised
	Window  Window // of Auto; Start brings its own
	GODEBUG string // the program's own value, kept in what Env returns
}

// Env returns the environment variables, in the form of os/exec, that make a
// program with the recorder in it record into dir, which must be absolute and
// must exist. MemRate is set through GODEBUG too, which takes effect before any
// package is initialised; GODEBUG is among the result only then.
func Env(dir string, o Options) []string {
	list := o.Window.list()
	if o.Auto {
		list += ",auto=1"
	}
	env := []string{DirVariable + "=" + dir}
	if o.MemRate > 0 {
		list += fmt.Sprintf(",memrate=%d", o.MemRate)
		debug := fmt.Sprintf("memprofilerate=%d", o.MemRate)
		if o.GODEBUG != "" {
			debug = o.GODEBUG + "," + debug
		}
		env = append(env, "GODEBUG="+debug)
	}
	return append(env, OptionsVariable+"="+list)
}
