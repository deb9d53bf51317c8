package command

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// keep moves everything that a run of the program recorded into the bundle.
func (r *execRecorder) keep(s *execSession) (recordedPass, error) {
	rec, err := recorder.Read(s.dir)
	if err != nil {
		return recordedPass{}, err
	}
	if err := r.environment(s, rec); err != nil {
		return recordedPass{}, err
	}
	if len(rec.Windows) == 0 {
		return recordedPass{}, fmt.Errorf("%w: %w%s", errNothing, recorder.ErrNoRecorder, s.lastWords())
	}
	p := recordedPass{files: rec.Windows[0], load: s.load}
	if err := r.warnings(s, rec, p.files); err != nil {
		return p, err
	}
	use := usage(p.files)
	if p.files.CPU == 0 {
		p.files.CPU = use.cpu
	}
	if p.files.Wall == 0 {
		p.files.Wall = use.span // cut short: up to the last sample
	}
	p.allocRate, p.allocated = use.allocRate, use.allocated
	k := keeper{execRecorder: r, s: s, p: p, pass: s.pass.name, peak: s.peak, logFile: s.logFile}
	err = errors.Join(k.cpu(), k.heap(), k.metrics(), k.log(), k.loadOutput())
	for _, f := range rec.Windows[1:] {
		err = errors.Join(err, k.trace(f), k.unprofiled(f))
	}
	return p, err
}

// environment records what the program reports about itself.
func (r *execRecorder) environment(s *execSession, rec recorder.Recording) error {
	e := rec.Environment
	if e.GoVersion == "" {
		return nil
	}
	return r.w.Update(func(m *evidence.Manifest) {
		to := &m.Environment
		to.GoVersion, to.GOOS, to.GOARCH, to.GOMAXPROCS, to.NumCPU = e.GoVersion, e.GOOS, e.GOARCH, e.GOMAXPROCS,
			e.NumCPU
		to.GOGC, to.GOMEMLIMIT, to.GODEBUG = e.GOGC, e.GOMEMLIMIT, os.Getenv("GODEBUG")
	})
}

// warnings records why the recording is incomplete.
func (r *execRecorder) warnings(s *execSession, rec recorder.Recording, f recorder.Result) error {
	list := rec.Notes
	if !f.Complete {
		list = append(list, "the program ended before the recorder could finish (os.Exit outside package main, a "+
			"crash or a kill): the last seconds are missing")
	}
	if err := s.proc.Failure(); err != nil && (f.Exit || !f.Complete) {
		list = append(list, fmt.Sprintf("the program ended with %v", err))
		r.failed = err
	}
	if s.o.Load != "" && s.load.requests == 0 && s.pass.limit == 0 {
		list = append(list, "the load command's output does not say how many requests it made, so figures per request "+
			"are unknown")
	}
	for _, text := range list {
		if err := r.warn("%s pass: %s", s.pass.name, text); err != nil {
			return err
		}
	}
	return nil
}

// keeper keeps the files of one pass.
type keeper struct {
	*execRecorder
	s       *execSession
	p       recordedPass
	pass    string
	peak    int64 // largest resident set
	logFile string
}

// part describes a part that covers the window.
func (k keeper) part(kind evidence.Kind, name string) evidence.Part {
	return evidence.Part{
		Path: k.pass + "/" + name, Kind: kind, Pass: k.pass,
		Ops: k.p.load.requests, Wall: k.p.files.Wall, CPU: k.p.files.CPU, PeakRSS: k.peak,
		OwnLive: k.p.files.Own.Live, OwnResident: k.p.files.Own.Resident,
	}
}

// cpu keeps the parts of the CPU profile, each with its share of the window's work.
// The gaps of about 0.1 s between them belong to no part.
func (k keeper) cpu() error {
	all, err := lengthOf(k.p.files.Files.CPUParts)
	if err != nil {
		return err
	}
	for i, from := range k.p.files.Files.CPUParts {
		prof, err := pprof.Open(from)
		if err != nil {
			return fmt.Errorf("the recorder's CPU profile: %w", err)
		}
		p := k.part(evidence.KindCPU, fmt.Sprintf("cpu-%02d.pprof", i))
		if p.Wall > 0 {
			share := min(1, float64(prof.Duration)/float64(p.Wall))
			p.Ops = int64(float64(p.Ops)*share + 0.5)
			p.CPU = time.Duration(float64(p.CPU) * share)
		}
		if all > 0 {
			share := float64(prof.Duration) / float64(all)
			p.Profiled = time.Duration(float64(k.p.files.Profiled) * share)
			p.MinorFaults = int64(float64(k.p.files.Faults)*share + 0.5)
			p.Sleeps = int64(float64(k.p.files.Sleeps)*share + 0.5)
			p.Cycles = int64(float64(k.p.files.Cycles)*share + 0.5)
			p.Collector = time.Duration(float64(k.p.files.Collector) * share)
		}
		p.Wall = prof.Duration
		if err := k.w.Adopt(k.run, p, from); err != nil {
			return err
		}
	}
	return nil
}

// lengthOf returns the total time that CPU profiles cover.
func lengthOf(files []string) (time.Duration, error) {
	var sum time.Duration
	for _, f := range files {
		prof, err := pprof.Open(f)
		if err != nil {
			return 0, fmt.Errorf("the recorder's CPU profile: %w", err)
		}
		sum += prof.Duration
	}
	return sum, nil
}

// heap keeps the cumulative snapshots: the last minus the first is the window.
func (k keeper) heap() error {
	for i, from := range k.p.files.Files.Heap {
		p := k.part(evidence.KindHeap, fmt.Sprintf("heap-%02d.pprof", i))
		p.Rate, p.Raw = k.p.files.MemRate, true
		if i < len(k.p.files.Files.Heap)-1 {
			p.Ops, p.Wall, p.CPU = 0, 0, 0
		}
		if err := k.w.Add(k.run, p, func(w io.Writer) error { return compress(w, from) }); err != nil {
			return err
		}
	}
	return nil
}

func compress(w io.Writer, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(w)
	if _, err := io.Copy(z, f); err != nil {
		return err
	}
	return z.Close()
}

func (k keeper) metrics() error {
	if k.p.files.Files.Metrics == "" {
		return nil
	}
	return k.w.Adopt(k.run, k.part(evidence.KindMetrics, "metrics.jsonl"), k.p.files.Files.Metrics)
}

func (k keeper) log() error {
	if !k.s.pass.log {
		return nil
	}
	text, err := os.ReadFile(k.logFile)
	if err != nil {
		return err
	}
	if k.p.files.Exit && k.p.files.Files.Forced {
		text = withoutForced(text, 2)
	}
	if len(text) == 0 {
		return k.warn("%s pass: no garbage collection ran in the window", k.pass)
	}
	return k.keepText("gctrace.txt", evidence.KindGCTrace, text)
}

// withoutForced cuts a log before its last n forced cycles, which the recorder forced
// after the window.
func withoutForced(log []byte, n int) []byte {
	end := len(log)
	for ; n > 0; n-- {
		forced := bytes.LastIndex(log[:end], []byte("(forced)"))
		if forced < 0 {
			break
		}
		end = bytes.LastIndexByte(log[:forced], '\n') + 1
	}
	return log[:end]
}

func (k keeper) loadOutput() error {
	if !k.s.pass.log || len(k.p.load.output) == 0 {
		return nil
	}
	return k.keepText("load.txt", evidence.KindLoad, k.p.load.output)
}

func (k keeper) keepText(name string, kind evidence.Kind, text []byte) error {
	return k.w.Add(k.run, k.part(kind, name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// used is the difference between the first and the last metrics sample.
type used struct {
	span      time.Duration
	cpu       time.Duration // without idle time; 0 if unknown
	allocRate float64       // bytes/s
	resident  int64         // largest sample of the resident set; 0 if unknown
	allocated allocated
}

// allocated is what a program allocated in a window.
type allocated struct{ objects, bytes float64 }

// usage reads the window's metrics. Errors in them give zeros, because they are used
// only where better sources are missing.
func usage(f recorder.Result) used {
	file, err := os.Open(f.Files.Metrics)
	if err != nil {
		return used{}
	}
	defer file.Close()
	var first, last evidence.Metrics
	resident := 0.0
	_, err = metrics.Scan(f.Files.Metrics, file, func(m evidence.Metrics) error {
		if first.Values == nil {
			first = m
		}
		last = m
		resident = max(resident, m.Values["/process/rss:bytes"])
		return nil
	})
	span := last.At - first.At
	if err != nil || span <= 0 {
		return used{}
	}
	delta := func(name string) float64 { return last.Values[name] - first.Values[name] }
	busy := delta("/cpu/classes/total:cpu-seconds") - delta("/cpu/classes/idle:cpu-seconds")
	return used{span, time.Duration(busy * float64(time.Second)), delta("/gc/heap/allocs:bytes") / span.Seconds(),
		int64(resident), allocated{delta("/gc/heap/allocs:objects"), delta("/gc/heap/allocs:bytes")}}
}
