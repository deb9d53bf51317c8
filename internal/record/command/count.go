package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Counts are what an operation of a command allocates: a request under a load, or the whole run of a
// command without one.
type Counts struct {
	Objects, Bytes float64
	Ops            int64
}

// Count builds a command as [Record] does, with the content of some files in place of what is on disk, runs it
// once without any profile, and returns what an operation allocates.
func Count(ctx context.Context, o Options, files map[string][]byte) (Counts, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	tmp, err := os.MkdirTemp("", "heaptrim-")
	if err != nil {
		return Counts{}, err
	}
	defer os.RemoveAll(tmp)
	w, err := bundle.Create(filepath.Join(tmp, "bundle"), evidence.Manifest{})
	if err != nil {
		return Counts{}, err
	}
	defer w.Close(false)
	r := &execRecorder{o: o, files: files, w: w, tmp: tmp}
	if err := r.build(ctx); err != nil {
		return Counts{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	r.run = w.Run(evidence.Run{Name: "service", Package: r.target.pkg.ImportPath})
	p, err := r.record(ctx, execPass{name: evidence.PassCollector, options: unprofiledOptions()})
	if err != nil {
		return Counts{}, err
	}
	ops := p.load.requests
	switch {
	case r.failed != nil:
		return Counts{}, fmt.Errorf("%s: %w: %w", o.Package, ErrProgramFailed, r.failed)
	case o.Load == "":
		ops = 1
	case ops == 0:
		return Counts{}, errors.New("the load command's output does not say how many requests it made")
	}
	return Counts{p.allocated.objects / float64(ops), p.allocated.bytes / float64(ops), ops}, nil
}

// ErrBuild means that a command does not build.
var ErrBuild = errors.New("it does not build")
