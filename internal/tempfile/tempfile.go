// Package tempfile creates files that take the place of others when they are
// whole.
package tempfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Beside creates an empty file in the folder of path, under a name that no file
// has. Its permissions are those that the umask leaves of 0666; os.CreateTemp
// gives 0600, whatever the umask. The error does not name the new file, which says
// nothing to who asked for path.
func Beside(path string) (*os.File, error) {
	const tries = 100
	for range tries {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".heaptrim-%08x", rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return f, err
	}
	return nil, fs.ErrExist
}

// Target is the file that a path stands for: what a symbolic link leads to, also
// where that does not exist yet, and the path itself otherwise.
func Target(path string) string {
	const hops = 40 // as Linux has it
	for range hops {
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}
