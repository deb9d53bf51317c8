// Package repo asks git about files that are to be changed, and makes commits of changes.
package repo

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Commit is a commit to be made. Its ID is in its message, so that it can be found.
type Commit struct {
	Dir     string `json:"dir"` // in the repository
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// trailer is the line of a message that has the ID.
const trailer = "Heaptrim-Fix: "

// git runs git in a folder.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// Make commits files, and nothing else.
func (c *Commit) Make(ctx context.Context, files []string) error {
	message := c.Subject + "\n\n" + strings.TrimSpace(c.Body+"\n\n"+trailer+c.ID) + "\n"
	if _, err := git(ctx, c.Dir, append([]string{"add", "--"}, files...)...); err != nil {
		return err
	}
	_, err := git(ctx, c.Dir, append([]string{"commit", "--quiet", "-m", message, "--only", "--"}, files...)...)
	return err
}

// IsThere reports whether the commit is among the last of the branch.
func (c *Commit) IsThere(ctx context.Context) bool {
	out, err := git(ctx, c.Dir, "log", "-n", "20", "--format=%B")
	return err == nil && strings.Contains(out, trailer+c.ID)
}

// Back is the commit that takes this one back.
func (c *Commit) Back() Commit {
	return Commit{Dir: c.Dir, ID: c.ID + "-back", Subject: "Take back: " + c.Subject, Body: ""}
}

// Root is the folder of the repository that a folder is in; empty without one.
func Root(ctx context.Context, dir string) string {
	out, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// Dirty reports whether git knows a file and it differs from the last commit.
func Dirty(ctx context.Context, file string) bool {
	out, err := git(ctx, filepath.Dir(file), "status", "--porcelain", "--untracked-files=no", "--", filepath.Base(file))
	return err == nil && len(strings.TrimSpace(out)) > 0
}
