package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/cycles"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/input"
	"github.com/heaptrim/heaptrim/internal/report/gclog"
)

const gctraceUsage = `
Usage: heaptrim gctrace [flags] FILE

Sums up a log of GODEBUG=gctrace=1, of Go 1.5 to 1.27: phases and pauses as a
histogram, allocation from one cycle to the next, the time between cycles, and
all of it over time. The program's own lines may be between those of the log,
and a logger may have put a prefix before each. FILE may have any length; - is
standard input, such as the standard error of a program that still runs:

  GODEBUG=gctrace=1 ./server 2>&1 | heaptrim gctrace -each -

After an interrupt it still reports on what it has read. Lines that begin like
gctrace but cannot be read are listed with their numbers.

Examples:
  heaptrim gctrace gctrace.log
  heaptrim gctrace -json gctrace.json gctrace.log
  heaptrim gctrace -each -pass -
`

type gctraceFlags struct {
	json string
	each bool
	pass bool
	rows int
}

func (f *gctraceFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.json, "json", "", "write the report as JSON to `file`; - is standard output, instead of text")
	fs.BoolVar(&f.each, "each", false, "print each cycle on a line as it comes, before the report")
	fs.BoolVar(&f.pass, "pass", false, "pass the program's own lines on to standard error")
	fs.IntVar(&f.rows, "rows", 24, "most rows of the time line")
}

func runGCTrace(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f gctraceFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	switch {
	case fs.NArg() != 1:
		return usagef("one log is needed, not %d", fs.NArg())
	case f.rows < 1:
		return usagef("-rows must be 1 or more")
	case f.each && f.json == "-":
		return usagef("-each and -json - cannot both have standard output")
	}
	in, name, err := input.Stream(ctx, fs.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	l, err := f.read(in, name, std)
	if err != nil {
		return err
	}
	if l.Summary.Count.Cycles == 0 && l.Unread == 0 {
		return fmt.Errorf("%s: none of %d lines is a collection that GODEBUG=gctrace=1 prints", name, l.Lines)
	}
	return f.write(l, std)
}

// read sums up the log, and prints what is asked for on the way.
func (f *gctraceFlags) read(in io.Reader, name string, std stdio) (*gclog.Log, error) {
	if f.pass {
		own := gctrace.NewSplitter(io.Discard, std.err)
		defer own.Close()
		in = io.TeeReader(in, own)
	}
	tally := cycles.Tally{Rows: f.rows}
	stats, err := gctrace.Scan(name, in, func(c evidence.Cycle) error {
		step := tally.Add(c)
		if !f.each {
			return nil
		}
		return gclog.Cycle(std.out, c, step)
	})
	if err != nil {
		return nil, err
	}
	l := &gclog.Log{File: name, Lines: stats.Lines, Unread: stats.Malformed, Summary: tally.Summary()}
	for _, e := range stats.Errors {
		l.Errors = append(l.Errors, e.Error())
	}
	return l, nil
}

func (f *gctraceFlags) write(l *gclog.Log, std stdio) error {
	text, err := writeAll([]output{{f.json, func(w io.Writer) error { return gclog.JSON(w, l) }}}, std)
	if err != nil || !text {
		return err
	}
	if f.each && l.Summary.Count.Cycles > 0 {
		fmt.Fprintln(std.out)
	}
	return gclog.Text(std.out, l)
}
