package prove

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// tree is a side made ready for building: its files are in a folder and its
// toolchain answers.
type tree struct {
	side Side
	tool gocmd.Tool
	info SideInfo
	tmp  string // for its binaries
	// Of a released command: what to build in tool's folder, and where it runs,
	// which is the user's.
	command, runDir string
}

// maker makes sides ready for building.
type maker struct {
	dir        string // the user's: absolute, without symbolic links
	tmp        string // what is checked out and built lies below it
	command    string // the package of a command; "" for benchmarks
	buildFlags []string
	cacheDir   string // for copies of released commands; "" is heaptrim in the user's cache
	progress   func(format string, args ...any)
	warn       func(format string, args ...any)
}

// makeTree puts the files of a side where they can be built, under a name that
// no other side has. Nothing of the user's is written to.
func (m maker) makeTree(ctx context.Context, name string, s Side) (*tree, error) {
	t := &tree{side: s, tmp: filepath.Join(m.tmp, "bin"+name), info: SideInfo{Spec: s.String(), Env: s.Env}}
	if err := os.Mkdir(t.tmp, 0o755); err != nil {
		return nil, err
	}
	flags := append([]string{"-buildvcs=false"}, m.buildFlags...)
	if s.Tags != "" {
		flags = append(flags, "-tags="+s.Tags)
	}
	t.tool = gocmd.Tool{Dir: m.dir, Env: s.buildEnv(), Flags: flags}
	move := func(path string) string { return path }
	release, err := m.releaseOf(s)
	switch {
	case err != nil:
		return nil, err
	case release != "":
		if err := m.fetch(ctx, t, release); err != nil {
			return nil, err
		}
		move = m.mover(t)
	case s.Source == SourceRevision:
		if err := m.checkOut(ctx, t); err != nil {
			return nil, err
		}
		move = m.mover(t)
	case s.Source == SourceDir:
		dir := s.At
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.dir, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder", s.At)
		}
		t.tool.Dir = dir
	default:
		if r, err := findRepository(ctx, m.dir); err == nil {
			// Without a commit yet, there is nothing to name.
			t.info.Commit, _ = r.commit(ctx, "HEAD")
			t.info.Dirty = t.info.Commit != "" && r.dirty(ctx)
		}
	}
	if s.Overlay != "" {
		if err := t.overlay(s.Overlay, m.dir, move); err != nil {
			return nil, err
		}
	}
	t.info.GoVersion, err = t.tool.Setting(ctx, "GOVERSION")
	return t, err
}

// releaseOf is the released command that a side is, NAME@VERSION; "" where it is
// of the user's own code.
func (m maker) releaseOf(s Side) (string, error) {
	name, version, released := strings.Cut(m.command, "@")
	switch {
	case !released && s.Version == "":
		return "", nil
	case name == "" || strings.HasPrefix(name, ".") || filepath.IsAbs(name):
		return "", errors.New("a version is of a released command: name its import path")
	case s.Source == SourceRevision || s.Source == SourceDir:
		return "", fmt.Errorf("a released command has versions, not %s", s.Source)
	case s.Version != "":
		version = s.Version
	}
	return name + "@" + version, nil
}

// fetch makes a released command ready. Its overlay names files of the module,
// relative to its root.
func (m maker) fetch(ctx context.Context, t *tree, release string) error {
	m.progress("fetching %s", release)
	r, err := gocmd.Fetch(ctx, release, m.cacheDir)
	if err != nil {
		return err
	}
	t.tool = gocmd.Tool{Dir: r.Dir, Env: append(append([]string{}, r.Env...), t.tool.Env...), Flags: append(t.tool.Flags, r.Flags...)}
	t.command, t.runDir, t.info.Version = r.Package, m.dir, r.Version
	return nil
}

// checkOut writes the files of a revision into a folder of ours.
func (m maker) checkOut(ctx context.Context, t *tree) error {
	r, err := findRepository(ctx, m.dir)
	if err != nil {
		return err
	}
	if t.info.Commit, err = r.commit(ctx, t.side.At); err != nil {
		return err
	}
	root := roomFor(m.tmp, "src"+filepath.Base(t.tmp), r.root)
	m.progress("checking out %s", t.side.At)
	if err := r.export(ctx, t.info.Commit, root); err != nil {
		return err
	}
	t.tool.Dir = filepath.Join(root, filepath.FromSlash(r.prefix))
	if _, err := os.Stat(t.tool.Dir); err != nil {
		return fmt.Errorf("%s has no folder %s", t.side.At, r.prefix)
	}
	if err := m.workspace(ctx, t, r, root); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, ".gitmodules")); err == nil {
		m.warn("%s has submodules, whose files are not checked out", t.side.At)
	}
	return nil
}

// workspace has a checked-out side build in the workspace that the user's tree
// is built in, which is often not committed. One outside of the repository is
// of other folders than the copy.
func (m maker) workspace(ctx context.Context, t *tree, r repository, root string) error {
	work, err := gocmd.Tool{Dir: m.dir, Env: t.side.buildEnv()}.Setting(ctx, "GOWORK")
	if err != nil || work == "" || work == "off" {
		return err
	}
	rel, err := filepath.Rel(r.root, work)
	if err != nil || !filepath.IsLocal(rel) {
		t.tool.Env = append(t.tool.Env, "GOWORK=off")
		m.warn("%s is built without the workspace %s, which lies outside of the repository", t.side.At, work)
		return nil
	}
	moved := filepath.Join(root, rel)
	t.tool.Env = append(t.tool.Env, "GOWORK="+moved)
	if _, err := os.Stat(moved); err == nil {
		return nil
	}
	m.warn("%s has no %s; the one of the working tree is taken", t.side.At, rel)
	for _, suffix := range []string{"", ".sum"} {
		data, err := os.ReadFile(work + suffix)
		if err == nil {
			err = os.WriteFile(moved+suffix, data, 0o644)
		}
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	return nil
}

// mover maps paths of the user's tree to those of the copy.
func (m maker) mover(t *tree) func(string) string {
	return func(path string) string {
		real, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			real = filepath.Dir(path)
		}
		rel, err := filepath.Rel(m.dir, filepath.Join(real, filepath.Base(path)))
		if err != nil {
			return path
		}
		// A path beside the user's folder but in the same repository moves too.
		return filepath.Join(t.tool.Dir, rel)
	}
}

func (t *tree) overlay(file, dir string, move func(string) string) error {
	data, err := localOverlay(file, dir, move)
	if err != nil {
		return err
	}
	at := filepath.Join(t.tmp, "overlay.json")
	if err := os.WriteFile(at, data, 0o600); err != nil {
		return err
	}
	t.tool.Flags = append(t.tool.Flags, "-overlay="+at)
	return nil
}

// program is a built binary with what a run of it needs.
type program struct {
	path  string
	dir   string   // to run in
	env   []string // of the side
	procs int      // GOMAXPROCS
}

// programOf describes a binary of the side.
func (t *tree) programOf(path, dir string) program {
	p := program{path: path, dir: dir, env: t.side.Env, procs: runtime.GOMAXPROCS(0)}
	if v, ok := t.side.setting("GOMAXPROCS"); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			p.procs = n
		}
	}
	return p
}

// note keeps what was built: two sides with the same binaries and settings are
// one program.
func (t *tree) note(pkg, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	t.info.Binaries = append(t.info.Binaries, Binary{pkg, hex.EncodeToString(h.Sum(nil))})
	return nil
}

// sameCode reports whether two sides are built from the same code in the same way.
func (t *tree) sameCode(u *tree) bool { return t.side.code() == u.side.code() }

// sameAs reports whether two sides are one program in fact.
func (t *tree) sameAs(u *tree) bool {
	return len(t.info.Binaries) > 0 && slices.Equal(t.info.Binaries, u.info.Binaries) && slices.Equal(t.side.Env, u.side.Env)
}

// file is where the binary of a package goes.
func (t *tree) file(importPath string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '_'
		}
		return r
	}, importPath)
	return filepath.Join(t.tmp, name+".exe")
}
