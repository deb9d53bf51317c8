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

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/secret"
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
	cmd := exec.Command(x.Path, w.Args...)
	cmd.Dir, cmd.Stderr = x.Dir, log
	cmd.Env = append(append(os.Environ(), x.Env...), "PWD="+x.Dir, "GODEBUG="+x.Debug("gctrace=1"))
	began := time.Now()
	p, err := process.Start(cmd, nil)
	if err != nil {
		return Sample{}, err
	}
	defer p.End(process.EndGrace)
	lastWords := func(err error) error {
		return errors.New(failureText(executed{stderr: log.Name()}, err))
	}
	if err := p.AwaitReady(ctx, w.Ready); err != nil {
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
	p.End(process.EndGrace)
	if !known || !still {
		after, _ = p.CPU()
		before = 0
	}
	run := Sample{Side: o.side, Pair: o.pair, Procs: x.Procs, Wall: time.Since(began)}
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

// load runs the load to its end and returns what it says of itself, which may
// be nothing.
func (w *command) load(ctx context.Context, p *process.Process) (loadlog.Summary, error) {
	left, err := p.Under(ctx, process.Load{Command: w.Load, Dir: w.dir, Limit: w.For})
	if errors.Is(err, process.ErrEnded) {
		err = fmt.Errorf("under load: %w", err)
	}
	if err != nil {
		return loadlog.Summary{}, err
	}
	said, understood := loadlog.Read(left.Output)
	switch {
	case left.Failed != nil && !understood && !p.Running():
		err = fmt.Errorf("under load: %w", process.ErrEnded)
	case left.Failed != nil && !understood:
		err = fmt.Errorf("%w %q: %w: %s", errLoad, secret.Line(w.Load), left.Failed,
			gocmd.LastLines(strings.TrimSpace(string(left.Output)), 3))
	case !p.Running() && p.Failure() != nil:
		// The load may have ended because the program did.
		err = fmt.Errorf("under load: %w", process.ErrEnded)
	}
	return said, err
}
