//go:build unix

package gocmd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInterrupt: of an interrupted go command neither its work folder nor what it has started stays.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nmkdir $GOTMPDIR/go-build1\nsleep 1000 &\necho $! > started\nwait\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GOTMPDIR", t.TempDir())
	work := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if text, err := os.ReadFile(filepath.Join(work, "started")); err == nil && len(text) > 0 {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := (Tool{Dir: work}).Output(ctx, "build", "./..."); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted build: %v", err)
	}
	if left, err := os.ReadDir(os.Getenv("GOTMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	text, err := os.ReadFile(filepath.Join(work, "started"))
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	for range 600 {
		if err := exec.Command("kill", "-0", pid).Run(); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("process %s, which the go command has started, runs on", pid)
}
