package main

import (
	"context"
	"flag"
	"io"

	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/input"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/trace"
)

const traceUsage = `
Usage: heaptrim trace [flags] FILE

Shows from an execution trace of Go 1.22 or later what the collector did: mark
phases, assists on the CPU and parked, sweeping, stops of the world. Then it
shows which goroutines it delayed: by the function they began in, by HTTP
handler, and by task and region. Their time is split into parts that add up.
With a CPU profile recorded while tracing, it also shows the allocating lines
during GC: lines of the program's own code that allocated, themselves or in a
library, while other goroutines were delayed. FILE may have any length; - is
standard input, and a bundle means the trace in it.

With -summary it shows only what the collector did, in a fraction of the time. Of a
file that is cut short it reports the part before the cut, and exits with 1.

Examples:
  heaptrim trace trace.out
  heaptrim trace -summary trace.out
  heaptrim trace -json trace.json trace.out
`

type traceFlags struct {
	json    string
	summary bool
	top     int
	own     []string // import paths of the user's code, where they are known
}

func (f *traceFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.json, "json", "", "write the report as JSON to `file`; - is standard output, instead of text")
	fs.BoolVar(&f.summary, "summary", false, "show what the collector did, but not the delayed goroutines")
	fs.IntVar(&f.top, "top", 10, "rows of each table")
}

func runTrace(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f traceFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usagef("one trace is needed, not %d", fs.NArg())
	}
	if f.top < 1 {
		return usagef("-top must be 1 or more")
	}
	p := newProgress(std.err)
	defer p.Close()
	path, target, done, err := check.TraceFile(fs.Arg(0))
	if err != nil {
		return err
	}
	defer done()
	f.own = check.OwnPaths(target)
	t, broken := f.read(ctx, path, p)
	p.Close()
	if t == nil {
		return broken
	}
	t.File = fs.Arg(0)
	if err := f.write(t, std); err != nil {
		return err
	}
	return broken
}

// read reads the trace. With an error it returns what there is, or nil.
func (f *traceFlags) read(ctx context.Context, name string, p *progress) (*latency.Trace, error) {
	in, err := input.File(name, !f.summary)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return latency.Read(ctx, name, in, latency.ReadOptions{Own: f.own, SummaryOnly: f.summary, Progress: p.Printf})
}

func (f *traceFlags) write(t *latency.Trace, std stdio) error {
	text, err := writeAll([]output{{f.json, func(w io.Writer) error { return trace.JSON(w, t) }}}, std)
	if err != nil || !text {
		return err
	}
	return trace.Text(std.out, t, f.top)
}
