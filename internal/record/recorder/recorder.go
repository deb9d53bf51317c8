// Package recorder holds the Go source that heaptrim adds to a program at build time.
// It also reads and writes the files through which heaptrim and that source
// communicate.
//
// The recorder does nothing unless HEAPTRIM_RECORD names a directory. The first process
// that finds the directory claims it; only that process records there. It writes
// env.json and waits until [Start] starts a window, or starts one at once with
// [Options.Auto]. A window is a folder window-NNN with finished files only: a killed
// program leaves all files that were complete by then.
package recorder

import (
	"bytes"
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// The environment variables that the recorder reads.
const (
	dirVariable     = "HEAPTRIM_RECORD"
	optionsVariable = "HEAPTRIM_RECORD_OPTIONS"
)

// Names that the generated source declares. Other generated code may call them.
const (
	// FlushFunc is a func() that finishes the open window, called at the end of main.
	FlushFunc = "htrim7qFlush"
	// ExitFunc is a func(int) that finishes the open window and calls os.Exit.
	ExitFunc = "htrim7qExit"
	// TaskFunc is a func(*Server, **Request) func() in the source of RequestTasks. It
	// begins a trace task for a request and returns the function that ends it.
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

//go:embed file.go.tmpl
var fileSource []byte

//go:embed wait_linux.go.tmpl
var waitLinuxSource []byte

//go:embed wait_other.go.tmpl
var waitOtherSource []byte

// Render returns the recorder's source for a package of the given name. The file needs
// Go 1.24 or later and imports only the standard library. It is for the system that
// heaptrim runs on. The prefix of its names avoids collisions with the user's.
func Render(pkg string) []byte {
	head := bytes.Replace(recorderSource, []byte("package PACKAGE\n"), []byte("package "+pkg+"\n"), 1)
	wait := waitOtherSource
	if runtime.GOOS == "linux" {
		wait = waitLinuxSource
	}
	return slices.Concat(head, stateSource, useSource, fileSource, wait, heapSource, delaysSource, pacesSource)
}

//go:embed http.go.tmpl
var httpSource []byte

// RequestTasks returns the source of a file for package net/http that declares
// [TaskFunc]. It needs Go 1.25 or later and does nothing while the program is not
// traced.
func RequestTasks() []byte { return bytes.Clone(httpSource) }

// LeastStretch is the least time that the recorder keeps one GOGC value when
// [Options.Paces] is set.
const LeastStretch = 20 * time.Millisecond

// Options tells the recorder of one process what to do. With the zero value it waits
// for [Start], keeps the program's sampling rate, and records heap snapshots and
// metrics in a window.
type Options struct {
	// Used by Env only.
	MemRate int64  // bytes per heap sample; 0 keeps the program's rate
	Auto    bool   // start a window when the package is initialised
	GODEBUG string // the program's own value; the result of Env includes it

	// For a window, whether started by Auto or by Start.
	CPU bool // take a CPU profile
	// Force two collections before the first and before the last snapshot, so that the
	// allocation profile is up to date. Otherwise it lags by up to two cycles.
	GC       bool
	GCAtExit bool          // force two collections before the last snapshot if the window ends with the program
	HeapSnap time.Duration // least interval between heap snapshots; 0 means 250 ms, negative means none
	Metrics  time.Duration // interval between runtime/metrics samples; 0 means 100 ms, negative means none
	Max      time.Duration // the window ends after that; 0 means no limit
	// In two of every four stretches, multiply GOGC by this factor, if GOGC alone sets the
	// heap goal. 0 means never.
	Paces int
	Trace int64 // take an execution trace and end the window when it exceeds this many bytes; 0 means no trace
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

// Env returns the environment variables, in the form of os/exec, for a program with
// the recorder to record into dir. dir must be absolute and must exist. MemRate is
// also set through GODEBUG, which takes effect before any package is initialised. The
// result contains GODEBUG only if MemRate is set.
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
