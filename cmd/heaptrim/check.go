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
	"runtime/debug"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/arguments"
	"github.com/heaptrim/heaptrim/internal/record/command"
	"github.com/heaptrim/heaptrim/internal/report"
	"github.com/heaptrim/heaptrim/internal/report/trace"
)

const checkUsage = `
Usage: heaptrim check [flags] [packages]
       heaptrim check [flags] -exec package [-ready URL] [-load command] [-for duration] [-- args]
       heaptrim check [flags] http://host:port
       heaptrim check [flags] files or bundle...

Records how a program uses memory and reports what that costs in CPU, line by
line, what to change, and what each change would save. Targets are

  packages  whose benchmarks it runs, in separate passes for timing,
            allocations and the collector (default: the current directory);
  -exec     a main package that it builds with a recorder added by overlay and
            runs under load; the source is not changed. With -load it runs
            three times: as it is, and for half as long without a profile and
            with fine-grained sampling.
            A few seconds of execution trace follow the first run (-trace);
            they show which goroutines the collector delayed;
  a URL     of a service with net/http/pprof;
  files     that you already have: CPU, allocs and heap profiles, gctrace logs,
            benchmark text, or a bundle of 'heaptrim record'.

It also writes heaptrim.html, one file that shows the whole report in a browser,
offline; -html gives it another name, -html "" turns it off.

Exit code 3 means that there are findings.

Examples:
  heaptrim check ./examples/gateway
  heaptrim check -bench 'Order' -json report.json ./examples/gateway
  heaptrim check -explain 1 ./examples/gateway
  heaptrim check -threshold 0 -vet -sarif report.sarif ./examples/gateway
  heaptrim check -exec ./examples/gateway/cmd/gateway -for 10s -- -demo
  heaptrim check http://localhost:6060
  heaptrim check cpu.pprof allocs.pprof gctrace.log
`

// checkFlags are the flags of check beyond those of the target.
type checkFlags struct {
	target    targetFlags
	shown     reportFlags
	explain   int
	top       int
	rows      bool
	format    string
	json      string
	csv       string
	md        string
	sarif     string
	pprof     string
	html      string
	htmlAsked bool // -html was given
}

func (f *checkFlags) register(fs *flag.FlagSet) {
	f.target.register(fs)
	f.shown.register(fs)
	fs.IntVar(&f.explain, "explain", 0, "print finding `n` with its stacks and source lines instead of the table")
	fs.IntVar(&f.top, "top", 15, "rows of the table")
	fs.BoolVar(&f.rows, "rows", false, "show each row of where CPU time goes, not their five groups")
	fs.BoolVar(&f.shown.vet, "vet", false,
		"run the source rules of heaptrimvet too, and show their findings on hot lines")
	fs.DurationVar(&f.shown.verify, "verify", 20*time.Second,
		"for up to this `time`, at most a third of -budget, try edits for the first rows, and drop the cures that do "+
			"not hold; 0: do not")
	fs.StringVar(&f.format, "format", "text", "what goes to standard output: `text`, or lines of file:line: message")
	fs.StringVar(&f.json, "json", "", "write the report as JSON to `file`; - is standard output, instead of text")
	fs.StringVar(&f.csv, "csv", "", "write the findings as CSV to `file`; - is standard output")
	fs.StringVar(&f.md, "md", "", "write the report as Markdown to `file`; - is standard output")
	fs.StringVar(&f.sarif, "sarif", "", "write the findings as SARIF 2.1.0 to `file`; - is standard output")
	fs.StringVar(&f.pprof, "pprof", "", "write a pprof profile to `file` in which allocating stacks carry the "+
		"collector's cost")
	fs.StringVar(&f.html, "html", "heaptrim.html", "write the page to `file`; empty: no page")
}

func runCheck(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f checkFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	f.htmlAsked = given["html"]
	if given["budget"] && !given["verify"] {
		f.shown.verify = min(f.shown.verify, f.target.budget/3)
	}
	if err := f.validate(); err != nil {
		return err
	}
	p := newProgress(std.err)
	defer p.Close()
	heard := context.AfterFunc(ctx, func() { p.Announce("interrupted: the report on what was recorded follows (again: no report)") })
	r, err := f.target.record(ctx, fs.Args(), p)
	if err != nil {
		return err
	}
	defer r.Close()
	if heard(); errors.Is(r.cut, context.Canceled) {
		ctx, f.shown.verify = context.WithoutCancel(ctx), 0 // it ended the recording, not the report on it
	}
	v, err := f.shown.report(ctx, r, f.target.dir, p)
	switch {
	case errors.Is(r.cut, command.ErrProgramFailed) && (err != nil || len(v.Prescription.Rows) == 0):
		return r.cut
	case err != nil:
		return err
	case errors.Is(r.cut, command.ErrProgramFailed):
		v.Warnings = append(v.Warnings, r.cut.Error())
	case errors.Is(r.cut, context.Canceled):
		v.Warnings = append(v.Warnings, "the recording was interrupted: the figures cover the part before")
	}
	p.Close()
	if err := f.page(ctx, v, std); err != nil {
		return err
	}
	return f.output(v, std)
}

// reportFlags are the flags of commands that report on a recording.
type reportFlags struct {
	own       string
	escapes   bool
	threshold float64
	vet       bool
	verify    time.Duration
}

func (f *reportFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.own, "own", "", "comma-separated import-path `patterns` of the code you can change; default: "+
		"the main module, then its workspace")
	fs.BoolVar(&f.escapes, "escapes", true,
		"ask the compiler why the hottest values escape to the heap, where the sources are here")
	fs.Float64Var(&f.threshold, "threshold", 100*finding.DefaultThreshold,
		"hide findings that cost, and whose cure saves, less than this `percentage` of CPU and of bytes; 0 shows all")
}

func (f *reportFlags) validate() error {
	if !(f.threshold >= 0 && f.threshold <= 100) { // NaN is neither
		return usagef("-threshold is a percentage")
	}
	return nil
}

// viewed is a recording with the report on it.
type viewed struct {
	*recorded
	*check.Report
}

// report reports on a recording of the module in dir, or elsewhere.
func (f *reportFlags) report(ctx context.Context, r *recorded, dir string, p *progress) (*viewed, error) {
	o := check.Options{Own: splitList(f.own), Escapes: f.escapes, Threshold: f.leastSaving(), Rules: f.vet, Verify: f.verify,
		Progress: p.Printf}
	if r.Manifest.Target.ModuleDir == "" {
		o.Local = gocmd.LocalModule(ctx, dir)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(check.Headroom(r.Manifest.Target.ModuleDir != "" || o.Local.ModuleDir != ""))
	}
	all, err := check.Run(ctx, r.Bundle, o)
	return &viewed{r, all}, err
}

// leastSaving is the threshold as Options has it: there, zero is the default.
func (f *reportFlags) leastSaving() float64 {
	if f.threshold == 0 {
		return -1
	}
	return f.threshold / 100
}

func (f *checkFlags) validate() error {
	stdouts := 0
	for _, o := range []string{f.json, f.csv, f.md, f.sarif} {
		if o == "-" {
			stdouts++
		}
	}
	switch {
	case stdouts > 1:
		return usagef("only one of -json, -csv, -md and -sarif can go to standard output")
	case f.format != "text" && f.format != "lines":
		return usagef("-format %s: want text or lines", f.format)
	case f.explain < 0, f.top < 1:
		return usagef("-explain cannot be negative, and -top is at least 1")
	}
	if err := f.shown.validate(); err != nil {
		return err
	}
	if _, err := regexp.Compile(f.target.bench); err != nil {
		return usagef("-bench: %v", err)
	}
	if err := f.target.validate(); err != nil {
		return err
	}
	return f.writable()
}

// writable looks for the folders that results go to: one that is missing is
// better known before a recording than after it.
func (f *checkFlags) writable() error {
	results := []string{f.json, f.csv, f.md, f.sarif, f.pprof, f.html}
	if strings.HasSuffix(f.target.out, arguments.ArchiveSuffix) {
		results = append(results, f.target.out) // a folder is made as it is asked for
	}
	for _, to := range results {
		if to == "" || to == "-" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(to)); err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
	}
	return nil
}

// output writes every form that was asked for and the text last.
func (f *checkFlags) output(v *viewed, std stdio) error {
	rep, meta := &v.Report.Report, v.meta()
	text, err := writeAll([]output{
		{f.json, func(w io.Writer) error { return report.JSON(w, rep, meta) }},
		{f.csv, func(w io.Writer) error { return report.CSV(w, rep) }},
		{f.md, func(w io.Writer) error { return report.Markdown(w, rep) }},
		{f.sarif, func(w io.Writer) error {
			return report.SARIF(w, rep, report.SARIFOptions{Meta: meta, Source: check.Source(rep.Diagnosis),
				Repository: check.Repository(rep.Diagnosis.Target.ModuleDir)})
		}},
		{f.pprof, func(w io.Writer) error { return v.Session.WritePprof(w) }},
	}, std)
	if err != nil {
		return err
	}
	if text {
		if err := f.text(rep, std); err != nil {
			return err
		}
	}
	for _, row := range rep.Prescription.Rows {
		// Rows that cost less than nothing are for information.
		if row.Cost.CPU.Value > 0 || row.Cost.CPU.Value == 0 && row.Cost.Bytes.Value > 0 {
			return errFindings
		}
	}
	return nil
}

func (f *checkFlags) text(rep *finding.Report, std stdio) error {
	t := terminalOf(std.out)
	switch {
	case f.explain > len(rep.Prescription.Rows):
		return usagef("-explain %d: there are %d findings", f.explain, len(rep.Prescription.Rows))
	case f.explain > 0:
		return report.Explain(std.out, rep, f.explain,
			report.ExplainOptions{Source: check.Source(rep.Diagnosis), Width: t.Width, Color: t.Color()})
	case f.format == "lines":
		return report.Lines(std.out, rep)
	}
	o := report.TextOptions{Width: t.Width, Color: t.Color(), Top: f.top, Rows: f.rows}
	if err := report.Text(std.out, rep, o); err != nil {
		return err
	}
	if rep.Trace == nil {
		return nil
	}
	return trace.Brief(std.out, rep.Trace, rep.Diagnosis.Totals.Cycles.PerSecond, t.Width)
}

func splitList(s string) []string {
	var out []string
	for _, e := range strings.Split(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
