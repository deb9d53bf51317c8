// Package live records a running service over net/http/pprof: what its profiles gain
// during a window.
package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/record/memstats"
	"github.com/heaptrim/heaptrim/internal/record/secret"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Options says which running service to record and for how long.
type Options struct {
	URL       string        // such as http://host:6060, with or without /debug/pprof
	For       time.Duration // length of the window in whole seconds; 0 means 30s
	Snapshots int           // heap profiles inside the window, at most 8; 0 means 4, negative means none
	Trace     time.Duration // length of an execution trace that follows the window; 0 takes none
	ForceGC   bool          // force a collection before the window and one after it
	Timeout   time.Duration // for one answer, in addition to the time it needs by design; 0 means 30s
	MaxBytes  unit.Bytes    // of one answer; 0 means 512 MiB
	Progress  func(format string, args ...any)
}

const (
	maxSnapshots = 8
	// closingTime is how long an interrupted recording may take to fetch the snapshots at
	// the end of its window.
	closingTime = 5 * time.Second
)

// Record records a service with net/http/pprof into w: a CPU profile over a window,
// the cumulative allocation profile and runtime.MemStats before and after it, and heap
// profiles in between. It forces collections only with ForceGC. Parts that cannot be
// fetched become warnings in the manifest; if no profile can be fetched, Record returns
// an error. When ctx ends, it closes the window early, keeps what it has and returns
// ctx's error.
func Record(ctx context.Context, o Options, w *bundle.Writer) error {
	o = o.withDefaults()
	server, err := newPprofServer(o)
	if err != nil {
		return err
	}
	r := &liveRecorder{o: o, w: w, server: server}
	// This comes first, so that the manifest never holds a password from the address.
	err = w.Update(func(m *evidence.Manifest) {
		m.Target.Kind, m.Target.Args = evidence.TargetLive, []string{server.String()}
	})
	if err != nil {
		return err
	}
	if err := server.probe(ctx); err != nil {
		return err
	}
	if err := r.describe(ctx); err != nil {
		return err
	}
	r.run, r.began = w.Run(evidence.Run{Name: "service"}), time.Now()
	r.unprofiled(ctx)
	r.edge(ctx, "start")
	r.window(ctx)
	closing, cancel := ctx, context.CancelFunc(func() {})
	if ctx.Err() != nil && r.parts() > 0 {
		r.o.Progress("interrupted: fetching the end of the window")
		closing, cancel = context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	}
	defer cancel()
	r.edge(closing, "end")
	r.keepGoroutines()
	r.trace(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !w.Measured():
		return fmt.Errorf("no profile could be recorded from %s: %w", server, r.firstFailure)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.For <= 0 {
		o.For = 30 * time.Second
	}
	// The profile handler accepts only whole seconds.
	o.For = max(time.Second, o.For.Round(time.Second))
	if o.Snapshots == 0 {
		o.Snapshots = 4
	}
	o.Snapshots = min(max(o.Snapshots, 0), maxSnapshots)
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 512 * unit.MiB
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return o
}

// liveRecorder makes one recording of one service.
type liveRecorder struct {
	o      Options
	w      *bundle.Writer
	server *pprofServer
	run    int

	process func() (usage, bool) // of the service; nil if it does not run on this machine

	allocsAt, memStatsAt time.Time // of the snapshots at the start of the window
	began                time.Time
	goroutines           bytes.Buffer // metrics samples, one per line

	mu           sync.Mutex
	kept         int // parts
	firstFailure error
}

// describe records what the service reports about itself. Failures become warnings.
func (r *liveRecorder) describe(ctx context.Context) error {
	command, err := r.server.command(ctx)
	if err != nil && ctx.Err() == nil {
		r.fail("command line", err)
	}
	pid, env, built := r.server.local(ctx, command)
	if pid != "" {
		r.process = func() (usage, bool) { return usageOf(os.DirFS("/"), pid) }
	}
	return r.w.Update(func(m *evidence.Manifest) {
		m.Target.Command, m.Environment = secret.Args(command), env
		m.Target.Module, m.Target.Dependencies = built.main, built.dependencies
	})
}

// unprofiled observes the service without any profile. A CPU profile lies on its heap.
func (r *liveRecorder) unprofiled(ctx context.Context) {
	length := min(r.o.For/2, mostUnprofiled)
	if r.memStats(ctx, "first") == nil {
		r.o.Progress("observing %s without a profile for %v", r.server, length)
		waitUntil(ctx, time.Now().Add(length))
	}
}

// mostUnprofiled is the longest window without a profile.
const mostUnprofiled = 5 * time.Second

// edge takes the cumulative figures at one end of the window. The text form with
// MemStats stops the service for longest, so it is taken outside of the allocation
// profiles.
func (r *liveRecorder) edge(ctx context.Context, end string) {
	if ctx.Err() != nil {
		return
	}
	if end == "start" {
		_ = r.memStats(ctx, end) // a failure is in the manifest
	}
	r.allocs(ctx, end)
	r.countGoroutines(ctx)
	if end == "end" {
		_ = r.memStats(ctx, end)
	}
}

// window takes the CPU profile and, at the same time, the heap profiles. It lasts the
// full time even without a CPU profile, because the allocation profiles at its ends
// need it too.
func (r *liveRecorder) window(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	r.o.Progress("recording %v of %s", r.o.For, r.server)
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var profiled sync.WaitGroup
	profiled.Go(func() {
		r.cpu(ctx)
		if r.parts() == 0 {
			giveUp() // neither a part before the window nor one in it
		}
	})
	defer profiled.Wait()
	start := time.Now()
	for i := 1; i <= r.o.Snapshots; i++ {
		due := r.o.For * time.Duration(i) / time.Duration(r.o.Snapshots+1)
		if time.Since(start) >= r.o.For || !waitUntil(ctx, start.Add(due)) {
			break
		}
		r.o.Progress("heap profile %d of %d", i, r.o.Snapshots)
		r.heap(ctx, i)
		r.countGoroutines(ctx)
	}
	waitUntil(ctx, start.Add(r.o.For))
}

// waitUntil reports whether t came before ctx ended.
func waitUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

func (r *liveRecorder) cpu(ctx context.Context) {
	q := query{path: "profile", args: fmt.Sprintf("seconds=%d", int(r.o.For.Seconds())), takes: r.o.For}
	p := evidence.Part{Path: "service/cpu.pprof", Kind: evidence.KindCPU, Pass: evidence.PassService, Wall: r.o.For}
	// Up to the end of the profile: the service then uses time to write it.
	waiting, stop := context.WithCancel(ctx)
	var used sync.WaitGroup
	var use usage
	used.Go(func() { use = r.used(waiting, r.o.For) })
	name, _, err := r.fetch(ctx, q, p, "cpu")
	stop()
	used.Wait()
	if p.Profiled, p.Sleeps = use.cpu, use.sleeps; err == nil {
		err = r.w.Adopt(r.run, p, name)
	}
	r.note(ctx, "CPU profile", err)
}

// allocs takes the cumulative allocation profile. Wall of the second one is the time
// since the first, by the service's clock.
func (r *liveRecorder) allocs(ctx context.Context, end string) {
	q := query{path: "allocs"}
	if r.o.ForceGC {
		// Only this handler can force a collection; its columns are the same.
		q = query{path: "heap", args: "gc=1"}
	}
	p := evidence.Part{Path: "service/allocs-" + end + ".pprof", Kind: evidence.KindAllocs, Pass: evidence.PassService}
	at, err := r.profile(ctx, q, p, "alloc_space")
	r.note(ctx, "allocation profile at the "+end, err)
	if err == nil && end == "start" {
		r.allocsAt = at
	}
}

func (r *liveRecorder) heap(ctx context.Context, i int) {
	p := evidence.Part{Path: fmt.Sprintf("service/heap-%d.pprof", i), Kind: evidence.KindHeap,
		Pass: evidence.PassService}
	_, err := r.profile(ctx, query{path: "heap"}, p, "inuse_space")
	r.note(ctx, fmt.Sprintf("heap profile %d", i), err)
}

// fetch downloads a profile as the file of a part, and checks that it is complete and of the wanted kind.
func (r *liveRecorder) fetch(ctx context.Context, q query, p evidence.Part, column string) (name string, prof *evidence.Profile, err error) {
	name, err = r.w.Unfinished(p)
	if err != nil {
		return "", nil, err
	}
	err = r.download(ctx, q, name)
	if err != nil {
		return "", nil, errors.Join(err, removeIfThere(name))
	}
	prof, err = pprof.Open(name)
	if err == nil && prof.Column(column) < 0 {
		err = fmt.Errorf("it has no column %s", column)
	}
	if err != nil {
		err = fmt.Errorf("%s did not answer with a whole profile: %w", r.server.show(q), err)
		return "", nil, errors.Join(err, removeIfThere(name))
	}
	return name, prof, nil
}

// profile fetches a profile and adds it as the part p. It returns the time in the profile.
func (r *liveRecorder) profile(ctx context.Context, q query, p evidence.Part, column string) (time.Time, error) {
	name, prof, err := r.fetch(ctx, q, p, column)
	if err != nil {
		return time.Time{}, err
	}
	if prof.PeriodOf.Type == "space" {
		p.Rate = max(prof.Period, 0)
	}
	if p.Kind == evidence.KindAllocs && !r.allocsAt.IsZero() {
		p.Wall = max(prof.Start.Sub(r.allocsAt), 0)
	}
	return prof.Start, r.w.Adopt(r.run, p, name)
}

func (r *liveRecorder) download(ctx context.Context, q query, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = r.server.get(ctx, q, f)
	return errors.Join(err, f.Close())
}

func removeIfThere(name string) error {
	err := os.Remove(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// memStats keeps the MemStats at the end of the text profile. The stacks before it are
// in the allocation profile in a better form, but for the runtime's functions at their leaves. The first two are the ends of the window
// without a profile. Wall is the time since the one before.
func (r *liveRecorder) memStats(ctx context.Context, end string) error {
	at := time.Now()
	p := evidence.Part{Path: "service/memstats-" + end + ".txt", Kind: evidence.KindMemStats,
		Pass: evidence.PassCollector}
	if end == "end" {
		p.Pass = evidence.PassService
	}
	if !r.memStatsAt.IsZero() {
		p.Wall = at.Sub(r.memStatsAt)
	}
	var failed error // kept apart from errors of Add, which name the bundle's folder
	seen := &stacks{}
	err := r.w.Add(r.run, p, func(w io.Writer) error {
		tail := &memstats.Tail{To: w}
		to := io.Writer(tail)
		if end == "end" {
			to = io.MultiWriter(tail, seen)
		}
		if failed = r.server.get(ctx, query{path: "heap", args: "debug=1"}, to); failed == nil {
			failed = tail.Close()
		}
		return failed
	})
	if failed != nil {
		err = failed
	}
	r.note(ctx, "runtime.MemStats at the "+end, err)
	if err == nil {
		r.memStatsAt = at
	}
	if len(seen.list) > 0 {
		r.keepAbove(ctx, seen)
	}
	return err
}

// countGoroutines reads the number of goroutines from the index page, which costs the
// service almost nothing. Without that page there are no such samples.
func (r *liveRecorder) countGoroutines(ctx context.Context) {
	n, err := r.server.goroutines(ctx)
	if err == nil {
		// In the format of the recorder's runtime/metrics samples.
		fmt.Fprintf(&r.goroutines, "{\"t_ns\":%d,\"v\":{\"/sched/goroutines:goroutines\":%d}}\n",
			time.Since(r.began).Nanoseconds(), n)
	}
}

func (r *liveRecorder) keepGoroutines() {
	if r.goroutines.Len() == 0 {
		return
	}
	p := evidence.Part{Path: "service/goroutines.jsonl", Kind: evidence.KindMetrics, Pass: evidence.PassService,
		Wall: time.Since(r.began)}
	err := r.w.Add(r.run, p, func(w io.Writer) error {
		_, err := r.goroutines.WriteTo(w)
		return err
	})
	if err != nil {
		r.fail("goroutine counts", err)
	}
}

// note counts a part, or records in the manifest why it is missing.
func (r *liveRecorder) note(ctx context.Context, what string, err error) {
	switch {
	case err == nil:
		r.mu.Lock()
		r.kept++
		r.mu.Unlock()
	case ctx.Err() == nil:
		r.fail(what, err)
	}
}

func (r *liveRecorder) parts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept
}

func (r *liveRecorder) fail(what string, err error) {
	r.mu.Lock()
	if r.firstFailure == nil {
		r.firstFailure = err
	}
	r.mu.Unlock()
	text := fmt.Sprintf("no %s: %v", what, err)
	r.o.Progress("warning: %s", text)
	// The recording goes on. If the manifest cannot be written, Close reports it.
	_ = r.w.Update(func(m *evidence.Manifest) { m.Warnings = append(m.Warnings, text) })
}
