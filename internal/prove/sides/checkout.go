package sides

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repository is a git working tree.
type Repository struct {
	Root   string // of the working tree
	Prefix string // of the user's folder below it, slash-separated; "" is the root
}

// FindRepository asks git where dir is.
func FindRepository(ctx context.Context, dir string) (Repository, error) {
	out, err := Git(ctx, dir, nil, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return Repository{}, err
	}
	lines := strings.Split(string(out), "\n")
	r := Repository{Root: filepath.FromSlash(lines[0])}
	if len(lines) > 1 {
		r.Prefix = strings.TrimSuffix(lines[1], "/")
	}
	return r, nil
}

// Commit is the full name of the commit that a revision stands for.
func (r Repository) Commit(ctx context.Context, revision string) (string, error) {
	out, err := Git(ctx, r.Root, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s is no commit of %s", revision, r.Root)
	}
	return strings.TrimSpace(string(out)), nil
}

// Dirty tells whether the working tree differs from its HEAD.
func (r Repository) Dirty(ctx context.Context) bool {
	out, err := Git(ctx, r.Root, nil, "status", "--porcelain", "--ignore-submodules=none")
	return err != nil || len(bytes.TrimSpace(out)) > 0
}

// Export writes the files of a commit below the folder to, which must not
// exist. An index of its own keeps the user's as it is, and unlike git archive
// it leaves nothing out.
func (r Repository) Export(ctx context.Context, commit, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	index := []string{"GIT_INDEX_FILE=" + to + ".index"}
	defer os.Remove(to + ".index")
	if _, err := Git(ctx, r.Root, index, "read-tree", commit); err != nil {
		return err
	}
	_, err := Git(ctx, r.Root, index, "checkout-index", "--all", "--force", "--prefix="+filepath.ToSlash(to)+"/")
	return err
}

// Git runs one git command in a folder and returns its standard output.
func Git(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("git is not in PATH, and a revision needs it; -a dir:FOLDER compares with a folder")
	case err != nil:
		text, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, text)
	}
	return out.Bytes(), nil
}

// roomFor is a folder below tmp for the copy of a tree at root. If it can, its
// path is as long as root's: paths end up in binaries and in what benchmarks
// log, and a byte more is a byte more per operation.
func roomFor(tmp, name, root string) string {
	at := filepath.Join(tmp, name)
	if pad := len(root) - len(at); pad > 0 && pad < 200 {
		at += strings.Repeat("_", pad)
	}
	return at
}

// localOverlay writes the overlay of a side as its build needs it: with
// absolute paths, and those of the user's tree moved to the side's copy.
func localOverlay(file, dir string, move func(path string) string) ([]byte, error) {
	abs := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	data, err := os.ReadFile(abs(file))
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	var in, out struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", file, err)
	}
	if len(in.Replace) == 0 {
		return nil, fmt.Errorf(`overlay %s replaces nothing: want {"Replace": {"file": "replacement"}}`, file)
	}
	out.Replace = map[string]string{}
	for from, to := range in.Replace {
		to = abs(to)
		if to != "" {
			if _, err := os.Stat(to); err != nil {
				return nil, fmt.Errorf("overlay %s: the replacement of %s: %w", file, from, err)
			}
		}
		out.Replace[move(abs(from))] = to
	}
	return json.Marshal(out)
}
