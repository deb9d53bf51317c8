// Package bench runs the benchmarks of a module's copy, and reads what they allocate.
package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/lab/corpus"
)

// Limits of what the go command and a benchmark may take.
const (
	BuildLimit = 5 * time.Minute
	RunLimit   = 20 * time.Second
)

// Command runs a program within a limit and returns what it prints. Two threads run its
// goroutines, so that what is made for each of them is the same on all machines.
func Command(ctx context.Context, limit time.Duration, dir string, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(corpus.Environ(), "GOMAXPROCS=2"), time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := process.Run(cmd, nil); err != nil { // with all that it started
		return out.Bytes(), fmt.Errorf("%s: %w: %.300s%.300s", filepath.Base(args[0]), err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), nil
}

// Package is a package with benchmarks in a copy of its module.
type Package struct {
	Dir     string // of the module's copy
	Pattern string // as ./sub
	Binary  string // of its tests, which Build writes
}

// Folder is the package's folder, where its tests run.
func (p Package) Folder() string { return filepath.Join(p.Dir, filepath.FromSlash(p.Pattern)) }

// Build makes the test binary. It names files by their module, so that copies of one release in
// several folders are compiled once.
func (p Package) Build(ctx context.Context, more ...string) error {
	args := append([]string{"go", "test", "-c", "-vet=off", "-trimpath", "-ldflags=-w", "-o", p.Binary}, more...)
	_, err := Command(ctx, BuildLimit, p.Dir, append(args, p.Pattern)...)
	return err
}

// List names the benchmarks of the package.
func (p Package) List(ctx context.Context) ([]string, error) {
	out, err := Command(ctx, RunLimit, p.Folder(), p.Binary, "-test.list=^Benchmark")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	return names, nil
}

var line = regexp.MustCompile(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s.*?([0-9.]+) B/op\s+(\d+) allocs/op`)

// Run does a hundred operations of the benchmarks that fit a pattern. The amounts of those
// that ended are returned with an error, too.
func (p Package) Run(ctx context.Context, names string, more ...string) (map[string]corpus.Amounts, error) {
	out, err := Command(ctx, RunLimit, p.Folder(), append([]string{p.Binary, "-test.run=^$", "-test.benchmem",
		"-test.benchtime=100x", "-test.bench=" + names}, more...)...)
	return read(out), err
}

// read reads what benchmarks print.
func read(out []byte) map[string]corpus.Amounts {
	got := map[string]corpus.Amounts{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := line.FindStringSubmatch(s.Text()); m != nil {
			b, _ := strconv.ParseFloat(m[2], 64)
			n, _ := strconv.ParseFloat(m[3], 64)
			got[m[1]] = corpus.Amounts{B: b, Allocs: n}
		}
	}
	return got
}

var timed = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+([0-9.]+) ns/op`)

// Time runs the benchmarks that fit a pattern for a while, and returns the time of an operation of
// the first, in nanoseconds.
func (p Package) Time(ctx context.Context, names string, long time.Duration) (float64, error) {
	out, err := Command(ctx, RunLimit, p.Folder(), p.Binary, "-test.run=^$", "-test.benchtime="+long.String(), "-test.bench="+names)
	if err != nil {
		return 0, err
	}
	m := timed.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("no time in %.200q", out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// Exactly is the pattern that fits one benchmark, or one part of one.
func Exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
