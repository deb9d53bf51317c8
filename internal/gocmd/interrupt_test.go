//go:build unix

package gocmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestInterrupt: the go command is interrupted and may clean up; it is not killed.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ntrap 'echo yes > cleaned; exit 1' INT\necho yes > started\nwhile :; do sleep 0.1; done\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	work := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(work, "started")); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := (Tool{Dir: work}).Output(ctx, "build", "./..."); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted build: %v", err)
	}
	if _, err := os.Stat(filepath.Join(work, "cleaned")); err != nil {
		t.Errorf("the go command did not clean up: %v", err)
	}
}
