package gocmd

import (
	"context"
	"debug/buildinfo"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// BinaryModules lists the modules that a binary was built from.
func BinaryModules(binary string) []string {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil
	}
	mods := []string{}
	for _, d := range info.Deps {
		mods = append(mods, d.Path)
	}
	return mods
}

// WithoutOwn keeps the module paths that are not the target's own.
func WithoutOwn(mods []string, t evidence.Target) []string {
	var out []string
	for _, m := range mods {
		own := m == t.Module
		for _, w := range t.Workspace {
			own = own || m == w
		}
		if !own {
			out = append(out, m)
		}
	}
	return out
}

// DescribeModules names the main module and the workspace.
func DescribeModules(ctx context.Context, tool Tool, t *evidence.Target) error {
	mods, err := tool.mainModules(ctx)
	if err != nil {
		// Outside any module, for example on packages of the standard library.
		return nil
	}
	dir := tool.Dir
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, m := range mods {
		t.Workspace = append(t.Workspace, m.Path)
		if m.Dir != "" && (abs == m.Dir || strings.HasPrefix(abs, m.Dir+string(filepath.Separator))) &&
			len(m.Dir) > len(t.ModuleDir) {
			t.Module, t.ModuleDir = m.Path, m.Dir
		}
	}
	if t.Module == "" && len(mods) > 0 {
		t.Module, t.ModuleDir = mods[0].Path, mods[0].Dir
	}
	if len(t.Workspace) == 1 {
		t.Workspace = nil
	}
	return nil
}

// LocalModule names the module and the workspace that dir is in, for
// recordings that do not say themselves which module they are of. The zero
// Target means that dir is in none.
func LocalModule(ctx context.Context, dir string) evidence.Target {
	var t evidence.Target
	err := DescribeModules(ctx, Tool{Dir: dir}, &t)
	if err != nil || t.ModuleDir == "" { // outside modules the go command names one without a folder
		return evidence.Target{}
	}
	return t
}
