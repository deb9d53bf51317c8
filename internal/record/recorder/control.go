package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// ErrNoRecorder means that no recorder in the program answers.
var ErrNoRecorder = errors.New("the program's recorder does not answer")

// pollEvery is a quarter of the recorder's own polling interval.
const pollEvery = 25 * time.Millisecond

// Claimed reports whether a process has begun to record into dir.
func Claimed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "env.json"))
	return err == nil
}

// Start begins a window in the process that records into dir and returns when
// it is recording. The error wraps ErrNoRecorder when ctx ends before that.
func Start(ctx context.Context, dir string, o Options) error {
	before, err := windows(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "start")
	if err := os.WriteFile(path+".tmp", []byte(o.list()), 0o644); err != nil {
		return fmt.Errorf("start recording: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("start recording: %w", err)
	}
	return wait(ctx, "start recording", func() bool {
		now, err := windows(dir)
		return err == nil && len(now) > len(before) && exists(now[len(now)-1], "ready")
	})
}

// Stop ends the window of dir and returns when its files are complete. It
// returns nil at once when no window is open.
func Stop(ctx context.Context, dir string) error {
	list, err := windows(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	if exists(last, "done") {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o644); err != nil {
		return fmt.Errorf("stop recording: %w", err)
	}
	return wait(ctx, "stop recording", func() bool { return exists(last, "done") })
}

func wait(ctx context.Context, what string, done func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (%w)", what, ErrNoRecorder, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func windows(dir string) ([]string, error) {
	// ReadDir sorts by name, and the numbers are padded with zeros.
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "window-") {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, nil
}

// Recording is what a process has recorded into its directory.
type Recording struct {
	Environment evidence.Environment // of the program; zero if it never started to record
	Settings    map[string]string    // build settings, as in runtime/debug.BuildInfo
	Package     string               // import path of the main package, as built
	Notes       []string             // why the recording is incomplete
	Windows     []Result
}

// Result lists the finished files of one window.
type Result struct {
	Dir      string
	Complete bool          // false: the program was killed before the window ended
	Exit     bool          // the program's end also ended the window
	Wall     time.Duration // of the window; 0 if not complete
	Start    time.Time     // of the window
	CPU      time.Duration // of the process during the window; 0 if unknown
	Profiled time.Duration // the part of CPU during which the CPU profile ran; 0 if unknown
	Faults   int64         // page faults without disk access while profiled
	Sleeps   int64         // times that a thread went to sleep while profiled
	Cycles   int64         // collections while profiled, forced ones included
	// Collector is the CPU time, as the runtime accounts for it, of the collections that
	// ended while profiled. Idle marking is not included.
	Collector time.Duration
	Began     time.Duration // start of the window, counted from the start of the recorder
	MemRate   int64         // bytes per heap sample
	Own       Weight
	Files     Leavings
}

// Weight is the memory of the process that is the recorder's, in bytes, by its own
// measurement at the end of a window.
type Weight struct {
	Allocated int64 // excluded from the last snapshot
	Live      int64 // of the live heap
	// Resident is the part of the resident set: Live, and the pages of files, such as the
	// executable's symbol tables, that became resident while the recorder worked.
	Resident int64
}

// Leavings are the files of a window.
type Leavings struct {
	// gzipped CPU profiles, in order; together they cover the window except for gaps of
	// about 0.1 s
	CPUParts []string
	Heap     []string // uncompressed cumulative profiles, in order; the first is from the start of the window
	Forced   bool     // the last of Heap was taken after forced collections
	Metrics  string   // metrics.jsonl; empty if not recorded
	Paces    string   // paces.jsonl, read by package cyclecost; empty if not recorded
	Trace    string   // execution trace; empty if not recorded or not finished
}

// marker is the content of the ready and done files.
type marker struct {
	At       time.Duration `json:"t_ns"`
	Unix     int64         `json:"unix_ns"`
	Wall     time.Duration `json:"wall_ns"`
	CPU      int64         `json:"window_cpu_ns"`
	Profiled int64         `json:"profiled_cpu_ns"`
	Faults   int64         `json:"profiled_minor_faults"`
	Sleeps   int64         `json:"profiled_sleeps"`
	Cycles   int64         `json:"profiled_cycles"`

	Collector time.Duration `json:"profiled_collector_ns"`
	Total     int64         `json:"cpu_ns"`
	MemRate   int64         `json:"memrate"`
	OwnBytes  int64         `json:"own_alloc_bytes"`
	OwnLive   int64         `json:"own_live_bytes"`
	OwnFiles  int64         `json:"own_file_bytes"`
	Why       string        `json:"why"`
}

// Files returns the latest window of dir. It fails if there is none.
func Files(dir string) (Result, error) {
	r, err := Read(dir)
	if err != nil {
		return Result{}, err
	}
	if len(r.Windows) == 0 {
		return Result{}, fmt.Errorf("read recording %s: %w", dir, ErrNoRecorder)
	}
	return r.Windows[len(r.Windows)-1], nil
}

// Read returns what a process has recorded into dir so far. If the program was killed,
// that is not an error, but its last window is incomplete.
func Read(dir string) (Recording, error) {
	var r Recording
	list, err := windows(dir)
	if err != nil {
		return r, err
	}
	var env struct {
		evidence.Environment
		Settings map[string]string `json:"settings"`
		Package  string            `json:"package"`
	}
	var state struct {
		Notes []string `json:"notes"`
	}
	if err := readJSON(filepath.Join(dir, "env.json"), &env); err != nil {
		return r, err
	}
	if err := readJSON(filepath.Join(dir, "recorder.json"), &state); err != nil {
		return r, err
	}
	r.Environment, r.Settings, r.Package, r.Notes = env.Environment, env.Settings, env.Package, state.Notes
	r.Environment.Experiment = env.Settings["GOEXPERIMENT"]
	for _, w := range list {
		f, err := readWindow(w)
		if err != nil {
			return r, err
		}
		r.Windows = append(r.Windows, f)
	}
	return r, nil
}

func readWindow(dir string) (Result, error) {
	f := Result{Dir: dir, Complete: exists(dir, "done")}
	var ready, done marker
	if err := readJSON(filepath.Join(dir, "ready"), &ready); err != nil {
		return f, err
	}
	if err := readJSON(filepath.Join(dir, "done"), &done); err != nil {
		return f, err
	}
	f.Began, f.MemRate, f.Start = ready.At, ready.MemRate, time.Unix(0, ready.Unix)
	if f.Complete {
		f.Wall, f.Exit = done.Wall, done.Why == "exit"
		f.Own = Weight{Allocated: done.OwnBytes, Live: max(done.OwnLive, 0),
			Resident: max(done.OwnLive, 0) + max(done.OwnFiles, 0)}
		if ready.Total >= 0 && done.CPU > 0 {
			f.CPU = time.Duration(done.CPU)
			f.Profiled, f.Faults, f.Sleeps, f.Cycles = time.Duration(max(done.Profiled,
				0)), done.Faults, done.Sleeps, done.Cycles
			f.Collector = max(done.Collector, 0)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, fmt.Errorf("read recording: %w", err)
	}
	end := ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch name := e.Name(); {
		case strings.HasPrefix(name, "cpu-"):
			f.Files.CPUParts = append(f.Files.CPUParts, path)
		case strings.HasPrefix(name, "heap-"):
			f.Files.Heap = append(f.Files.Heap, path)
		case name == "end.pb":
			end = path
		case name == "metrics.jsonl":
			f.Files.Metrics = path
		case name == "paces.jsonl":
			f.Files.Paces = path
		case name == "trace.out":
			f.Files.Trace = path
		}
	}
	byNumber := func(a, b string) int {
		if len(a) != len(b) { // more than 999 files: the padding is too narrow
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	}
	slices.SortFunc(f.Files.CPUParts, byNumber)
	slices.SortFunc(f.Files.Heap, byNumber)
	if end != "" {
		f.Files.Heap, f.Files.Forced = append(f.Files.Heap, end), true
	}
	return f, nil
}

// readJSON leaves v unchanged if the file does not exist or is empty: the program may
// have been killed before it wrote the file.
func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read recording: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read recording: %s: %w", path, err)
	}
	return nil
}
