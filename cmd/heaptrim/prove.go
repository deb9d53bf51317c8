package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/report/proof"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

const proveUsage = `
Usage: heaptrim prove [-a side] [-b side]... [flags] [packages]
       heaptrim prove [-a side] [-b side]... [flags] -exec package [-ready URL] [-load command] [-- args]

Builds two versions of a program once, runs them in turns (A B B A …) and says
which one is better. Without -a and -b it compares the last commit with the
working tree. With -b more than once, all are built and run in the same turns,
and each is compared with A: the same program under several Go releases, say. A
side is a list of

  work               the files as they are
  rev:REVISION       a git revision, checked out into a temporary folder
  dir:FOLDER         another folder
  overlay:FILE       with the go command's -overlay
  env:NAME=VALUE     a variable such as GOGC, GOMEMLIMIT, GOAMD64
  toolchain:VERSION  GOTOOLCHAIN
  experiment:NAME    GOEXPERIMENT
  tags:TAGS          build tags
  version:VERSION    of the module of a released command, -exec module/cmd@version

joined by commas. If -b names only settings, both sides are the working tree.
Without -exec the benchmarks of the packages run, each alone in a process, with
the same number of iterations on both sides.

Counts, such as allocations, are compared exactly if every run gives the same
value. Values that vary are called different only if two tests agree: one on
pairs of neighbouring runs, and x/perf/benchmath. Both are adjusted for the
number of comparisons: a program compared with itself shows a difference in at
most 5 % of cases.

With -load, throughput, latency and failed requests are read from the output of
the load tool: wrk, wrk2, ab, hey, oha, vegeta, bombardier, k6, ghz, or heaptrim
load, which needs no installation.

Exit code 3 means that B, or another side, is worse in a judged unit (-gate).

Examples:
  heaptrim prove ./...
  heaptrim prove -a rev:HEAD~1 -b rev:HEAD -bench 'Join' .
  heaptrim prove -b env:GOGC=400 -bench 'Join' -o runs -md proof.md .
  heaptrim prove -a dir:../before -b work -json proof.json ./...
  heaptrim prove -b toolchain:go1.27.4 -budget 2m ./...
  heaptrim prove -b experiment:nogreenteagc ./...
  heaptrim prove -b env:GOGC=400 -exec ./cmd/words -- -rounds 300
  heaptrim prove -a toolchain:go1.25.13 -b work -b toolchain:go1.27.4 -b experiment:nogreenteagc -exec ./cmd/words -- -rounds 300
  heaptrim prove -b env:GOGC=400 -exec ./cmd/serve -ready http://localhost:6060/ -load 'heaptrim load -rate 200 -for 1s http://localhost:6060/' -json load.json
  heaptrim prove -a version:v1.0.0 -b version:v1.1.0 -exec example.com/words -- -rounds 300
`

// proveFlags are the flags of prove.
type proveFlags struct {
	dir       string
	a         string
	b         sideList
	bench     string
	benchTime gocmd.BenchTime
	budget    time.Duration
	tags      string
	rules     ruleFlags

	cmd commandFlags

	out      string
	json, md string
}

// ruleFlags say when to stop and what counts as a difference.
type ruleFlags struct {
	gate      string
	effect    float64
	precision float64
	pairs     int
	seed      uint64
}

// commandFlags name a command under load.
type commandFlags struct {
	exec   string
	ready  string
	load   string
	window time.Duration
}

func (f *proveFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.dir, "C", "", "run in `dir`ectory")
	fs.StringVar(&f.a, "a", "", "`side` to compare with; default: rev:HEAD, or the working tree if -b only names "+
		"settings")
	fs.Var(&f.b, "b", "`side` that is judged; default: work. Given more than once, each is compared with -a, all in "+
		"turns")
	fs.StringVar(&f.bench, "bench", "", "run the benchmarks that match `regexp`; default: all")
	fs.Var(&f.benchTime, "benchtime",
		"`length` of one run of a benchmark, such as 100ms or 500x; default: 20ms to 300ms, by -budget")
	fs.DurationVar(&f.budget, "budget", 5*time.Minute,
		"`time` for measuring, without building; it ends earlier once all is clear")
	fs.StringVar(&f.tags, "tags", "", "build `tags` of both sides, comma-separated")
	fs.StringVar(&f.rules.gate, "gate", "",
		"comma-separated `units` that are judged; default: ns/op,B/op,allocs/op, for a command sec,cpu-sec, under "+
			"load req/s,cpu-ns/req")
	fs.Float64Var(&f.rules.effect, "min", 1, "smallest change in `percent` that counts if values vary")
	fs.Float64Var(&f.rules.precision, "precision", 1,
		"measure until the change of time is known to ± this many `percent`")
	fs.IntVar(&f.rules.pairs, "pairs", 100, "measure at most `n` pairs of runs")
	fs.Uint64Var(&f.rules.seed, "seed", 0, "`number` that seeds the order of runs; default: another each time")
	fs.StringVar(&f.cmd.exec, "exec", "",
		"build and run this main `package` instead of benchmarks; its arguments follow --")
	fs.StringVar(&f.cmd.ready, "ready", "", "with -load: wait until a GET of this `URL` answers before the load starts")
	fs.StringVar(&f.cmd.load, "load", "", "with -exec: shell `command` that loads the program; a run ends with it")
	fs.DurationVar(&f.cmd.window, "for", 0,
		"with -load: end the load after this `time`; default: when it ends by itself")
	fs.StringVar(&f.out, "o", "", "write the runs as Go benchmark text to a.txt and b.txt in `dir`ectory, for benchstat")
	fs.StringVar(&f.json, "json", "", "write the comparison as JSON to `file`; - is standard output, instead of text")
	fs.StringVar(&f.md, "md", "", "write the comparison as Markdown to `file`; - is standard output")
}

func runProve(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f proveFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	o, err := f.options(fs.Args())
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	p := newProgress(std.err)
	defer p.Close()
	o.Progress = p.Printf
	created := time.Now()
	r, err := prove.Run(ctx, o)
	if err != nil {
		return err
	}
	p.Close()
	if r.Partial {
		fmt.Fprintln(std.err, "heaptrim prove: interrupted; the report is of what was measured until then")
	}
	if err := f.output(r, created, std); err != nil {
		return err
	}
	if r.Verdict.Worse() {
		return errFindings
	}
	return nil
}

// options checks the flags and makes the engine's of them.
func (f *proveFlags) options(args []string) (prove.Options, error) {
	o := prove.Options{
		Dir: f.dir, Bench: f.bench, BenchTime: f.benchTime, Budget: f.budget, Seed: f.rules.seed,
		Rules: prove.Rules{MinEffect: f.rules.effect / 100, Precision: f.rules.precision / 100, MaxPairs: f.rules.pairs,
			Gate: splitList(f.rules.gate)},
	}
	if f.tags != "" {
		o.BuildFlags = []string{"-tags=" + f.tags}
	}
	if err := f.validate(); err != nil {
		return o, err
	}
	var err error
	if o.Sides, err = f.sides(); err != nil {
		return o, err
	}
	kind := prove.KindPackages
	if f.cmd.exec == "" {
		o.Packages = args
	} else {
		o.Command = &prove.Command{Package: f.cmd.exec, Args: args, Ready: f.cmd.ready, Load: f.cmd.load,
			For: f.cmd.window}
		kind = o.Command.Kind()
	}
	for _, g := range o.Rules.Gate {
		// Benchmarks may have units of their own.
		if kind != prove.KindPackages && !slices.Contains(prove.Gates(kind), g) {
			return o, usagef("-gate %s: want some of %s", g, strings.Join(prove.Gates(kind), ", "))
		}
	}
	return o, nil
}

// sideList are the sides of -b.
type sideList []string

func (l *sideList) String() string     { return strings.Join(*l, " ") }
func (l *sideList) Set(s string) error { *l = append(*l, s); return nil }

// sides makes the engine's sides of -a and -b.
func (f *proveFlags) sides() ([]sides.Side, error) {
	var first *sides.Side
	if f.a != "" {
		s, err := sides.Parse(f.a)
		if err != nil {
			return nil, usagef("-a: %v", err)
		}
		first = &s
	}
	var others []sides.Side
	for _, spec := range f.b {
		s, err := sides.Parse(spec)
		if err != nil {
			return nil, usagef("-b: %v", err)
		}
		others = append(others, s)
	}
	if len(others) >= prove.MaxSides {
		return nil, usagef("%d sides of -b: want fewer than %d", len(others), prove.MaxSides)
	}
	// A released command has no last commit to compare with.
	if first == nil && len(others) == 0 && strings.Contains(f.cmd.exec, "@") {
		return nil, usagef("-exec %s: say what to compare, such as -b version:VERSION or -b env:GOGC=400", f.cmd.exec)
	}
	if first == nil && slices.ContainsFunc(others, func(s sides.Side) bool { return s.Version != "" }) &&
		!strings.Contains(f.cmd.exec, "@") {
		return nil, usagef("-b version: needs -a version: or -exec module/cmd@version to compare with")
	}
	return sides.Complete(first, others...), nil
}

func (f *proveFlags) validate() error {
	switch {
	case f.json == "-" && f.md == "-":
		return usagef("only one of -json and -md can go to standard output")
	case f.budget <= 0:
		return usagef("-budget must be positive")
	case f.cmd.window < 0, f.rules.pairs < 1:
		return usagef("-for cannot be negative, and -pairs not below 1")
	case !(f.rules.effect > 0 && f.rules.effect < 100), !(f.rules.precision > 0 && f.rules.precision < 100):
		return usagef("-min and -precision must be above 0 and below 100 percent")
	case f.cmd.exec == "" && (f.cmd.load != "" || f.cmd.ready != "" || f.cmd.window != 0):
		return usagef("-load, -ready and -for need -exec")
	case f.cmd.load == "" && (f.cmd.ready != "" || f.cmd.window != 0):
		return usagef("-ready and -for need -load")
	case f.cmd.exec != "" && (f.bench != "" || f.benchTime.Given()):
		return usagef("-exec runs a command, to which -bench and -benchtime mean nothing")
	}
	if _, err := regexp.Compile(f.bench); err != nil {
		return usagef("-bench: %v", err)
	}
	return nil
}

// output writes every form that was asked for and the text last.
func (f *proveFlags) output(r *prove.Result, created time.Time, std stdio) error {
	var errs []error
	if f.out != "" {
		for side := range r.Sides {
			name := strings.ToLower(prove.Letter(side)) + ".txt"
			errs = append(errs, writeFile(filepath.Join(f.out, name),
				func(w io.Writer) error { return prove.WriteBench(w, r, side) }))
		}
	}
	text, err := writeAll([]output{
		{f.json, func(w io.Writer) error { return proof.JSON(w, r, schema.Meta{Tool: version(), Created: created}) }},
		{f.md, func(w io.Writer) error { return proof.Markdown(w, r) }},
	}, std)
	errs = append(errs, err)
	if text {
		t := terminalOf(std.out)
		errs = append(errs, proof.Text(std.out, r, term.Options{Width: t.Width, Color: t.Color()}))
	}
	return errors.Join(errs...)
}
