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
	"slices"
	"time"
)

// The environment variables that the recorder reads.
const (
	dirVariable     = "HEAPTRIM_RECORD"
	optionsVariable = "HEAPTRIM_RECORD_OPTIONS"
)

// Names that the generated source declares and other generated code may call.
const (
	// FlushFunc is func(), finishes the open window; for the end of main.
	FlushFunc = "htrim7qFlush"
	// ExitFunc is func(int), finishes the open window and calls os.Exit.
	ExitFunc = "htrim7qExit"
	// TaskFunc is func(*Server, **Request) func() in what RequestTasks returns:
	// it begins a task for a request and returns what ends it.
	TaskFunc = "htrim7qTask"
)

//go:embed recorder.go.tmpl
var recorderSource []byte

//go:embed state.go.tmpl
var stateSource []byte

//go:embed heap.go.tmpl
var heapSource []byte

//go:embed use.go.tmpl
var useSource []byte

//go:embed delays.go.tmpl
var delaysSource []byte

//go:embed paces.go.tmpl
var pacesSource []byte

// Render returns the recorder's source for a package of the given name. The
// file needs Go 1.24 or later, imports the standard library only, and declares
// no name that a user's file is likely to declare.
func Render(pkg string) []byte {
	head := bytes.Replace(recorderSource, []byte("package PACKAGE\n"), []byte("package "+pkg+"\n"), 1)
	return slices.Concat(head, stateSource, useSource, heapSource, delaysSource, pacesSource)
}

//go:embed http.go.tmpl
var httpSource []byte

// RequestTasks returns the source of a file for package net/http, of Go 1.25
// or later, that declares [TaskFunc]. It does nothing while the program is not
// being traced.
func RequestTasks() []byte { return bytes.Clone(httpSource) }

// LeastStretch is how long the recorder goes on collecting at one of its
// [Options.Paces], at least.
const LeastStretch = 20 * time.Millisecond

// Options tells the recorder of one process what to do. The zero value waits
// for [Start], leaves the program's sampling rate alone, and records heap
// snapshots and metrics in a window.
type Options struct {
	// Of Env only.
	MemRate int64  // bytes a heap sample; 0 leaves the rate alone
	Auto    bool   // start a window when the package is initialised
	GODEBUG string // the program's own value, kept in what Env returns

	// Of a window: the one of Auto, or the one that Start begins.
	CPU bool // take a CPU profile
	// force two collections before the first snapshot and before the last, which has the profile up to date; without,
	// it lags by up to two cycles
	GC       bool
	GCAtExit bool          // force two before the last snapshot when the window ends with the program
	HeapSnap time.Duration // least distance of heap snapshots; 0 means 250 ms, negative none at all
	Metrics  time.Duration // distance of runtime/metrics samples; 0 means 100 ms, negative none
	Max      time.Duration // ends the window by itself; 0 means never
	// two stretches of four, collect at so many times the distance of cycles, where GOGC alone sets that; 0 never does
	Paces int
	Trace int64 // take an execution trace, and end the window when it is larger than so many bytes; 0 takes none
}

func (o Options) list() string {
	set := func(d, zero time.Duration) time.Duration {
		if d == 0 {
			return zero
		}
		return max(d, 0)
	}
	cpu, gc := 0, "0"
	if o.CPU {
		cpu = 1
	}
	switch {
	case o.GC:
		gc = "1"
	case o.GCAtExit:
		gc = "exit"
	}
	list := fmt.Sprintf("cpu=%d,gc=%s,heapsnap=%s,metrics=%s,max=%s", cpu, gc,
		set(o.HeapSnap, 250*time.Millisecond), set(o.Metrics, 100*time.Millisecond), o.Max)
	if o.Paces > 0 {
		list += fmt.Sprintf(",paces=%d", o.Paces)
	}
	if o.Trace > 0 {
		list += fmt.Sprintf(",trace=%d", o.Trace)
	}
	return list
}

// Env returns the environment variables, in the form of os/exec, that make a
// program with the recorder in it record into dir, which must be absolute and
// must exist. MemRate is set through GODEBUG too, which takes effect before any
// package is initialised; GODEBUG is among the result only then.
func Env(dir string, o Options) []string {
	list := o.list()
	if o.Auto {
		list += ",auto=1"
	}
	env := []string{dirVariable + "=" + dir}
	if o.MemRate > 0 {
		list += fmt.Sprintf(",memrate=%d", o.MemRate)
		debug := fmt.Sprintf("memprofilerate=%d", o.MemRate)
		if o.GODEBUG != "" {
			debug = o.GODEBUG + "," + debug
		}
		env = append(env, "GODEBUG="+debug)
	}
	return append(env, optionsVariable+"="+list)
}
