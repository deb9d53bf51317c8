package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// probe runs every selected benchmark briefly to find all benchmarks, including
// sub-benchmarks, and how long an operation takes.
func (r *benchRecorder) probe(ctx context.Context) ([]probed, error) {
	var all []probed
	var failure error
	before := r.lastWarning
	begin := time.Now()
	for i := range r.pkgs {
		p := &r.pkgs[i]
		if p.binary == "" {
			continue
		}
		r.o.Progress("trying the benchmarks of package %d of %d, %s", i+1, len(r.pkgs), p.ImportPath)
		found, err := r.probePackage(ctx, i, probeShare(r.measuring, time.Since(begin), i, len(r.pkgs)))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failure = err
		}
		all = append(all, found...)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case failure != nil:
		return nil, failure
	case r.lastWarning != before:
		return nil, fmt.Errorf("%w: without %s", errNoBenchmarks, r.lastWarning)
	case r.o.Bench != "":
		return nil, fmt.Errorf("%w: -bench %s matches none of %s", errNoBenchmarks, r.o.Bench,
			strings.Join(gocmd.FirstOf(r.names(), 12), ", "))
	}
	return nil, fmt.Errorf("%w: every benchmark was skipped or printed no result", errNoBenchmarks)
}

// probeShare returns how long package i of n may be probed, when probing began took ago. Probing gets half of
// measuring. A package gets up to four equal shares of the rest of that half, and at least measuring/4n. All packages
// together take at most three quarters of measuring.
func probeShare(measuring, took time.Duration, i, n int) time.Duration {
	left := measuring/2 - took
	return max(min(left, 4*left/time.Duration(n-i)), measuring/time.Duration(4*n))
}

// failedLine is how package testing names a benchmark that failed.
var failedLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (Benchmark\S*)`)

// shortestProbe is the least time in which the benchmarks of a package are tried once more.
const shortestProbe = 250 * time.Millisecond

// probePackage tries the benchmarks of one package. A benchmark that gives no result for half of the time that is
// left, or ends the process, is noted as missing, and the others are tried without it. The error is the last failure.
func (r *benchRecorder) probePackage(ctx context.Context, i int, most time.Duration) ([]probed, error) {
	p := &r.pkgs[i]
	re := r.o.Bench
	if re == "" {
		re = "."
	}
	var all []probed
	var bad []string // benchmarks that were killed, or that ended the process
	var failure error
	for end := time.Now().Add(most); ; {
		// With -test.v the name of a benchmark is printed before it runs.
		args := []string{"-test.v", "-test.bench=" + re, "-test.benchtime=" + probeTime(r.measuring).String()}
		args = append(args, "-test.skip="+skipPattern(all, append(slices.Clip(bad), flushBenchmark)))
		limit := &limit{end: end, halving: r.o.Bench == ""}
		res, err := r.run(ctx, testRun{pkg: p, args: args, limit: limit})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found, perr := r.results(i, res.out)
		if perr != nil {
			return nil, perr
		}
		all = append(all, found...)
		ended := unfinished(res.out, found)
		switch {
		case err != nil && (bytes.HasSuffix(bytes.TrimSpace(res.out), []byte("FAIL")) || !isBenchmarkName(ended)):
			what := "benchmarks of " + p.ImportPath + " after a failure"
			if m := failedLine.FindSubmatch(res.out); m != nil {
				what = fmt.Sprintf("%s of %s, which failed", m[1], p.ImportPath)
			}
			r.lacks(what + ": " + firstFailure(err))
			return all, err
		case err != nil:
			failure = err
			r.lacks(fmt.Sprintf("%s of %s, which ended the process: %s", ended, p.ImportPath, firstFailure(err)))
		case res.timedOut:
			text := fmt.Sprintf("%s of %s, which had no result after %v: it hangs, or one operation takes longer than the budget of "+
				"%v has room for (use -budget or -bench)", ended, p.ImportPath, limit.waited().Round(time.Second/10), r.o.Budget)
			r.lacks(text)
			failure = cmp.Or(failure, fmt.Errorf("%w: without %s", errNoBenchmarks, text))
		default:
			return all, failure
		}
		if !isBenchmarkName(ended) {
			return all, failure // where it is cannot be told, so the rest cannot be tried without it
		}
		bad = append(bad, ended)
		if time.Until(end) < shortestProbe {
			r.lacks(fmt.Sprintf("benchmarks of %s after %s: there is no time to try them (use -budget or -bench)", p.ImportPath, ended))
			return all, failure
		}
	}
}

// unfinished names the benchmark whose name is the last that was printed and has no result.
func unfinished(out []byte, found []probed) string {
	done := map[string]bool{}
	for _, p := range found {
		done[p.name] = true
	}
	last := ""
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 1 && isBenchmarkName(f[0]) {
			last = f[0]
		}
	}
	switch {
	case last == "":
		return "benchmarks" // the process hangs before the first, for example in a TestMain
	case done[last]:
		return "benchmarks after " + last
	}
	return last
}

// skipPattern is the -test.skip expression for benchmarks that have a result, and those that had none.
func skipPattern(found []probed, bad []string) string {
	inner := map[string]bool{} // benchmark functions of which only some parts are skipped
	for _, name := range bad {
		if top := topLevel(name); top != name {
			inner[top] = true
		}
	}
	names := slices.Clone(bad)
	for _, p := range found {
		if top := topLevel(p.name); inner[top] {
			names = append(names, p.name)
		} else {
			names = append(names, top)
		}
	}
	// The first that matches counts, so a whole benchmark comes before its parts.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	var all []string
	for _, name := range slices.Compact(names) {
		all = append(all, benchPattern(name))
	}
	return strings.Join(all, "|")
}

func (r *benchRecorder) names() []string {
	var names []string
	for _, p := range r.pkgs {
		names = append(names, p.source.names...)
	}
	return names
}

// limit ends a process at a time, and earlier if halving, where after an output none follows for half of the time that
// was left. Before the first it is starting, which takes long on a busy machine. It is the Writer that sees the output.
type limit struct {
	end     time.Time
	halving bool

	mu    sync.Mutex
	timer *time.Timer
	last  time.Time // of an output
}

// start returns the context of the process. stop frees what it holds.
func (l *limit) start(ctx context.Context) (limited context.Context, stop func()) {
	if l == nil {
		return ctx, func() {}
	}
	limited, cancel := context.WithDeadline(ctx, l.end)
	if !l.halving {
		return limited, cancel
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
	l.timer = time.AfterFunc(time.Until(l.end), cancel)
	return limited, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.timer.Stop()
		cancel()
	}
}

// Write notes that there was an output. It never fails.
func (l *limit) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.last = time.Now()
		l.timer.Reset(time.Until(l.end) / 2)
	}
	return len(p), nil
}

// waited is how long there has been no output.
func (l *limit) waited() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.last)
}
