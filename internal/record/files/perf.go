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

// errNoPerf says that a perf.data file cannot be read here.
var errNoPerf = errors.New("reading a perf.data file takes Linux's perf, which is not here; what 'perf script " +
	"--header' prints of it on the recording machine will do")

// perfFields are what the reader of perf script wants. The address has to be
// there for a symbol to be printed, and no call that was inlined is resolved:
// that takes perf minutes for a Go program.
const perfFields = "comm,pid,tid,time,period,event,ip,sym,dso"

// PerfScript writes what perf script prints of the perf.data file at path. It
// needs the programs that were recorded to be where they were.
func PerfScript(ctx context.Context, path string, w io.Writer) error {
	if _, err := exec.LookPath("perf"); err != nil {
		return errNoPerf
	}
	common := []string{"script", "--header", "--no-inline", "-f", "-i", path}
	// A recording of tracepoints has no periods: then perf's own choice of
	// fields has to do.
	first := runPerf(ctx, w, append(common, "-F", perfFields))
	if first == nil || first.wrote || ctx.Err() != nil {
		return first.orNil()
	}
	return runPerf(ctx, w, common).orNil()
}

// perfError is perf's own complaint.
type perfError struct {
	err   error
	said  string
	wrote bool // a part of the output is out
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
	// perf ends well after "Cannot print 'period' field", without a sample.
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

// keepPerf brings a perf.data file into the bundle as the text that perf script
// prints, which can be read anywhere; as it is, where perf cannot do that.
func (r *fileRecorder) keepPerf(ctx context.Context, run int, f looseFile) error {
	text, err := perfText(ctx, f.path)
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
	defer os.RemoveAll(filepath.Dir(text))
	f.path, f.part.Path = text, f.part.Path+".txt"
	return r.copy(ctx, run, f)
}

// perfText is the file that perf script's output went to, in a folder of its
// own.
func perfText(ctx context.Context, path string) (string, error) {
	dir, err := os.MkdirTemp("", "heaptrim-perf-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "perf.txt")
	err = writePerf(ctx, path, name)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return name, nil
}

func writePerf(ctx context.Context, path, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(PerfScript(ctx, path, out), out.Close())
}

// IsPerfData tells a perf.data file from what perf script prints of one.
func IsPerfData(path string) (bool, error) {
	head, err := readHead(path)
	return err == nil && magicKind(head) == evidence.KindPerf, err
}
