package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/process"
)

// outcome judges a module, and goes on where it was stopped before.
func (l *lab) outcome(ctx context.Context, c corpus.Case) (outcome, error) {
	var o outcome
	data, err := os.ReadFile(filepath.Join(l.dir, c.ID+".json"))
	if err == nil {
		err = json.Unmarshal(data, &o)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || o.Skipped != "" {
		return o, err
	}
	if !o.Ready {
		o, err = l.judge(ctx, c)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			o.Skipped = err.Error()
			return o, l.keep(o)
		}
		o.Ready = true
		if err := l.keep(o); err != nil {
			return o, err
		}
	}
	err = l.unchanged(ctx, c, &o)
	return o, err
}

func (l *lab) keep(o outcome) error {
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, o.Case+".json"), data, 0o644)
}

// judge makes the budgets of a module, plants the regression, and takes it back.
func (l *lab) judge(ctx context.Context, c corpus.Case) (outcome, error) {
	o := outcome{Case: c.ID, Module: c.Module}
	for _, s := range c.Sites {
		o.Want = append(o.Want, fmt.Sprintf("%s:%d", s.File, s.Line))
	}
	dir := filepath.Join(l.dir, c.ID, "module")
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		return o, err
	}
	if err := c.Place(dir, c.Version); err != nil {
		return o, err
	}
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "init", "-cpu", "1,2", "-bench", l.benches(c, dir), c.Pattern())
	if err != nil {
		return o, fmt.Errorf("guard init: %w: %s", err, said)
	}
	o.Init = took.Seconds()
	text, err := os.ReadFile(filepath.Join(dir, "heaptrim.budget"))
	if err != nil {
		return o, err
	}
	o.Lines, o.Varying = strings.Count(string(text), " N="), strings.Count(string(text), "±")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=lab", "-c", "user.email=lab@localhost", "commit", "-qm", "release"}} {
		if _, said, err := l.command(ctx, dir, "git", args...); err != nil {
			return o, fmt.Errorf("git %s: %w: %s", args[0], err, said)
		}
	}
	if err := l.planted(ctx, c, dir, &o); err != nil {
		return o, err
	}
	if _, said, err := l.command(ctx, dir, "git", "checkout", "-q", "."); err != nil {
		return o, fmt.Errorf("git checkout: %w: %s", err, said)
	}
	return o, nil
}

var function = regexp.MustCompile(`(?m)^func (Benchmark\w*)\(`)

// benches is the pattern of the benchmarks that are looked at: the case's, and others of its
// package by lot.
func (l *lab) benches(c corpus.Case, dir string) string {
	const most = 4
	files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(c.Pattern()), "*_test.go")) // the pattern is well-formed
	first, _, _ := strings.Cut(strings.Trim(c.Bench, "^$"), "/")
	first = strings.TrimSuffix(first, "$")
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if m[1] != first {
				names = append(names, m[1])
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := sha256.Sum256([]byte(l.seed+a)), sha256.Sum256([]byte(l.seed+b))
		return bytes.Compare(x[:], y[:])
	})
	names = append([]string{first}, names[:min(most-1, len(names))]...)
	return "^(" + strings.Join(names, "|") + ")$"
}

var place = regexp.MustCompile(`(?m)^  (\S+\.go:\d+) `)

// planted runs guard on the module with the regression.
func (l *lab) planted(ctx context.Context, c corpus.Case, dir string, o *outcome) error {
	var err error
	if o.Edited, err = edited(dir, c.Planted.Edits); err != nil {
		return err
	}
	if err := c.Planted.Plant(dir); err != nil {
		return err
	}
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "-bench", l.benches(c, dir), c.Pattern())
	o.Grown = took.Seconds()
	switch code(err) {
	case 0:
		return nil
	case 3:
		o.Found = true
	default:
		return fmt.Errorf("guard: %w: %s", err, said)
	}
	if m := place.FindStringSubmatch(said); m != nil {
		o.First = m[1]
	}
	return os.WriteFile(filepath.Join(l.dir, c.ID+".txt"), []byte(said), 0o644)
}

// edited lists the lines that edits have, once they are made.
func edited(dir string, edits []corpus.Edit) ([]string, error) {
	var out []string
	for _, e := range edits {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.File)))
		if err != nil {
			return nil, err
		}
		before := slices.DeleteFunc(slices.Clone(edits), func(o corpus.Edit) bool { return o.File != e.File || o.Start >= e.Start })
		head, err := corpus.Apply(text[:e.Start], before)
		if err != nil {
			return nil, err
		}
		first := bytes.Count(head, []byte("\n")) + 1
		for n := first; n <= first+strings.Count(e.Text, "\n"); n++ {
			out = append(out, fmt.Sprintf("%s:%d", e.File, n))
		}
	}
	return out, nil
}

// unchanged runs guard again and again on the module as it was, the last time in a clone elsewhere.
func (l *lab) unchanged(ctx context.Context, c corpus.Case, o *outcome) error {
	dir := filepath.Join(l.dir, c.ID, "module")
	for o.Runs-o.Busy < l.runs {
		at := dir
		if o.Runs-o.Busy == l.runs-1 {
			at = filepath.Join(filepath.Dir(dir), "a clone", "in another folder")
			if err := os.RemoveAll(at); err != nil {
				return err
			}
			if _, said, err := l.command(ctx, l.dir, "git", "clone", "-q", dir, at); err != nil {
				return fmt.Errorf("git clone: %w: %s", err, said)
			}
			o.Clones++
		}
		took, err := l.quiet(ctx, c, at, o)
		if err != nil {
			return err
		}
		if o.Runs == 1 {
			o.Within = took.Seconds()
		}
		if err := l.keep(*o); err != nil {
			return err
		}
	}
	return nil
}

// besides runs guard on the unchanged module beside other work.
func (l *lab) besides(ctx context.Context, c corpus.Case, o *outcome) error {
	for o.Busy < l.busy {
		if _, err := l.quiet(ctx, c, filepath.Join(l.dir, c.ID, "module"), o); err != nil {
			return err
		}
		o.Busy++
		if err := l.keep(*o); err != nil {
			return err
		}
	}
	return nil
}

// quiet runs guard where it has to be silent: whatever else it does is an alarm.
func (l *lab) quiet(ctx context.Context, c corpus.Case, dir string, o *outcome) (time.Duration, error) {
	before := loadAverage()
	took, said, err := l.command(ctx, dir, l.heaptrim, "guard", "-all", "-bench", l.benches(c, dir), c.Pattern())
	switch {
	case ctx.Err() != nil:
		return took, ctx.Err()
	case err != nil:
		o.Alarms = append(o.Alarms, fmt.Sprintf("run %d in %s: %v\n%s", o.Runs+1, dir, err, said))
	}
	o.Runs++
	o.Loads = append(o.Loads, before)
	return took, nil
}

// loadAverage is the machine's of the last minute, 0 where it is not known.
func loadAverage() float64 {
	text, _ := os.ReadFile("/proc/loadavg") // of Linux
	var load float64
	_, _ = fmt.Sscan(string(text), &load) // what is no number is not known
	return load
}

func code(err error) int {
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// command runs a command for at most twenty minutes, and returns how long it took.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) (time.Duration, string, error) {
	u, said, err := l.measured(ctx, dir, name, args...)
	return u.Wall, said, err
}

// measured is command, with all that it took.
func (l *lab) measured(ctx context.Context, dir, name string, args ...string) (process.Usage, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, corpus.Environ()
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	u, err := process.Run(cmd)
	return u, out.String(), err
}

// load keeps two processors busy with programs of their own until the function that it returns.
func load() func() {
	var all []*exec.Cmd
	for range min(2, runtime.NumCPU()) {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		cmd.Stdout = io.Discard
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill() // it has nothing to clean up
			_ = cmd.Wait()
		}
	}
}
