package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/arguments"
)

const recordUsage = `
Usage: heaptrim record [-o bundle] [flags] [packages]
       heaptrim record [-o bundle] -exec package [-ready URL] [-load command] [-for duration] [-- args]
       heaptrim record [-o bundle] http://host:port
       heaptrim record [-o bundle] files...

Makes the recording of 'heaptrim check' and keeps it as a bundle: a directory of
standard files with a manifest, or the same in one .tar.zst file. 'heaptrim
check BUNDLE' reports on it, here or on another machine.

Examples:
  heaptrim record -o gateway.tar.zst ./examples/gateway
  heaptrim check gateway.tar.zst
`

func runRecord(ctx context.Context, c verb, args []string, std stdio) error {
	fs := newFlags(c, std)
	var t targetFlags
	t.register(fs)
	if err := parse(fs, c, args, std); err != nil {
		return err
	}
	if err := t.validate(); err != nil {
		return err
	}
	if t.out == "" {
		t.out = "heaptrim-" + time.Now().Format("20060102-150405") + arguments.ArchiveSuffix
	}
	p := newProgress(std.err)
	defer p.Close()
	r, err := t.record(ctx, fs.Args(), p)
	if err != nil {
		return err
	}
	defer r.Close()
	p.Close()
	for _, w := range r.Manifest.Warnings {
		fmt.Fprintf(std.err, "heaptrim record: warning: %s\n", w)
	}
	for _, w := range append(r.Manifest.LeftOut, r.Problems()...) {
		fmt.Fprintf(std.err, "heaptrim record: %s\n", w)
	}
	for _, l := range r.Manifest.Gaps {
		fmt.Fprintf(std.err, "heaptrim record: not recorded: %s\n", l.What)
	}
	fmt.Fprintln(std.out, t.out)
	if errors.Is(r.cut, context.Canceled) {
		fmt.Fprintln(std.err, "heaptrim record: interrupted; the bundle holds what was recorded until then")
	}
	return nil
}
