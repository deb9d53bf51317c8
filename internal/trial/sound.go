package trial

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/trial/platform"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// Sound looks for what the compiler says of a changed package for other platforms and tags, and what go
// vet says of it, that neither says of the package as it is. It returns the first, "" for none.
func (j *Judge) Sound(ctx context.Context, path string, files Files) (string, error) {
	return remember(ctx, &j.memory, question{path, files.Hash(), "sound"}, func() (string, bool, error) {
		p, err := j.builder.Find(ctx, path)
		if err != nil {
			return "", false, err
		}
		wrong, err := platform.Check(ctx, j.builder.Tool, p, files)
		if err != nil || wrong != "" {
			return wrong, err == nil, err
		}
		wrong, err = j.vet(ctx, path, files)
		return wrong, err == nil, err
	})
}

var position = regexp.MustCompile(`^[^ ]+\.go:\d+(:\d+)?: `)

// vet is a message of go vet that is new.
func (j *Judge) vet(ctx context.Context, path string, files Files) (string, error) {
	after, err := j.vetted(ctx, path, files)
	if err != nil || len(after) == 0 {
		return "", err
	}
	before, err := j.vetted(ctx, path, nil)
	if err != nil {
		return "", err
	}
	for _, m := range after {
		if !slices.Contains(before, m) {
			return "go vet: " + m, nil
		}
	}
	return "", nil
}

// vetted are the messages of go vet, without their places.
func (j *Judge) vetted(ctx context.Context, path string, files Files) ([]string, error) {
	args := slices.Clone(j.o.BuildFlags)
	if len(files) > 0 {
		dir, err := j.builder.Temp("vet")
		if err != nil {
			return nil, err
		}
		overlay, err := version.Overlay(dir, files)
		if err != nil {
			return nil, err
		}
		args = append(args, "-overlay", overlay)
	}
	_, err := j.builder.Tool.Output(ctx, "vet", append(args, path)...)
	if err == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var out []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "vet: "))
		if m := position.FindString(line); m != "" {
			out = append(out, strings.TrimPrefix(line, m))
		}
	}
	return out, nil
}

// Raced compares a change with the code as it is when functions are called from several goroutines, and
// returns what differs.
func (j *Judge) Raced(ctx context.Context, path string, files Files) (string, error) {
	v, err := j.Holds(ctx, Question{Files: files, Changed: []string{path}, Race: true, Proved: true})
	if err != nil || v.Fault != Differs {
		return "", err
	}
	return fmt.Sprint(v.Why), nil
}
