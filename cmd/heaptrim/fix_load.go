package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/record/command"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// measure lets edits be measured by the command of -exec, in place of benchmarks.
func (f *fixFlags) measure(o *fix.RunOptions, args []string) {
	t := f.target
	count := command.Options{Dir: t.dir, Package: t.exec, Args: args, Ready: t.ready, Load: t.load, BuildFlags: t.buildFlags()}
	o.Search.Meter = func(ctx context.Context, files trial.Files) (trial.Counts, error) {
		one := count
		one.Files = files
		c, err := command.Count(ctx, one)
		if errors.Is(err, command.ErrBuild) {
			err = fmt.Errorf("%w: %w", trial.ErrBuild, err)
		}
		return trial.Counts{Allocs: c.Objects, Bytes: c.Bytes, Ops: c.Ops}, err
	}
	o.Confirm.Command = &prove.Command{Package: t.exec, Args: args, Ready: t.ready, Load: t.load}
}
