package gocmd

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
)

// Overlayable is the tool with a toolchain that overlays reach. The go command overlays nothing
// beneath the module cache, where toolchains lie that it has fetched: such a one is called by
// another name, a symbolic link in the user's cache. Where no link can be made, the tool is
// returned as it is.
func (g Tool) Overlayable(ctx context.Context) (Tool, error) {
	set, err := g.Settings(ctx, "GOROOT", "GOMODCACHE")
	if err != nil {
		return g, err
	}
	root := set["GOROOT"]
	rel, err := filepath.Rel(set["GOMODCACHE"], root)
	if err != nil || !filepath.IsLocal(rel) {
		return g, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return g, nil
	}
	link := filepath.Join(cache, "heaptrim", "toolchain", filepath.Base(root))
	if to, err := os.Readlink(link); err != nil || to != root {
		if err == nil {
			os.Remove(link) // another module cache's
		}
		if os.MkdirAll(filepath.Dir(link), 0o755) != nil {
			return g, nil
		}
		if err := os.Symlink(root, link); err != nil && !fileExists(link) {
			return g, nil
		}
	}
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	g.Go = filepath.Join(link, "bin", name)
	g.Env = append(append([]string{}, g.Env...), "GOROOT="+link, "GOTOOLCHAIN=local")
	return g, nil
}
