package prove

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
	"github.com/heaptrim/heaptrim/internal/record/process"
)

// Command is a program to run instead of benchmarks: to its end, or for as long
// as a load on it lasts. On either side it runs in the folder that the side is
// built from.
type Command struct {
	Package string        // main package, as a pattern of the side's module
	Args    []string      // of the program
	Ready   string        // URL that answers once the program is ready; "" waits a second
	Load    string        // shell command that loads the program; "" runs it to its end
	For     time.Duration // ends the load; 0 lets it end by itself
}

// Kind is the kind of target that the command is.
func (c Command) Kind() string {
	if c.Load != "" {
		return KindLoad
	}
	return KindCommand
}

// command is the workload of a program. Its operation is the whole run.
type command struct {
	*engine
	Command
	programs [2]program
}

func (w *command) prepare(ctx context.Context) ([]*subject, error) {
	s := &subject{Comparison: Comparison{Name: "command"}, logsAlways: w.Load != ""}
	w.result.Target.Args, w.result.Target.Load = append([]string{w.Package}, w.Args...), w.Load
	for i, t := range w.trees {
		path, err := w.build(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("%s (%s): %w", sideName(i == 1), t.info.Spec, err)
		}
		s.Package = path
		s.Name = "Benchmark" + commandName(path)
	}
	if w.Load != "" {
		return []*subject{s}, nil
	}
	// A first run that does not count fills the caches of the system.
	for i, p := range w.programs {
		w.progress("trying %s: %s", sideName(i == 1), s.Package)
		r, err := w.execute(ctx, execution{program: p, args: w.Args, limit: max(w.o.Budget, 10*time.Second)})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s (%s): the command fails: %s", sideName(i == 1), w.trees[i].info.Spec, failureText(r, err))
		}
		s.expected[i] = r.wall
	}
	return []*subject{s}, nil
}

// build makes the binary of one side and returns its import path.
func (w *command) build(ctx context.Context, i int) (string, error) {
	t := w.trees[i]
	list, err := t.tool.packages(ctx, []string{w.Package})
	switch {
	case err != nil:
		return "", err
	case len(list) != 1:
		return "", fmt.Errorf("%s names %d packages: want one main package", w.Package, len(list))
	case list[0].Name == "" && list[0].Error != nil:
		return "", errors.New(list[0].Error.Err)
	case list[0].Name != "main":
		return "", fmt.Errorf("%s is package %s: want a main package", w.Package, list[0].Name)
	}
	path := list[0].ImportPath
	binary, err := w.binary(ctx, i, path, func(t *tree, to string) error {
		_, err := t.tool.output(ctx, "build", "-o", to, path)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("does not build: %w", err)
	}
	w.programs[i] = t.programOf(binary, t.tool.dir)
	return path, nil
}

// commandName makes a name that benchmark text can hold.
func commandName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" {
		return "Command"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (w *command) run(ctx context.Context, s *subject, o runOrder) (Sample, error) {
	if w.Load != "" {
		return w.underLoad(ctx, o)
	}
	p := w.programs[o.side]
	r, err := w.execute(ctx, execution{program: p, args: w.Args, trace: o.collector, limit: 20*max(s.expected[o.side], time.Second) + time.Minute})
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	if err != nil {
		return Sample{}, errors.New(failureText(r, err))
	}
	run := Sample{Side: o.side, Pair: o.pair, Collector: o.collector, Procs: p.procs, Wall: r.wall, Values: map[string]float64{}}
	if o.collector {
		run.Values, err = collection(r.stderr, r.cpu, 0, 0)
		if r.rss > 0 {
			run.Values[unitRSS] = float64(r.rss)
		}
		return run, err
	}
	run.Values[unitWall], run.Values[unitCPU] = r.wall.Seconds(), r.cpu.Seconds()
	run.Output, err = hashOf(r.stdout)
	return run, err
}

func hashOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

const (
	readyTimeout = 2 * time.Minute
	settle       = time.Second
	endGrace     = 10 * time.Second
)

// underLoad runs the program until the load on it has ended. Its log of
// collections is always on: a run is too long to be made twice.
func (w *command) underLoad(ctx context.Context, o runOrder) (Sample, error) {
	x := w.programs[o.side]
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
	requests, err := w.load(ctx, p)
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
	if run.Values, err = collection(log.Name(), cpu, from.Sub(began), to.Sub(began)); err != nil {
		return run, err
	}
	run.Values[unitCPU] = cpu.Seconds()
	if rss > 0 {
		run.Values[unitRSS] = float64(rss)
	}
	if requests > 0 {
		run.Values[unitReqs] = float64(requests) / to.Sub(from).Seconds()
		run.Values[unitCPUReq] = float64(cpu) / float64(requests)
	}
	return run, nil
}

func (w *command) awaitReady(ctx context.Context, p *process.Process) error {
	if w.Ready != "" {
		return p.Await(ctx, w.Ready, readyTimeout)
	}
	begin := time.Now().Add(settle)
	return p.WaitFor(ctx, settle/10, func() bool { return time.Now().After(begin) })
}

// load runs the load to its end and returns the number of requests that it
// says it made, 0 when it says none.
func (w *command) load(ctx context.Context, p *process.Process) (int64, error) {
	out := &bytes.Buffer{}
	cmd := process.Shell(w.Load)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, out, out
	load, err := process.Start(cmd, nil)
	if err != nil {
		return 0, fmt.Errorf("start the load: %w", err)
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
	requests := loadlog.Requests(out.Bytes())
	if failed := load.Failure(); failed != nil && !cut && requests == 0 {
		err = fmt.Errorf("the load command %q: %w: %s", w.Load, failed, lastLines(strings.TrimSpace(out.String()), 3))
	}
	return requests, err
}
