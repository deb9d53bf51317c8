package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/fix/journal"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/report/fixes"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

const fixUsage = `
Usage: heaptrim fix [flags] [packages or bundle]
       heaptrim fix -undo

Records the benchmarks of packages as check does, makes the edits that its cures
ask for, and tries each: the package builds, the benchmark allocates less, the
tests pass. What holds is kept, and looked at once more all together: the tests
of the module's packages that depend on what was changed, and the times of the
benchmarks, before and after in turns. Then the files are written, all or none.

An edit whose safety the source proves is applied. One that rests on something
else is shown as a diff with its question, and applied with -safety review.

Files that are vendored, generated, not formatted by gofmt, changed since the
recording, or not committed (-dirty) are left alone, and lines with a comment
//nolint:heaptrim.

Exit code 3 means that there are edits which were not applied: -diff, or edits
to review.

Examples:
  heaptrim fix -diff ./examples/gateway
  heaptrim fix -bench 'Order' -safety review ./examples/gateway
  heaptrim fix -only presize-slice,presize-map gateway.tar.zst
  heaptrim fix -undo
`

// fixFlags are the flags of fix.
type fixFlags struct {
	target targetFlags
	diff   bool
	only   string
	safety string
	budget time.Duration
	dirty  bool
	race   bool
	undo   bool
	json   string
}

func (f *fixFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.target.dir, "C", "", "run in `dir`ectory")
	fs.StringVar(&f.target.bench, "bench", "", "use the benchmarks that match `regexp`; default: as many as fit -budget")
	fs.StringVar(&f.target.tags, "tags", "", "build `tags`, comma-separated")
	fs.BoolVar(&f.diff, "diff", false, "print the edits as a diff and change no file")
	fs.StringVar(&f.only, "only", "", "comma-separated `codes` of the cures to apply; default: all")
	fs.StringVar(&f.safety, "safety", "safe", "`safe` applies what the source proves, review also what a person should look at")
	fs.DurationVar(&f.budget, "budget", 5*time.Minute, "`time` in all: up to a third to record, and a third to compare times")
	fs.BoolVar(&f.dirty, "dirty", false, "edit files that have changes which are not committed, too")
	fs.BoolVar(&f.race, "race", false, "run the tests of all edits together with the race detector")
	fs.BoolVar(&f.undo, "undo", false, "take the last fix of the module back")
	fs.StringVar(&f.json, "json", "", "write what was tried as JSON to `file`; - is standard output, instead of text")
}

func (f *fixFlags) validate(args []string) error {
	switch {
	case f.safety != "safe" && f.safety != "review":
		return usagef("-safety %s: want safe or review", f.safety)
	case f.budget <= 0:
		return usagef("-budget must be positive")
	case f.undo && len(args) > 0:
		return usagef("-undo takes the last fix of the module in the current folder back, and nothing else")
	}
	return nil
}

func runFix(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f fixFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	if err := f.validate(fs.Args()); err != nil {
		return err
	}
	store, err := journal.NewStore()
	if err != nil {
		return err
	}
	if f.undo {
		return f.takeBack(ctx, store, std)
	}
	p := newProgress(std.err)
	defer p.Close()
	start := time.Now()
	f.target.budget, f.target.count = f.budget/3, 1
	r, err := f.target.record(ctx, fs.Args(), p)
	if err != nil {
		return err
	}
	defer r.Close()
	v, err := (&reportFlags{escapes: true}).report(ctx, r, f.target.dir, p)
	if err != nil {
		return err
	}
	done, err := fix.Run(ctx, &v.Report.Report, f.options(v, time.Since(start), p))
	if err != nil {
		return err
	}
	p.Close()
	applied := !f.diff && len(done.After) > 0
	if applied {
		if err := store.Apply(ctx, journal.Change{Module: done.Module, Run: fmt.Sprint(start.UnixNano()), Read: done.Before, Files: done.After}); err != nil {
			return err
		}
	}
	if err := f.show(done, applied, v, std); err != nil {
		return err
	}
	if done.Tried(fix.Review) > 0 || f.diff && len(done.After) > 0 {
		return errFindings
	}
	return nil
}

// options leave what recording did not use for the search.
func (f *fixFlags) options(v *viewed, recorded time.Duration, p *progress) fix.RunOptions {
	o := fix.RunOptions{Dirty: f.dirty || f.diff,
		Search: fix.Options{Review: f.safety == "review", Only: splitList(f.only), Budget: max(f.budget*2/3-recorded, f.budget/3), Tests: true,
			Progress: p.Printf},
		Confirm: fix.ConfirmOptions{Tests: f.budget / 3, Measure: f.budget / 3, Race: f.race, Progress: p.Printf}}
	o.Created = v.Manifest.Created
	return o
}

// show prints what was tried.
func (f *fixFlags) show(done *fix.Fixes, applied bool, v *viewed, std stdio) error {
	meta := schema.Meta{Tool: version(), Created: v.Manifest.Created}
	if f.json != "" && f.json != "-" {
		err := writeFile(f.json, func(w io.Writer) error { return fixes.JSON(w, done, applied, meta) })
		if err != nil {
			return err
		}
	}
	if f.json == "-" {
		return fixes.JSON(std.out, done, applied, meta)
	}
	t := terminalOf(std.out)
	if err := fixes.Text(std.out, done, applied, term.Options{Width: t.width, Color: t.color()}); err != nil {
		return err
	}
	if f.diff && len(done.After) > 0 {
		text := string(fixes.Diff(done))
		if t.is {
			text = harmless(text)
		}
		fmt.Fprintf(std.out, "\n%s", text)
	}
	return nil
}

// takeBack undoes the last fix of the module in the current folder.
func (f *fixFlags) takeBack(ctx context.Context, store *journal.Store, std stdio) error {
	t := gocmd.LocalModule(ctx, f.target.dir)
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil {
		return err
	}
	files, err := store.Undo(ctx, dir)
	for _, name := range files {
		if err == nil {
			fmt.Fprintf(std.out, "taken back: %s\n", name)
		}
	}
	return err
}
