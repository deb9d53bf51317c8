package guard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// dependencies says which benchmarks grew by new versions of other modules alone: the base does,
// with the go.mod of now.
func (x explanation) dependencies(ctx context.Context, grown []*Bench, changed []string) error {
	if x.base == nil || len(x.base.change.Modules) == 0 || len(grown) == 0 {
		return nil
	}
	text := strings.Join(gocmd.FirstOf(changed, 4), ", ")
	if x.base.onlyModules() {
		for _, b := range grown {
			b.From = "no code of this module was changed, but other modules: " + text
		}
		return nil
	}
	dir, err := os.MkdirTemp(x.base.tmp, "mod-")
	if err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		err := gocmd.CopyFile(filepath.Join(x.dir, name), filepath.Join(dir, name))
		if err != nil && !(name == "go.sum" && errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	tool := x.base.tree.Tool
	tool.Flags = append(slices.Clone(tool.Flags), "-modfile="+filepath.Join(dir, "go.mod"))
	c, err := count.New(count.Options{Tool: tool, Collect: x.o.Collect, Progress: x.o.Progress})
	if err != nil {
		return err
	}
	defer c.Close()
	return count.Each(grown, func(b *Bench) error {
		if b.Site != "" {
			return nil // its benchmark says it
		}
		p, ok := x.base.pkg(ctx, x.pkgs[b.Whole()])
		if !ok || b.Base == nil {
			return nil
		}
		found, err := c.Count(ctx, p, []string{b.Name}, count.Run{Ops: b.Ops, CPU: b.CPU})
		if err != nil && !errors.Is(err, count.ErrBuild) {
			return err
		}
		was := budget.Figure{Amount: *b.Base, Tolerance: b.Line.Figure.Tolerance, Ops: b.Ops}
		if with, ok := found[b.Name]; ok {
			if allocs, bytes := was.Over(with.Amount); allocs || bytes {
				b.From = "new versions of other modules make it grow, without the change of this one's code: " + text
			}
		}
		return nil
	})
}

// onlyModules reports whether nothing but the versions of other modules was changed.
func (b *base) onlyModules() bool {
	for _, f := range b.change.Files {
		rel, err := filepath.Rel(b.repo.Root, f)
		if err != nil {
			return false
		}
		rel = filepath.ToSlash(rel)
		name := filepath.Base(rel)
		if name != "go.mod" && name != "go.sum" && !strings.HasPrefix(strings.TrimPrefix(rel, b.repo.Prefix+"/"), "vendor/") {
			return false
		}
	}
	return true
}
