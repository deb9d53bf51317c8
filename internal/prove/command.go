package prove

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/record/secret"
)

// Command is a program to run instead of benchmarks: to its end, or for as long
// as a load on it lasts. On each side it runs in the folder that the side is
// built from; a released one runs in the user's.
type Command struct {
	Package string        // main package, as a pattern of the side's module; or module/cmd@version
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
	programs []sides.Program
}

func (w *command) prepare(ctx context.Context) ([]*subject, error) {
	s := newSubject("command", "", len(w.trees))
	s.logsAlways = w.Load != ""
	w.result.Target.Args = secret.Args(append([]string{w.Package}, w.Args...))
	w.result.Target.Load = secret.Line(w.Load)
	for i, t := range w.trees {
		path, err := w.build(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("%s (%s): %w", Letter(i), t.Info.Spec, err)
		}
		s.name, s.path = "Benchmark"+commandName(path), path
	}
	if w.Load != "" {
		return []*subject{s}, nil
	}
	// A first run that does not count fills the caches of the system.
	for i, p := range w.programs {
		w.progress("trying %s: %s", Letter(i), s.path)
		r, err := w.execute(ctx, execution{Program: p, args: w.Args, limit: max(w.o.Budget, 10*time.Second)})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s (%s): the command fails: %s", Letter(i), w.trees[i].Info.Spec, failureText(r, err))
		}
		s.expected[i] = r.wall
	}
	return []*subject{s}, nil
}

// build makes the binary of one side and returns its import path.
func (w *command) build(ctx context.Context, i int) (string, error) {
	t := w.trees[i]
	pattern := w.Package
	if t.Command != "" {
		pattern = t.Command
	}
	main, err := t.Tool.MainPackage(ctx, pattern)
	if err != nil {
		return "", err
	}
	path := main.ImportPath
	binary, err := w.binary(ctx, i, path, func(t *sides.Tree, to string) error {
		_, err := t.Tool.Output(ctx, "build", "-o", to, path)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("does not build: %w", err)
	}
	dir := t.Tool.Dir
	if t.RunDir != "" {
		dir = t.RunDir
	}
	w.programs = append(w.programs, t.ProgramOf(binary, dir))
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
	r, err := w.execute(ctx, execution{Program: p, args: w.Args, trace: o.collector, limit: 20*max(s.expected[o.side], time.Second) + time.Minute})
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	if err != nil {
		return Sample{}, errors.New(failureText(r, err))
	}
	run := Sample{Side: o.side, Pair: o.pair, Collector: o.collector, Procs: p.Procs, Wall: r.wall, Values: map[string]float64{}}
	if o.collector {
		return run, run.collection(r.stderr, window{cpu: r.cpu, rss: r.rss})
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
