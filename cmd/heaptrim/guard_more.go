package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/limits"
	"github.com/heaptrim/heaptrim/internal/report/budgets"
	"github.com/heaptrim/heaptrim/internal/web/history"
)

// guardCall is how a verb of guard was called.
type guardCall struct {
	verb
	args []string
	std  stdio
}

// guardEngine parses the flags of a verb of guard and runs it with a line of progress.
func guardEngine(fs *flag.FlagSet, c guardCall, run func(o guard.Options) error) error {
	args, std := c.args, c.std
	var f guardFlags
	f.register(fs)
	if err := parse(fs, c.verb, args, std); err != nil {
		return err
	}
	o, err := f.options(fs.Args())
	if err != nil {
		return err
	}
	p := newProgress(std.err)
	defer p.Close()
	o.Progress = p.Printf
	err = run(o)
	p.Close()
	return refused(err)
}

func runGuardHistory(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	html := fs.String("html", "heaptrim-history.html", "write the page to `file`; empty: no page")
	store := fs.String("store", "", "`place` of the budgets; default: as heaptrim.budget says")
	var all []guard.Series
	err := guardEngine(fs, guardCall{c, args, std}, func(o guard.Options) (err error) {
		o.Store = *store
		all, err = guard.History(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if *html != "" {
		if err := writeFile(*html, func(w io.Writer) error { return history.Page(w, "Allocation budgets over commits", all) }); err != nil {
			return err
		}
	}
	return budgets.Histories(std.out, all, shown(std.out))
}

func runGuardBisect(ctx context.Context, c verb, args []string, std stdio) error {
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' && !isHelp(args[0]) {
		return usagef("name the benchmark first: heaptrim guard bisect BenchmarkParse/large [flags] [packages]")
	}
	name := args[0]
	if !isHelp(name) {
		args = args[1:]
	}
	fs := newFlags(c, std)
	good := fs.String("good", "", "`revision` at which it was well; default: the last commit that changed heaptrim.budget")
	bad := fs.String("bad", "HEAD", "`revision` at which it has grown")
	var b *guard.Bisection
	err := guardEngine(fs, guardCall{c, args, std}, func(o guard.Options) (err error) {
		o.Bench = name
		b, err = guard.Bisect(ctx, o, *good, *bad)
		return err
	})
	if err != nil {
		return err
	}
	return budgets.Bisected(std.out, b, shown(std.out))
}

// runGuardLive holds a running service to limits.
func runGuardLive(ctx context.Context, o limits.Options, file string, std stdio) error {
	if file == "" {
		return usagef("%s: a service is held to -limits FILE", o.URL)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-limits: %w", err)
	}
	l, err := limits.Parse(file, text)
	if err != nil {
		return usagef("-limits: %v", err)
	}
	p := newProgress(std.err)
	defer p.Close()
	o.File, o.Progress = l, p.Printf
	r, err := limits.Run(ctx, o)
	if err != nil {
		return err
	}
	p.Close()
	if err := budgets.Limits(std.out, r, shown(std.out)); err != nil {
		return err
	}
	if r.Failed() {
		return errFindings
	}
	return nil
}
