package gocmd

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	g.Env = append(append([]string{}, g.Env...), "GOROOT="+link, "GOTOOLCHAIN=local")
	return g, nil
}

// command is the go command: the one in PATH, or that of the toolchain that Overlayable named.
func (g Tool) command() string {
	n := len(g.Env)
	if n < 2 || g.Env[n-1] != "GOTOOLCHAIN=local" || !strings.HasPrefix(g.Env[n-2], "GOROOT=") {
		return "go"
	}
	name := "go"
	if runtime.GOOS == "windows" {
		name = "go.exe"
	}
	return filepath.Join(strings.TrimPrefix(g.Env[n-2], "GOROOT="), "bin", name)
}

// Embedded maps the files that packages and what they import embed to the packages.
func (g Tool) Embedded(ctx context.Context, patterns []string) (map[string]string, error) {
	const format = `{{$p := .ImportPath}}{{$d := .Dir}}{{if not .Standard}}{{range .EmbedFiles}}{{$p}}{{"\t"}}{{$d}}{{"\t"}}{{.}}{{"\n"}}{{end}}{{end}}`
	out, err := g.Output(ctx, "list", append([]string{"-deps", "-e", "-f", format, "--"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			files[filepath.Join(f[1], f[2])] = f[0]
		}
	}
	return files, nil
}
