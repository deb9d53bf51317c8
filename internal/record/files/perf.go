package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// errNoPerf means that the perf program is missing.
var errNoPerf = errors.New("reading a perf.data file needs Linux's perf, which is not installed; run 'perf script " +
	"--header' on the recording machine and pass its output instead")

// perfFields are the fields that the reader of perf script needs. perf prints a symbol
// only together with the address. Inlined calls are not resolved: that takes perf
// minutes for a Go program.
const perfFields = "comm,pid,tid,time,period,event,ip,sym,dso"

// PerfScript writes the output of perf script for the perf.data file at path. The
// recorded programs must still be at their recorded paths.
func PerfScript(ctx context.Context, path string, w io.Writer) error {
	if _, err := exec.LookPath("perf"); err != nil {
		return errNoPerf
	}
	common := []string{"script", "--header", "--no-inline", "-f", "-i", path}
	// Recordings of tracepoints have no periods; for these, perf chooses the fields
	// itself.
	first := runPerf(ctx, w, append(common, "-F", perfFields))
	if first == nil || first.wrote || ctx.Err() != nil {
		return first.orNil()
	}
	return runPerf(ctx, w, common).orNil()
}

// perfError is a failure of perf with the first line of its standard error.
type perfError struct {
	err   error
	said  string
	wrote bool // part of the output was already written
}

func (e *perfError) orNil() error {
	if e == nil {
		return nil
	}
	if e.said == "" {
		return fmt.Errorf("perf script: %w", e.err)
	}
	return fmt.Errorf("perf script: %w: %s", e.err, e.said)
}

func runPerf(ctx context.Context, w io.Writer, args []string) *perfError {
	cmd := exec.CommandContext(ctx, "perf", args...)
	var stderr bytes.Buffer
	out := &countingWriter{w: w}
	cmd.Stdout, cmd.Stderr = out, &stderr
	err := cmd.Run()
	said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if err == nil && out.n == 0 {
		err = errors.New("no output")
	}
	// perf exits with status 0 after "Cannot print 'period' field", but prints no samples.
	if err == nil && strings.Contains(said, "Cannot print") {
		err = errors.New("a field is missing")
		out.n = 0
	}
	if err == nil {
		return nil
	}
	return &perfError{err, said, out.n > 0}
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// keepPerf stores a perf.data file as the output of perf script, which can be read on
// any machine. If perf fails, it stores the file unchanged.
func (r *fileRecorder) keepPerf(ctx context.Context, run int, f looseFile) error {
	dir, err := os.MkdirTemp("", "heaptrim-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := Script(ctx, f.path, dir)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		why := fmt.Sprintf("%s is kept, but not read: %v", f.path, err)
		r.o.Progress("warning: %s", why)
		if err := r.w.Update(func(m *evidence.Manifest) { m.Warnings = append(m.Warnings, why) }); err != nil {
			return err
		}
		return r.copy(ctx, run, f)
	}
	f.path, f.part.Path = text, f.part.Path+".txt"
	return r.copy(ctx, run, f)
}

func writePerf(ctx context.Context, path, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(PerfScript(ctx, path, out), out.Close())
}

// Script returns a file with the output of perf script: the named one, or one in dir if that is a
// perf.data file.
func Script(ctx context.Context, name, dir string) (string, error) {
	head, err := readHead(name)
	if err != nil || magicKind(head) != evidence.KindPerf {
		return name, err
	}
	text := filepath.Join(dir, "perf.txt")
	return text, writePerf(ctx, name, text)
}
