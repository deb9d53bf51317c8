// Package service measures edits by a command, under a load or by its whole run, in place of benchmarks.
package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/record/command"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// Measure lets the edits of a run be counted and compared by a command.
func Measure(o *fix.RunOptions, c command.Options) {
	o.Search.Meter = func(ctx context.Context, files trial.Files) (trial.Counts, error) {
		n, err := command.Count(ctx, c, files)
		if errors.Is(err, command.ErrBuild) {
			err = fmt.Errorf("%w: %w", trial.ErrBuild, err)
		}
		return trial.Counts{Allocs: n.Objects, Bytes: n.Bytes, Ops: n.Ops}, err
	}
	o.Confirm.Command = &prove.Command{Package: c.Package, Args: c.Args, Ready: c.Ready, Load: c.Load}
}
