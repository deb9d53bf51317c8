package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/limits"
	"github.com/heaptrim/heaptrim/internal/report/budgets"
	"github.com/heaptrim/heaptrim/internal/schema"
)

const guardUsage = `
Usage: heaptrim guard [flags] [packages]
       heaptrim guard init [flags] [packages]
       heaptrim guard update [flags] [packages]
       heaptrim guard history [flags]
       heaptrim guard bisect BENCHMARK [flags] [packages]
       heaptrim guard -limits file [-for duration] http://host:port

Keeps what benchmarks allocate within the budgets of the file heaptrim.budget,
next to go.mod. init measures and writes the file, update changes its lines, and
guard fails with exit code 3 if a benchmark allocates more than its line allows.
It says what grew, on which line of the source and why.

All allocations of a fixed number of operations are counted, each benchmark in a
process of its own. Time is not looked at. Figures that vary by themselves get a
tolerance. A benchmark fails only if it is above its budget in each of five runs,
and shrank if it is below in each.

Only benchmarks that a change can affect are run: those of packages that import
what differs from the last commit in common with the remote's default branch.

With -base the difference to a revision is shown too, for pull requests; a module
without budgets is then held to that revision. history draws the budgets of all
commits, bisect finds the commit that made a benchmark grow. A service at a URL,
with net/http/pprof, is held to the limits of a file:
  alloc-per-request <= 64KiB
  alloc-rate <= 50MiB/s
  gc-share <= 10%
  requests http://localhost:6060/metrics http_requests_total

//heaptrim:noalloc, //heaptrim:allocs<=N and //heaptrim:nogrow in the source are promises.

Examples:
  heaptrim guard init
  heaptrim guard
  heaptrim guard update -reason 'keys are interned'
  heaptrim guard update -shrink
  heaptrim guard init -sites
  heaptrim guard -base origin/main -md comment.md -sarif guard.sarif -o runs
  heaptrim guard -json - -base HEAD
  heaptrim guard history -html history.html
  heaptrim guard bisect BenchmarkWords -good HEAD~6
  heaptrim guard -limits limits.txt http://localhost:6060
`

// guardFlags are the flags that all verbs of guard share.
type guardFlags struct {
	dir, bench, tags, cpu, rules, base string
	all                                bool
	out                                guardOutputs
}

// guardOutputs are files that the result goes to.
type guardOutputs struct {
	json, md, sarif, html, runs, page string
	annotations                       bool
}

func (f *guardOutputs) register(fs *flag.FlagSet) {
	fs.StringVar(&f.json, "json", "", "write the result as JSON to `file`; - is standard output, instead of text")
	fs.StringVar(&f.md, "md", "", "write the difference as Markdown, for a comment, to `file`; - is standard output")
	fs.StringVar(&f.sarif, "sarif", "", "write what fails as SARIF 2.1.0 to `file`; - is standard output")
	fs.StringVar(&f.html, "html", "", "write all lines as a page to `file`; - is standard output")
	fs.StringVar(&f.runs, "o", "", "write the counts as Go benchmark text to before.txt and after.txt in `dir`ectory, for benchstat")
	fs.StringVar(&f.page, "page", "", "`URL` of the page, as an artifact of CI, that -md links to")
	fs.BoolVar(&f.annotations, "annotations", false, "print what fails as workflow commands of GitHub and Gitea, too")
}

func (f *guardFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.dir, "C", "", "run in `dir`ectory")
	fs.StringVar(&f.bench, "bench", "", "only the benchmarks that match `regexp`")
	fs.StringVar(&f.tags, "tags", "", "build `tags`, comma-separated")
	fs.StringVar(&f.cpu, "cpu", "", "`values` of GOMAXPROCS, comma-separated; default: those of the file, and 1 without one")
	fs.StringVar(&f.rules, "rule", "", "comma-separated `rules` EVENT=fail|warn|adopt for new, renamed, deleted, skipped, failing and shrunk benchmarks")
}

func (f *guardFlags) changes(fs *flag.FlagSet) {
	fs.StringVar(&f.base, "base", "", "`revision` to compare with; default: the last commit in common with the remote's default branch")
	fs.BoolVar(&f.all, "all", false, "run all benchmarks, also those that no change can affect")
}

// options checks the flags and makes the engine's of them.
func (f *guardFlags) options(args []string) (guard.Options, error) {
	o := guard.Options{Dir: f.dir, Patterns: args, Bench: f.bench, Tags: f.tags, Base: f.base, All: f.all}
	var err error
	if f.cpu != "" {
		if o.CPU, err = budget.ParseCPU(f.cpu); err != nil {
			return o, usagef("-cpu: %v", err)
		}
	}
	if o.Rules, err = budget.ParseRules(f.rules); err != nil {
		return o, usagef("-rule: %v", err)
	}
	return o, nil
}

// guardVerbs are the verbs behind guard.
func guardVerbs() []verb {
	return []verb{
		{"guard init", "", runGuardInit, guardUsage},
		{"guard update", "", runGuardUpdate, guardUsage},
		{"guard history", "", runGuardHistory, guardUsage},
		{"guard bisect", "", runGuardBisect, guardUsage},
	}
}

func runGuard(ctx context.Context, c verb, args []string, std stdio) error {
	if len(args) > 0 {
		for _, v := range guardVerbs() {
			if v.name == "guard "+args[0] {
				return v.run(ctx, v, args[1:], std)
			}
		}
	}
	fs := newFlags(c, std)
	var f guardFlags
	f.register(fs)
	f.changes(fs)
	f.out.register(fs)
	limitFile := fs.String("limits", "", "hold the service at a URL to the limits in `file`")
	window := fs.Duration("for", 30*time.Second, "with -limits: `time` to measure")
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	a := fs.Args()
	url := len(a) == 1 && (strings.HasPrefix(a[0], "http://") || strings.HasPrefix(a[0], "https://"))
	if *limitFile != "" || url {
		if !url || *window <= 0 {
			return usagef("-limits is for one URL, and -for is positive")
		}
		return runGuardLive(ctx, limits.Options{URL: a[0], For: *window}, *limitFile, std)
	}
	o, err := f.options(a)
	if err != nil {
		return err
	}
	if err := f.out.validate(); err != nil {
		return err
	}
	p := newProgress(std.err)
	defer p.Close()
	o.Progress = p.Printf
	r, err := guard.Run(ctx, o)
	if err != nil {
		return refused(err)
	}
	p.Close()
	if err := f.out.write(r, std); err != nil {
		return err
	}
	if r.Failed() {
		return errFindings
	}
	return nil
}

const sitesHelp = "write lines for the functions that allocate most in each benchmark, too"

func runGuardInit(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	force := fs.Bool("force", false, "measure all anew where there is a file already; reasons stay")
	sites := fs.Bool("sites", false, sitesHelp)
	store := fs.String("store", "", "keep the budgets in `place`: ref:NAME of git or dir:FOLDER, a file for each commit")
	var w *guard.Written
	err := guardEngine(fs, guardCall{c, args, std}, func(o guard.Options) (err error) {
		o.Sites, o.Store = *sites, *store
		w, err = guard.Init(ctx, o, *force)
		return err
	})
	if err != nil {
		return err
	}
	return budgets.Wrote(std.out, w, shown(std.out))
}

func runGuardUpdate(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f guardFlags
	f.changes(fs)
	var u guard.UpdateOptions
	fs.BoolVar(&u.Shrink, "shrink", false, "only lower budgets")
	sites := fs.Bool("sites", false, sitesHelp)
	fs.StringVar(&u.Reason, "reason", "", "write `text` behind the lines that change")
	var w *guard.Written
	err := guardEngine(fs, guardCall{c, args, std}, func(o guard.Options) (err error) {
		if strings.ContainsAny(u.Reason, "\n\r") {
			return usagef("-reason is one line")
		}
		o.Base, o.All, o.Sites = f.base, f.all, *sites
		w, err = guard.Update(ctx, o, u)
		return err
	})
	if err != nil {
		return err
	}
	return budgets.Wrote(std.out, w, shown(std.out))
}

func (f *guardOutputs) validate() error {
	stdouts := 0
	for _, to := range []string{f.json, f.md, f.sarif, f.html} {
		if to == "-" {
			stdouts++
		}
	}
	if stdouts > 1 {
		return usagef("only one of -json, -md, -sarif and -html can go to standard output")
	}
	if f.runs != "" {
		return os.MkdirAll(f.runs, 0o755)
	}
	return nil
}

// write writes every form that was asked for and the text last.
func (f *guardOutputs) write(r *guard.Result, std stdio) error {
	meta := schema.Meta{Tool: version(), Created: time.Now()}
	repository := check.Repository(r.Dir)
	text, err := writeAll([]output{
		{f.json, func(w io.Writer) error { return budgets.JSON(w, r, meta) }},
		{f.md, func(w io.Writer) error { return budgets.Markdown(w, r, budgets.MarkdownOptions{Page: f.page}) }},
		{f.sarif, func(w io.Writer) error { return budgets.SARIF(w, r, repository, meta) }},
		{f.html, func(w io.Writer) error { return budgets.Page(w, r) }},
	}, std)
	if err != nil {
		return err
	}
	if f.runs != "" {
		for name, base := range map[string]bool{"before.txt": true, "after.txt": false} {
			if err := writeFile(filepath.Join(f.runs, name), func(w io.Writer) error { return budgets.Bench(w, r, base) }); err != nil {
				return err
			}
		}
	}
	if text {
		if err := budgets.Text(std.out, r, shown(std.out)); err != nil {
			return err
		}
	}
	if f.annotations {
		return budgets.Annotations(std.out, r, repository)
	}
	return nil
}

// refused makes an error of the command line of a build that is refused.
func refused(err error) error {
	if errors.Is(err, guard.ErrRefused) {
		return usagef("%v", err)
	}
	return err
}
