package prove

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
	"github.com/heaptrim/heaptrim/internal/record/process"
)

const (
	readyTimeout = 2 * time.Minute
	settle       = time.Second
	endGrace     = 10 * time.Second
)

// errLoad says that the load did not work while the program did, errTaken that
// another program has its address. Neither is a side's fault.
var (
	errLoad  = errors.New("the load command")
	errTaken = errors.New("something answers already, before the program runs: the load would meet that")
)

// underLoad runs the program until the load on it has ended. Its log of
// collections is always on: a run is too long to be made twice.
func (w *command) underLoad(ctx context.Context, o runOrder) (Sample, error) {
	x := w.programs[o.side]
	if err := free(ctx, w.Ready); err != nil {
		return Sample{}, err
	}
	log, err := os.Create(filepath.Join(w.tmp, "stderr"))
	if err != nil {
		return Sample{}, err
	}
	defer log.Close()
	cmd := exec.Command(x.path, w.Args...)
	cmd.Dir, cmd.Stderr = x.dir, log
	cmd.Env = append(append(os.Environ(), x.env...), "PWD="+x.dir, "GODEBUG="+x.debug("gctrace=1"))
	began := time.Now()
	p, err := process.Start(cmd, nil)
	if err != nil {
		return Sample{}, err
	}
	defer p.End(endGrace)
	lastWords := func(err error) error {
		return errors.New(failureText(executed{stderr: log.Name()}, err))
	}
	if err := w.awaitReady(ctx, p); err != nil {
		return Sample{}, errors.Join(ctx.Err(), lastWords(err))
	}
	before, known := p.CPU()
	from := time.Now()
	said, err := w.load(ctx, p)
	if errors.Is(err, errLoad) {
		return Sample{}, errors.Join(ctx.Err(), err)
	}
	if err != nil {
		return Sample{}, errors.Join(ctx.Err(), lastWords(err))
	}
	to, rss := time.Now(), p.PeakRSS()
	after, still := p.CPU()
	p.End(endGrace)
	if !known || !still {
		after, _ = p.CPU()
		before = 0
	}
	run := Sample{Side: o.side, Pair: o.pair, Procs: x.procs, Wall: time.Since(began)}
	cpu := after - before
	if err := run.collection(log.Name(), window{from: from.Sub(began), to: to.Sub(began), cpu: cpu, rss: rss}); err != nil {
		return run, err
	}
	run.Values[unitCPU] = cpu.Seconds()
	run.answers(said, cpu, to.Sub(from))
	return run, nil
}

// free makes sure that nobody else is at the address that a program is to
// answer at.
func free(ctx context.Context, ready string) error {
	u, err := url.Parse(ready)
	if err != nil || ready == "" || u.Port() == "" {
		return nil // what is wrong with it, waiting for it says
	}
	dialer := net.Dialer{Timeout: time.Second}
	c, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", u.Host, errTaken), c.Close())
}

// answers adds what the load tool says. Its own rate is without the time that it
// takes to start and to end.
func (s *Sample) answers(said loadlog.Summary, cpu, took time.Duration) {
	if said.Requests > 0 {
		rate := said.Rate
		if rate == 0 {
			rate = float64(said.Requests) / took.Seconds()
		}
		s.Values[unitReqs], s.Values[unitCPUReq] = rate, float64(cpu)/float64(said.Requests)
	}
	if said.Requests > 0 || said.Failed > 0 {
		s.Values[unitFailed] = said.Share()
	}
	for _, q := range []struct {
		unit string
		took time.Duration
	}{{unitP50, said.P50}, {unitP90, said.P90}, {unitP99, said.P99}, {unitMax, said.Max}} {
		if q.took > 0 {
			s.Values[q.unit] = float64(q.took)
		}
	}
}

func (w *command) awaitReady(ctx context.Context, p *process.Process) error {
	if w.Ready != "" {
		return p.Await(ctx, w.Ready, readyTimeout)
	}
	begin := time.Now().Add(settle)
	return p.WaitFor(ctx, settle/10, func() bool { return time.Now().After(begin) })
}

// load runs the load to its end and returns what it says of itself, which may
// be nothing.
func (w *command) load(ctx context.Context, p *process.Process) (loadlog.Summary, error) {
	out := &lastPart{most: 512 << 10}
	cmd := process.Shell(w.Load)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, out, out
	load, err := process.Start(cmd, nil)
	if err != nil {
		return loadlog.Summary{}, fmt.Errorf("start the load: %w", err)
	}
	var late <-chan time.Time
	if w.For > 0 {
		timer := time.NewTimer(w.For)
		defer timer.Stop()
		late = timer.C
	}
	cut := true
	select {
	case <-load.Done:
		cut = false
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	case <-p.Done:
		err = fmt.Errorf("under load: %w", process.ErrEnded)
	}
	load.End(endGrace)
	if err != nil {
		return loadlog.Summary{}, err
	}
	said, understood := loadlog.Read(out.bytes())
	switch failed := load.Failure(); {
	case failed != nil && !cut && !understood && !p.Running():
		err = fmt.Errorf("under load: %w", process.ErrEnded)
	case failed != nil && !cut && !understood:
		err = fmt.Errorf("%w %q: %w: %s", errLoad, w.Load, failed, lastLines(strings.TrimSpace(string(out.bytes())), 3))
	case !p.Running() && p.Failure() != nil:
		// The load may have ended because the program did.
		err = fmt.Errorf("under load: %w", process.ErrEnded)
	}
	return said, err
}

// lastPart keeps the end of what is written to it: a load tool's summary stands
// there, however much it prints before.
type lastPart struct {
	most int
	text []byte
}

func (l *lastPart) Write(p []byte) (int, error) {
	l.text = append(l.text, p...)
	if over := len(l.text) - l.most; over > l.most {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

func (l *lastPart) bytes() []byte { return l.text[max(0, len(l.text)-l.most):] }
