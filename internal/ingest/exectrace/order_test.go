package exectrace_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// told is an event in words of its own, so that those of two readers can be
// compared.
type told struct {
	exectrace.Event        // without the numbers of strings and stacks
	text, more      string // what those were
	frames          []exectrace.Frame
}

func (e told) equal(o told) bool {
	return e.Event == o.Event && e.text == o.text && e.more == o.more && slices.Equal(e.frames, o.frames)
}

// ours tells an event of Events.
func ours(ev *exectrace.Event, n *exectrace.Names) told {
	e := told{Event: *ev, text: n.Text(ev.Text), frames: slices.Collect(n.Frames(ev.Stack))}
	if ev.Kind == exectrace.EventLog {
		e.Value, e.more = 0, n.Text(exectrace.Text(ev.Value))
	}
	e.Text, e.Stack = 0, 0
	return e
}

var goStates = map[trace.GoState]exectrace.State{
	trace.GoUndetermined: exectrace.Undetermined, trace.GoNotExist: exectrace.NotExist, trace.GoRunnable: exectrace.Runnable,
	trace.GoRunning: exectrace.Running, trace.GoWaiting: exectrace.Waiting, trace.GoSyscall: exectrace.Syscall,
}

var procStates = map[trace.ProcState]exectrace.State{
	trace.ProcUndetermined: exectrace.Undetermined, trace.ProcNotExist: exectrace.NotExist,
	trace.ProcRunning: exectrace.Running, trace.ProcIdle: exectrace.Idle,
}

// theirs tells an event of x/exp/trace.
func theirs(ev trace.Event) told {
	e := told{Event: exectrace.Event{Time: int64(ev.Time()), Goroutine: int64(ev.Goroutine()), Thread: int64(ev.Thread())}}
	stack := ev.Stack()
	switch ev.Kind() {
	case trace.EventSync:
		e.Kind, e.Value = exectrace.EventSync, uint64(ev.Sync().N)
	case trace.EventStateTransition:
		stack = e.transition(ev.StateTransition())
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		e.span(ev)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		x := ev.Task()
		e.Kind, e.Subject, e.Value, e.text = exectrace.EventTaskBegin, int64(x.ID), uint64(x.Parent), x.Type
		if ev.Kind() == trace.EventTaskEnd {
			e.Kind = exectrace.EventTaskEnd
		}
	case trace.EventRegionBegin, trace.EventRegionEnd:
		x := ev.Region()
		e.Kind, e.Subject, e.text = exectrace.EventRegionBegin, int64(x.Task), x.Type
		if ev.Kind() == trace.EventRegionEnd {
			e.Kind = exectrace.EventRegionEnd
		}
	case trace.EventLog:
		x := ev.Log()
		e.Kind, e.Subject, e.text, e.more = exectrace.EventLog, int64(x.Task), x.Category, x.Message
	case trace.EventMetric:
		x := ev.Metric()
		e.Kind, e.Value = exectrace.EventMetric, x.Value.Uint64()
		e.Subject = map[string]int64{
			"/sched/gomaxprocs:threads": exectrace.MetricProcs, "/memory/classes/heap/objects:bytes": exectrace.MetricHeapLive,
			"/gc/heap/goal:bytes": exectrace.MetricHeapGoal,
		}[x.Name]
	case trace.EventLabel:
		x := ev.Label()
		e.Kind, e.Subject, e.text = exectrace.EventLabel, int64(x.Resource.Goroutine()), x.Label
	case trace.EventStackSample:
		e.Kind = exectrace.EventSample
	case trace.EventExperimental:
		e.Kind = exectrace.EventExperimental
	}
	for f := range stack.Frames() {
		e.frames = append(e.frames, exectrace.Frame{PC: f.PC, Func: f.Func, File: f.File, Line: int(f.Line)})
	}
	return e
}

func (e *told) transition(s trace.StateTransition) trace.Stack {
	if s.Resource.Kind == trace.ResourceProc {
		from, to := s.Proc()
		e.Kind, e.Subject, e.From, e.To = exectrace.EventProc, int64(s.Resource.Proc()), procStates[from], procStates[to]
		return trace.NoStack
	}
	from, to := s.Goroutine()
	e.Kind, e.Subject, e.From, e.To = exectrace.EventGoroutine, int64(s.Resource.Goroutine()), goStates[from], goStates[to]
	e.text = s.Reason
	return s.Stack
}

func (e *told) span(ev trace.Event) {
	x := ev.Range()
	e.Kind = map[trace.EventKind]exectrace.EventKind{
		trace.EventRangeBegin: exectrace.EventRangeBegin, trace.EventRangeActive: exectrace.EventRangeActive, trace.EventRangeEnd: exectrace.EventRangeEnd,
	}[ev.Kind()]
	switch x.Name {
	case "GC concurrent mark phase":
		e.Range, e.Subject = exectrace.RangeMark, exectrace.None
	case "GC mark assist":
		e.Range, e.Subject = exectrace.RangeAssist, int64(x.Scope.Goroutine())
	case "GC incremental sweep":
		e.Range, e.Subject = exectrace.RangeSweep, int64(x.Scope.Proc())
		if ev.Kind() == trace.EventRangeEnd {
			e.Value = ev.RangeAttributes()[0].Value.Uint64()
		}
	default:
		e.Range, e.Subject = exectrace.RangeStop, int64(x.Scope.Goroutine())
		e.text = x.Name[len("stop-the-world (") : len(x.Name)-1]
	}
}

// sameEvents holds all events of a trace against x/exp/trace's. It returns how
// many there were of each kind, and the errors of both.
func sameEvents(t testing.TB, name string, data []byte) (counts map[exectrace.EventKind]int, err, theirErr error) {
	t.Helper()
	counts, wrong, err, theirErr := compareEvents(data)
	for _, w := range wrong[:min(3, len(wrong))] {
		t.Errorf("%s, %s", name, w)
	}
	return counts, err, theirErr
}

// compareEvents compares one by one, and tells where the two readers differ.
func compareEvents(data []byte) (counts map[exectrace.EventKind]int, wrong []string, err, theirErr error) {
	counts = map[exectrace.EventKind]int{}
	ref, theirErr := trace.NewReader(bytes.NewReader(data))
	total, beyond := 0, 0
	err = exectrace.Events(bytes.NewReader(data), exectrace.AllKinds, func(ev *exectrace.Event, n *exectrace.Names) {
		if theirErr != nil {
			beyond++
			return
		}
		counts[ev.Kind]++
		total++
		var want trace.Event
		if want, theirErr = ref.ReadEvent(); theirErr != nil {
			beyond++
			return
		}
		if g, w := ours(ev, n), theirs(want); !g.equal(w) {
			wrong = append(wrong, fmt.Sprintf("event %d:\ngot  %+v\nwant %+v", total, g, w))
		}
	})
	if theirErr == nil {
		_, theirErr = ref.ReadEvent()
	}
	if theirErr == io.EOF { // wrapped it is an error: a table is cut short
		theirErr = nil
	}
	// An event whose successor cannot be read is given here, and not there.
	if beyond > 3 {
		wrong = append(wrong, fmt.Sprintf("%d events more than the reference has, which says %v", beyond, theirErr))
	}
	return counts, wrong, err, theirErr
}

// TestEventsAgree holds events against the reference's on traces of every
// format.
func TestEventsAgree(t *testing.T) {
	for _, name := range []string{"go1.24", "go1.25", "go1.26", "go1.27", "go1.24-long", "go1.26-long"} {
		counts, err, theirErr := sameEvents(t, name, readTestdata(t, name))
		if err != nil || theirErr != nil {
			t.Errorf("%s: got error %v, the reference's is %v", name, err, theirErr)
		}
		t.Log(name, counts)
	}
	for name, data := range map[string][]byte{"recorded": recordTrace(t), "everything": recordEverything(t)} {
		counts, err, theirErr := sameEvents(t, name, data)
		if err != nil || theirErr != nil {
			t.Errorf("%s: got error %v, the reference's is %v", name, err, theirErr)
		}
		t.Log(name, counts)
	}
}

// TestEventsOfNamedTrace holds events against the reference's on the trace that
// HEAPTRIM_TRACE names, such as a large one of lab/trace.
func TestEventsOfNamedTrace(t *testing.T) {
	name := os.Getenv("HEAPTRIM_TRACE")
	if name == "" {
		t.Skip("HEAPTRIM_TRACE names no trace")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	counts, err, theirErr := sameEvents(t, name, data)
	if err != nil || theirErr != nil {
		t.Errorf("got error %v, the reference's is %v", err, theirErr)
	}
	t.Log(counts)
}

// TestEventsOfGoTraces reads the traces by which Go, in several releases, and
// x/exp/trace test their own reader: those that hold, those that must fail, and
// what its fuzzing found. Where the reference fails, so does Events.
func TestEventsOfGoTraces(t *testing.T) {
	read, failed := 0, 0
	for _, file := range goTraceFiles(t) {
		name, data := goTraceData(t, file)
		if data == nil {
			continue
		}
		_, err, theirErr := sameEvents(t, name, data)
		if (err == nil) != (theirErr == nil) {
			t.Errorf("%s: got error %v, the reference's is %.300v", name, err, theirErr)
		}
		read++
		if err != nil {
			failed++
		}
	}
	t.Logf("%d traces, of which %d are to fail", read, failed)
}

// TestEventsOfPrefixes cuts traces of several generations everywhere, and
// expects the events of what was complete before, and the error of Scan.
func TestEventsOfPrefixes(t *testing.T) {
	for _, name := range []string{"go1.24-long", "go1.26-long"} {
		data := readTestdata(t, name)
		count := func(data []byte) (n int, last int64, err error) {
			err = exectrace.Events(bytes.NewReader(data), exectrace.AllKinds, func(ev *exectrace.Event, _ *exectrace.Names) { n, last = n+1, ev.Time })
			return n, last, err
		}
		ends, _ := generationEnds(t, data)
		type part struct {
			n    int
			last int64
		}
		var whole []part
		for _, end := range ends {
			n, last, _ := count(data[:end])
			whole = append(whole, part{n, last})
		}
		for cut := 17; cut < len(data); cut += 1 + len(data)/150 {
			s, wantErr := exectrace.Scan(bytes.NewReader(data[:cut]), exectrace.Options{})
			n, last, err := count(data[:cut])
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s cut at %d: got error %v, Scan has %v", name, cut, err, wantErr)
			}
			if want := whole[s.Read.Generations]; err != nil && (part{n, last}) != want {
				t.Fatalf("%s cut at %d, after %d generations: got %d events until %d, want %+v", name, cut, s.Read.Generations, n, last, want)
			}
		}
	}
}

// TestEventsMemory reads a trace of very many generations, and asserts that
// none of them is kept.
func TestEventsMemory(t *testing.T) {
	read := func(generations uint64) float64 {
		w := newWire("1.22")
		for g := uint64(1); g <= generations; g++ {
			w.clock(g)
			for at := range uint64(20) {
				w.batch(g, at, g*1000+at, append([]byte{13, 1, byte(at), 1}, bytes.Repeat([]byte{37, 1, 100}, 10_000)...))
			}
		}
		data := w.Bytes()
		return testing.AllocsPerRun(1, func() {
			err := exectrace.Events(bytes.NewReader(data), exectrace.KindsOf(exectrace.EventSync), func(*exectrace.Event, *exectrace.Names) {})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	// Each generation takes its threads and tables, and nothing for its 200,000
	// events.
	if few, many := read(4), read(24); many-few > 20*200 {
		t.Errorf("%v allocations for 4 generations, %v for 24", few, many)
	}
}

// TestEventsVisitorPanics has a visitor that gives up: who reads ahead must not
// be left behind.
func TestEventsVisitorPanics(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		defer func() { _ = recover() }()
		_ = exectrace.Events(bytes.NewReader(readTestdata(t, "go1.26")), exectrace.AllKinds, func(*exectrace.Event, *exectrace.Names) { panic("enough") })
	}()
	for range 60_000 { // who is done may be counted for a moment yet
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
