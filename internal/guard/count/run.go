package count

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/record/process"
)

// Result is what one benchmark allocated in one process.
type Result struct {
	Name string
	budget.Amount
	Ops     int64
	NsPerOp float64
}

// Survey is what the first run of benchmarks shows.
type Survey struct {
	Results []Result
	Skipped []string
	Failed  map[string]string // why, by benchmark
}

// Run is one process of a test binary.
type Run struct {
	Pattern string // -test.bench
	Ops     int64
	CPU     int
	Slower  int      // how many times as long it may take as other processes; 0 means 1
	Env     []string // beside that which every process has
	Args    []string
}

// mostOutput limits how much of a process's output is kept.
const mostOutput = 8 << 20

// start runs a test binary in its package's folder. How it ended is no error of ours.
func (c *Counter) start(ctx context.Context, bin string, p Package, r Run) (out []byte, ended, err error) {
	limit := c.o.Limit * time.Duration(max(r.Slower, 1))
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := []string{"-test.run=^$", "-test.benchmem", "-test.timeout=0", "-test.bench=" + r.Pattern,
		fmt.Sprintf("-test.benchtime=%dx", r.Ops), fmt.Sprintf("-test.cpu=%d", r.CPU)}
	cmd := exec.CommandContext(limited, bin, append(args, r.Args...)...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "PWD="+p.Dir)
	if !c.o.Collect {
		// A collection empties pools, and when one comes depends on the machine.
		cmd.Env = append(cmd.Env, "GOGC=off", "GOMEMLIMIT="+c.limit)
	}
	cmd.Env = append(cmd.Env, r.Env...)
	tail := &process.Tail{Most: mostOutput}
	cmd.Stdout, cmd.Stderr = tail, tail
	cmd.WaitDelay = 2 * time.Second
	ended = process.Run(cmd, nil)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case limited.Err() != nil:
		ended = fmt.Errorf("did not end within %v", limit)
	}
	return tail.Bytes(), ended, nil
}

// List names the benchmark functions of a package.
func (c *Counter) List(ctx context.Context, p Package) ([]string, error) {
	bin, err := c.Build(ctx, p)
	if err != nil || bin == "" {
		return nil, err
	}
	out, ended, err := c.start(ctx, bin, p, Run{Pattern: "^$", Ops: 1, CPU: 1, Args: []string{"-test.list=^Benchmark"}})
	if err != nil {
		return nil, err
	}
	if ended != nil {
		return nil, fmt.Errorf("%s: %w: %s", p.Path, ended, failure(out))
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Benchmark") && !strings.ContainsAny(name, " \t") {
			names = append(names, name)
		}
	}
	return names, nil
}

var endLine = regexp.MustCompile(`(?m)^\s*--- (SKIP|FAIL): (\S+)`)

// Survey runs one operation of a benchmark function and of all below it.
func (c *Counter) Survey(ctx context.Context, p Package, top string, r Run) (Survey, error) {
	bin, err := c.Build(ctx, p)
	if err != nil {
		return Survey{}, err
	}
	r.Pattern, r.Ops = "^"+regexp.QuoteMeta(top)+"$", 1
	r.Args = append([]string{"-test.v"}, r.Args...)
	out, ended, err := c.start(ctx, bin, p, r)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{Failed: map[string]string{}}
	if s.Results, err = results(p, out, r.CPU); err != nil {
		return s, err
	}
	for _, m := range endLine.FindAllSubmatch(out, -1) {
		name := plainName(string(m[2]), r.CPU)
		if string(m[1]) == "SKIP" {
			s.Skipped = append(s.Skipped, name)
		} else {
			s.Failed[name] = failure(out)
		}
	}
	if ended != nil && len(s.Failed) == 0 {
		s.Failed[top] = ended.Error() + ": " + failure(out)
	}
	return s, nil
}

// Count runs some benchmarks of a package for the same number of operations, each in a process of its
// own: what one leaves in pools and caches changes what the next one allocates. A benchmark that
// printed no result is not in the map.
func (c *Counter) Count(ctx context.Context, p Package, names []string, r Run) (map[string]Result, error) {
	bin, err := c.Build(ctx, p)
	if err != nil {
		return nil, err
	}
	found := map[string]Result{}
	for _, name := range names {
		r.Pattern = pattern(name)
		out, _, err := c.start(ctx, bin, p, r)
		if err != nil {
			return nil, err
		}
		list, err := results(p, out, r.CPU)
		if err != nil {
			return nil, err
		}
		for _, res := range list { // with -test.count the last one counts
			if res.Name == name {
				found[name] = res
			}
		}
	}
	return found, nil
}

// pattern selects exactly one benchmark.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

func results(p Package, out []byte, cpu int) ([]Result, error) {
	log, err := benchlog.Read(p.Path, bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	var list []Result
	for _, r := range log.Results {
		if r.Mem {
			list = append(list, Result{Name: plainName(r.FullName, cpu), Ops: r.Iterations, NsPerOp: r.NsPerOp,
				Amount: budget.Amount{Allocs: r.AllocsPerOp, Bytes: r.BytesPerOp}})
		}
	}
	return list, nil
}

func plainName(full string, cpu int) string {
	if cpu == 1 {
		return full
	}
	return strings.TrimSuffix(full, fmt.Sprintf("-%d", cpu))
}

// failure is the telling part of a failed process's output.
func failure(out []byte) string {
	var telling []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		dull := line == "" || line == "FAIL" || line == "PASS" || strings.HasPrefix(line, "Benchmark") || strings.HasPrefix(line, "===")
		for _, heading := range []string{"goos:", "goarch:", "pkg:", "cpu:", "exit status", "--- "} {
			dull = dull || strings.HasPrefix(line, heading)
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		if !dull {
			telling = append(telling, line)
		}
	}
	if len(telling) == 0 {
		return "no output"
	}
	return strings.Join(gocmd.FirstOf(telling, 2), "; ")
}
