package sides

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
	"github.com/heaptrim/heaptrim/internal/record/host"
)

// Tree is a side made ready for building: its files are in a folder and its
// toolchain answers.
type Tree struct {
	side Side
	Tool gocmd.Tool
	Info Info
	tmp  string // for its binaries
	// Of a released command: what to build in tool's folder, and where it runs,
	// which is the user's.
	Command, RunDir string
}

// Maker makes sides ready for building.
type Maker struct {
	Dir        string // the user's: absolute, without symbolic links
	Tmp        string // what is checked out and built lies below it
	Command    string // the package of a command; "" for benchmarks
	BuildFlags []string
	CacheDir   string // for copies of released commands; "" is heaptrim in the user's cache
	Progress   func(format string, args ...any)
	Warn       func(format string, args ...any)
}

// Make puts the files of a side where they can be built, under a name that
// no other side has. Nothing of the user's is written to.
func (m Maker) Make(ctx context.Context, name string, s Side) (*Tree, error) {
	t := &Tree{side: s, tmp: filepath.Join(m.Tmp, "bin"+name), Info: Info{Spec: s.String(), Env: s.Env}}
	if err := os.Mkdir(t.tmp, 0o755); err != nil {
		return nil, err
	}
	flags := append([]string{"-buildvcs=false"}, m.BuildFlags...)
	if s.Tags != "" {
		flags = append(flags, "-tags="+s.Tags)
	}
	t.Tool = gocmd.Tool{Dir: m.Dir, Env: s.buildEnv(), Flags: flags}
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
	case s.Source == Revision:
		if err := m.checkOut(ctx, t); err != nil {
			return nil, err
		}
		move = m.mover(t)
	case s.Source == Dir:
		dir := s.At
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.Dir, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder", s.At)
		}
		t.Tool.Dir = dir
	default:
		if r, err := FindRepository(ctx, m.Dir); err == nil {
			// Without a commit yet, there is nothing to name.
			t.Info.Commit, _ = r.Commit(ctx, "HEAD")
			t.Info.Dirty = t.Info.Commit != "" && r.Dirty(ctx)
		}
	}
	if s.Overlay != "" {
		if err := t.overlay(s.Overlay, m.Dir, move); err != nil {
			return nil, err
		}
	}
	t.Info.GoVersion, err = t.Tool.Setting(ctx, "GOVERSION")
	return t, err
}

// releaseOf is the released command that a side is, NAME@VERSION; "" where it is
// of the user's own code.
func (m Maker) releaseOf(s Side) (string, error) {
	name, version, released := strings.Cut(m.Command, "@")
	switch {
	case !released && s.Version == "":
		return "", nil
	case name == "" || strings.HasPrefix(name, ".") || filepath.IsAbs(name):
		return "", errors.New("a version is of a released command: name its import path")
	case s.Source == Revision || s.Source == Dir:
		return "", fmt.Errorf("a released command has versions, not %s", s.Source)
	case s.Version != "":
		version = s.Version
	}
	return name + "@" + version, nil
}

// fetch makes a released command ready. Its overlay names files of the module,
// relative to its root.
func (m Maker) fetch(ctx context.Context, t *Tree, release string) error {
	m.Progress("fetching %s", release)
	r, err := gocmd.Fetch(ctx, release, m.CacheDir)
	if err != nil {
		return err
	}
	t.Tool = gocmd.Tool{Dir: r.Dir, Env: append(append([]string{}, r.Env...), t.Tool.Env...),
		Flags: append(t.Tool.Flags, r.Flags...)}
	t.Command, t.RunDir, t.Info.Version = r.Package, m.Dir, r.Version
	return nil
}

// checkOut writes the files of a revision into a folder of ours.
func (m Maker) checkOut(ctx context.Context, t *Tree) error {
	r, err := FindRepository(ctx, m.Dir)
	if err != nil {
		return err
	}
	if t.Info.Commit, err = r.Commit(ctx, t.side.At); err != nil {
		return err
	}
	root := roomFor(m.Tmp, "src"+filepath.Base(t.tmp), r.Root)
	m.Progress("checking out %s", t.side.At)
	if err := r.Export(ctx, t.Info.Commit, root); err != nil {
		return err
	}
	t.Tool.Dir = filepath.Join(root, filepath.FromSlash(r.Prefix))
	if _, err := os.Stat(t.Tool.Dir); err != nil {
		return fmt.Errorf("%s has no folder %s", t.side.At, r.Prefix)
	}
	if err := m.workspace(ctx, t, r, root); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, ".gitmodules")); err == nil {
		m.Warn("%s has submodules, whose files are not checked out", t.side.At)
	}
	return nil
}

// workspace has a checked-out side build in the workspace that the user's tree
// is built in, which is often not committed. One outside of the repository is
// of other folders than the copy.
func (m Maker) workspace(ctx context.Context, t *Tree, r Repository, root string) error {
	work, err := gocmd.Tool{Dir: m.Dir, Env: t.side.buildEnv()}.Setting(ctx, "GOWORK")
	if err != nil || work == "" || work == "off" {
		return err
	}
	rel, err := filepath.Rel(r.Root, work)
	if err != nil || !filepath.IsLocal(rel) {
		t.Tool.Env = append(t.Tool.Env, "GOWORK=off")
		m.Warn("%s is built without the workspace %s, which lies outside of the repository", t.side.At, work)
		return nil
	}
	moved := filepath.Join(root, rel)
	t.Tool.Env = append(t.Tool.Env, "GOWORK="+moved)
	if _, err := os.Stat(moved); err == nil {
		return nil
	}
	m.Warn("%s has no %s; the one of the working tree is taken", t.side.At, rel)
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
func (m Maker) mover(t *Tree) func(string) string {
	return func(path string) string {
		real, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			real = filepath.Dir(path)
		}
		rel, err := filepath.Rel(m.Dir, filepath.Join(real, filepath.Base(path)))
		if err != nil {
			return path
		}
		// A path beside the user's folder but in the same repository moves too.
		return filepath.Join(t.Tool.Dir, rel)
	}
}

func (t *Tree) overlay(file, dir string, move func(string) string) error {
	data, err := localOverlay(file, dir, move)
	if err != nil {
		return err
	}
	at := filepath.Join(t.tmp, "overlay.json")
	if err := os.WriteFile(at, data, 0o600); err != nil {
		return err
	}
	t.Tool.Flags = append(t.Tool.Flags, "-overlay="+at)
	return nil
}

// Program is a built binary with what a run of it needs.
type Program struct {
	Path  string
	Dir   string   // to run in
	Env   []string // of the side
	Procs int      // GOMAXPROCS
}

// ProgramOf describes a binary of the side.
func (t *Tree) ProgramOf(path, dir string) Program {
	p := Program{Path: path, Dir: dir, Env: t.side.Env, Procs: runtime.GOMAXPROCS(0)}
	if v, ok := t.side.setting("GOMAXPROCS"); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			p.Procs = n
		}
	}
	return p
}

// Note keeps what was built: two sides with the same binaries and settings are
// one program.
func (t *Tree) Note(pkg, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	t.Info.Binaries = append(t.Info.Binaries, Binary{pkg, hex.EncodeToString(h.Sum(nil))})
	return nil
}

// SameCode reports whether two sides are built from the same code in the same way.
func (t *Tree) SameCode(u *Tree) bool { return t.side.code() == u.side.code() }

// SameAs reports whether two sides are one program in fact.
func (t *Tree) SameAs(u *Tree) bool {
	return len(t.Info.Binaries) > 0 && slices.Equal(t.Info.Binaries, u.Info.Binaries) &&
		slices.Equal(t.side.Env, u.side.Env)
}

// File is where the binary of a package goes.
func (t *Tree) File(importPath string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '_'
		}
		return r
	}, importPath)
	return filepath.Join(t.tmp, name+".exe")
}

// Info is what a side turned out to be.
type Info struct {
	Spec      string
	Commit    string // of a revision, or of the working tree's HEAD; "" when not known
	Dirty     bool   // the working tree differs from Commit
	Version   string // of a released command's module
	GoVersion string
	Env       []string // its own settings
	Binaries  []Binary
}

// Binary is a program that was built for a side.
type Binary struct {
	Package string
	SHA256  string // of the file, in hexadecimal
}

// Debug is the GODEBUG of the process with one more setting.
func (p Program) Debug(add string) string {
	have := os.Getenv("GODEBUG")
	for _, e := range p.Env {
		if v, ok := strings.CutPrefix(e, "GODEBUG="); ok {
			have = v
		}
	}
	return host.JoinDebug(have, add)
}
