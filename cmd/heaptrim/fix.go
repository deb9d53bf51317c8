package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/fix/hands"
	"github.com/heaptrim/heaptrim/internal/fix/journal"
	"github.com/heaptrim/heaptrim/internal/fix/repo"
	"github.com/heaptrim/heaptrim/internal/fix/service"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/command"
	"github.com/heaptrim/heaptrim/internal/report/fixes"
	"github.com/heaptrim/heaptrim/internal/schema"
)

const fixUsage = `
Usage: heaptrim fix [flags] [packages or bundle]
       heaptrim fix [flags] -exec package [-ready URL] -load command [-- args]
       heaptrim fix -undo
       heaptrim fix -recover

Records the benchmarks of packages as check does, makes the edits that its cures
ask for, and tries each in overlays, your files untouched: the benchmark
allocates less, the tests pass, and calls of what was changed show the same as
before. What holds is looked at once more all together: other platforms and
build tags, go vet, the tests of the packages that depend on it, the race
detector, and the times of the benchmarks, before and after in turns. Then the
files are written, each edit as a whole or not at all.

With -exec, edits are measured by a command under a load, or by its whole run
without one. Of other recordings, such as those of a URL, edits are judged, marked as
not measured, and never applied, unless -genbench finds a call that shows a saving.

An edit whose safety the source proves is applied. One that rests on something
else is shown as a diff with its question, and applied with -safety review.

Tests that fail without any edit stop it if they run what would be edited;
-skip leaves them out, all of them as -skip failing.

Files that are vendored, generated, changed since the recording, or not
committed (-dirty) are left alone, and lines with a comment //nolint:heaptrim.

With -with, a program of yours gets each finding without an edit of its own as
JSON, and a private copy of the module to change; the same judge decides.

Exit code 3 means that there are edits which were not applied: -diff, or edits
to review. A fix that was cut short is undone by the next command of heaptrim,
whichever it is, or by -recover.

Examples:
  heaptrim fix -diff gateway.tar.zst
  heaptrim fix -bench Large -only keep-on-stack ./examples/gateway
  heaptrim fix -safety review gateway.tar.zst
  heaptrim fix -commit -record fixes.jsonl gateway.tar.zst
  heaptrim fix -diff -exec ./cmd/keys
  heaptrim fix -genbench keys.tar.zst
  heaptrim fix -only pool-object -with ./mend.sh -diff gateway.tar.zst
  heaptrim fix -undo
`

// fixFlags are the flags of fix.
type fixFlags struct {
	target  targetFlags
	what    struct{ diff, commit, undo, recover, dirty, race, genbench bool }
	only    string
	safety  string
	budget  time.Duration
	times   time.Duration
	skip    string
	program hands.Program
	withEnv string
	out     struct{ json, md, html, record string }
}

func (f *fixFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.target.dir, "C", "", "run in `dir`ectory")
	fs.StringVar(&f.target.bench, "bench", "", "use the benchmarks that match `regexp`, of a recording, too; default: as many as fit -budget")
	fs.StringVar(&f.target.exec, "exec", "", "measure by this main `package`; its arguments follow --")
	fs.StringVar(&f.target.ready, "ready", "", "with -exec: wait until a GET of this `URL` answers before the load starts")
	fs.StringVar(&f.target.load, "load", "", "with -exec: shell `command` that loads the program, once for each edit")
	fs.StringVar(&f.target.tags, "tags", "", "build `tags`, comma-separated")
	fs.BoolVar(&f.what.diff, "diff", false, "print the edits as a diff and change no file")
	fs.StringVar(&f.only, "only", "", "comma-separated `codes` of the cures to apply; default: all")
	fs.StringVar(&f.safety, "safety", "safe", "`safe` applies what the source proves, review also what a person should look at")
	fs.DurationVar(&f.budget, "budget", 5*time.Minute, "`time` in all, building included: a third to record; of the rest half to try edits, a quarter each for verdicts on "+
		"these, and to confirm all together and compare times. What is not done by then is not applied")
	fs.DurationVar(&f.times, "times", 15*time.Second, "`time` for comparing the times of each benchmark, within what -budget leaves; 0 does not")
	fs.BoolVar(&f.what.dirty, "dirty", false, "edit files that have changes which are not committed, too")
	fs.BoolVar(&f.what.race, "race", true, "run the tests of all edits together with the race detector, if it can be had")
	fs.BoolVar(&f.what.genbench, "genbench", false, "measure what cannot run again by benchmarks that are written for functions, and not kept")
	fs.StringVar(&f.skip, "skip", "", "leave the tests that match `regexp` out; failing: those that fail without any edit")
	fs.BoolVar(&f.what.commit, "commit", false, "make one commit of each edit, with its figures")
	fs.BoolVar(&f.what.undo, "undo", false, "take the last fix of the module back")
	fs.BoolVar(&f.what.recover, "recover", false, "undo what was cut short, and remove what it left")
	fs.StringVar(&f.program.Command, "with", "", "hand findings without an edit to the outside program that this shell `command` starts")
	fs.DurationVar(&f.program.Time, "with-time", 2*time.Minute, "`time` that the outside program may take for one finding; all together have half of what -budget leaves")
	fs.StringVar(&f.withEnv, "with-env", "", "comma-separated `names` of variables that the outside program gets")
	fs.StringVar(&f.out.json, "json", "", "write what was tried as JSON to `file`; - is standard output, instead of text")
	fs.StringVar(&f.out.md, "md", "", "write it as Markdown to `file`; - is standard output, instead of text")
	fs.StringVar(&f.out.html, "html", "", "write it as a page, with diffs and the proof, to `file`")
	fs.StringVar(&f.out.record, "record", "", "append what was predicted and measured of each applied edit to `file`")
}

func (f *fixFlags) validate(args []string) error {
	switch {
	case f.safety != "safe" && f.safety != "review":
		return usagef("-safety %s: want safe or review", f.safety)
	case f.budget <= 0 || f.program.Time <= 0 || f.times < 0:
		return usagef("-budget and -with-time must be positive, and -times not negative")
	case (f.what.undo || f.what.recover) && (len(args) > 0 || f.target.exec != ""):
		return usagef("-undo and -recover take back what was done in the module of the current folder, and nothing else")
	case f.what.commit && f.what.diff:
		return usagef("-diff changes nothing that -commit could commit")
	case f.out.json == "-" && f.out.md == "-":
		return usagef("-json and -md cannot both be standard output")
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
	switch {
	case err != nil:
		return err
	case f.what.recover:
		return nil // every command begins with it
	case f.what.undo:
		return f.takeBack(ctx, store, std)
	case f.what.commit && repo.Root(ctx, f.target.dir) == "":
		return errors.New("-commit: the folder is not in a git repository")
	}
	work, remove, err := store.Work()
	if err != nil {
		return err
	}
	defer remove()
	// What this process and its children leave when they are killed is then found there.
	if err := errors.Join(os.Setenv("TMPDIR", work), os.Setenv("TMP", work), os.Setenv("TEMP", work)); err != nil {
		return err
	}
	return f.fix(ctx, fs.Args(), store, std)
}

// fix records, searches, applies and shows.
func (f *fixFlags) fix(ctx context.Context, args []string, store *journal.Store, std stdio) error {
	p := newProgress(std.err)
	defer p.Close()
	start := time.Now()
	until := start.Add(f.budget)
	f.target.budget, f.target.count, f.target.also.lean = f.budget/3, 1, true
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	r, err := f.target.record(limited, args, p)
	if err != nil {
		return f.spent(limited, err)
	}
	defer r.Close()
	v, err := (&reportFlags{escapes: true}).report(limited, r, f.target.dir, p)
	if err != nil || limited.Err() != nil {
		return f.spent(limited, err)
	}
	if f.target.bench != "" && f.target.exec == "" {
		if err := fix.Choose(&v.Report.Report, f.target.bench); err != nil {
			return usagef("-bench: %v", err)
		}
	}
	o := f.options(v, until, p)
	if f.target.exec != "" {
		t := f.target
		service.Measure(&o, command.Options{Dir: t.dir, Package: t.exec, Args: args, Ready: t.ready, Load: t.load, BuildFlags: t.buildFlags()})
	}
	done, err := fix.Run(ctx, &v.Report.Report, o)
	if err != nil {
		return err
	}
	p.Close()
	applied := !f.what.diff && done.Tried(fix.Kept) > 0
	if applied {
		if err := f.apply(ctx, done, store, strconv.FormatInt(start.UnixNano(), 36)); err != nil {
			return err
		}
	}
	if err := f.show(done, applied, v, std); err != nil {
		return err
	}
	if done.Tried(fix.Review, fix.Open) > 0 || f.what.diff && done.Tried(fix.Kept) > 0 {
		return errFindings
	}
	return nil
}

// spent says that there is no time left to try anything.
func (f *fixFlags) spent(limited context.Context, err error) error {
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the budget of %v was spent on the recording and its report: raise -budget", f.budget)
	}
	if err == nil {
		err = limited.Err()
	}
	return err
}

// options leave what recording did not use for the search.
func (f *fixFlags) options(v *viewed, until time.Time, p *progress) fix.RunOptions {
	o := fix.RunOptions{Until: until, Dirty: f.what.dirty || f.what.diff, Created: v.Manifest.Created, Skip: f.skip, Memory: fix.DefaultMemory(),
		Search: fix.Options{Review: f.safety == "review", Only: splitList(f.only), Tests: true, Generate: f.what.genbench,
			Progress: p.Printf, Dropped: func(a fix.Attempt) {
				p.Say("%s: %s: %s", a.At(v.Diagnosis.Target.ModuleDir), a.Edit.Text, fixes.Reason(a))
			}},
		Confirm: fix.ConfirmOptions{Each: f.times, Race: f.what.race, Progress: p.Printf}}
	if f.program.Command != "" {
		f.program.Env = splitList(f.withEnv)
		meta := schema.Meta{Tool: version(), Created: v.Manifest.Created}
		o.Outside = &fix.Outside{Program: f.program, Brief: func(b fix.Briefed) ([]byte, error) { return fixes.Brief(b, meta) }}
	}
	return o
}

// apply writes the files of each remedy, and commits it if that is wanted.
func (f *fixFlags) apply(ctx context.Context, done *fix.Fixes, store *journal.Store, run string) error {
	list, err := done.Remedies()
	if err != nil {
		return err
	}
	for i, r := range list {
		c := journal.Change{Module: done.Module, Run: run, Read: r.Before, Files: r.After}
		if f.what.commit {
			c.Commit = &journal.Commit{Dir: done.Module, ID: fmt.Sprintf("%s-%d", run, i)}
			c.Commit.Subject, c.Commit.Body = fixes.Message(done, r)
		}
		if err := store.Apply(ctx, c); err != nil {
			return fmt.Errorf("%d of %d edits are applied; %s: %w", i, len(list), r.At(done.Module), err)
		}
	}
	return nil
}

// show prints what was tried.
func (f *fixFlags) show(done *fix.Fixes, applied bool, v *viewed, std stdio) error {
	meta := schema.Meta{Tool: version(), Created: v.Manifest.Created}
	if f.out.record != "" && applied {
		if err := f.appendRecord(done, meta); err != nil {
			return err
		}
	}
	text, err := writeAll([]output{
		{f.out.json, func(w io.Writer) error { return fixes.JSON(w, done, applied, meta) }},
		{f.out.md, func(w io.Writer) error { return fixes.Markdown(w, done, applied) }},
		{f.out.html, func(w io.Writer) error { return fixes.Page(w, done, applied) }},
	}, std)
	if err != nil {
		return err
	}
	if !text {
		return nil
	}
	return f.text(done, applied, std)
}

// text prints for a person.
func (f *fixFlags) text(done *fix.Fixes, applied bool, std stdio) error {
	if err := fixes.Text(std.out, done, applied, shown(std.out)); err != nil {
		return err
	}
	if f.what.diff && len(done.After) > 0 {
		text := string(fixes.Diff(done))
		if terminalOf(std.out).Is {
			text = harmless(text)
		}
		fmt.Fprintf(std.out, "\n%s", text)
	}
	return nil
}

// appendRecord adds to the user's track record.
func (f *fixFlags) appendRecord(done *fix.Fixes, meta schema.Meta) error {
	w, err := os.OpenFile(f.out.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(fixes.Record(w, done, meta, time.Now()), w.Close())
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
		fmt.Fprintf(std.out, "taken back: %s\n", name)
	}
	return err
}
