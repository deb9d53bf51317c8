package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/input"
	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/record/files"
	"github.com/heaptrim/heaptrim/internal/report/kernelwork"
)

const perfUsage = `
Usage: heaptrim perf [flags] FILE

Shows from a recording of Linux's perf what the kernel did for a Go program's
memory: page faults, NUMA balancing, huge pages, memory given back, each with
the Go functions that caused it. FILE is perf.data, which needs perf to read it,
or the output of 'perf script --header'; - is such output on standard input. If
several processes were recorded, the Go program with most samples is shown.

With -pprof it writes a profile that keeps the kernel's frames, for go tool
pprof. 'heaptrim check' takes the same files together with others.

Recordings of use:
  perf record -e cpu-clock -F 499 -g -- ./server
  perf record -e page-faults -c 1 -g -p PID -- sleep 10

Examples:
  heaptrim perf perf.txt
  heaptrim perf -pprof kernel.pprof perf.data
`

type perfFlags struct {
	pprof string
	top   int
}

func (f *perfFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.pprof, "pprof", "", "write the samples as a pprof profile to `file`")
	fs.IntVar(&f.top, "top", 5, "functions of each kind of work")
}

func runPerf(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var f perfFlags
	f.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usagef("one recording is needed, not %d", fs.NArg())
	}
	if f.top < 1 {
		return usagef("-top must be 1 or more")
	}
	dir, err := os.MkdirTemp("", "heaptrim-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := fs.Arg(0)
	text, err := input.Name(ctx, name, dir)
	if err == nil {
		text, err = files.Script(ctx, text, dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p, stats, err := perf.Open(text)
	if err != nil {
		return err
	}
	w, err := kernel.Analyze(p, perf.KernelFile, kernel.Columns{
		Samples: p.Column(perf.ColumnSamples), CPU: p.Column(perf.ColumnCPU), Faults: p.Column(perf.ColumnFaults)})
	if err != nil {
		return err
	}
	if f.pprof != "" {
		if err := writeFile(f.pprof, func(out io.Writer) error { return kernelwork.Profile(out, p, stats) }); err != nil {
			return err
		}
	}
	r := kernelwork.Recording{File: name, Process: stats.Process, Frequency: stats.Frequency, Others: stats.Others, Top: f.top}
	for _, e := range stats.Errors {
		e.File = name
		r.Problems = append(r.Problems, e.Error())
	}
	if stats.Truncated {
		r.Problems = append(r.Problems, name+": the last sample is cut off")
	}
	return kernelwork.Text(std.out, r, w)
}
