// Package input opens the files that a user names on the command line, where - stands for standard
// input.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/heaptrim/heaptrim/internal/ctxio"
)

// Stream opens a file that is read once, and says how it is called. The end of ctx is the end of it.
func Stream(ctx context.Context, name string) (io.ReadCloser, string, error) {
	file := os.Stdin
	if name == "-" {
		name = "standard input"
	} else {
		var err error
		if file, err = os.Open(name); err != nil {
			return nil, name, err
		}
	}
	// A read from a pipe cannot be broken off: it goes on beside until the
	// program ends.
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.Close() })
	go func() {
		_, err := io.Copy(w, file)
		w.CloseWithError(err)
		stop()
		file.Close()
	}()
	return r, name, nil
}

// File opens a file. Standard input is copied to a file of its own where it is to be read twice and is
// none.
func File(name string, twice bool) (*os.File, error) {
	if name != "-" {
		return os.Open(name)
	}
	if _, err := os.Stdin.Seek(0, io.SeekCurrent); err == nil || !twice {
		return os.Stdin, nil
	}
	spool, err := os.CreateTemp("", "heaptrim-input-")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(spool, os.Stdin)
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	// Windows cannot remove a file that is open, and leaves it to the user's
	// temporary folder.
	if removed := os.Remove(spool.Name()); removed != nil && err == nil && !errors.Is(removed, os.ErrPermission) {
		err = removed
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep standard input: %w", err), spool.Close())
	}
	return spool, nil
}

// Name is a name under which a file can be opened: the user's own, or that of a copy of standard input
// in dir.
func Name(ctx context.Context, name, dir string) (string, error) {
	if name != "-" {
		return name, nil
	}
	out, err := os.Create(filepath.Join(dir, "stdin"))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, ctxio.Reader(ctx, os.Stdin))
	return out.Name(), errors.Join(err, out.Close())
}
