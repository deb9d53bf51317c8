package tempfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Replace replaces a file when its new content is whole, and leaves it as it was
// otherwise. A link stays one, what it leads to is replaced; a file that is there
// keeps its permissions, a new one has those of the umask. Devices and pipes are
// written to.
func Replace(path string, write func(io.Writer) error) error {
	path = Target(path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, failed := Beside(path)
	if failed != nil {
		return fmt.Errorf("write %s: %w", path, failed)
	}
	defer os.Remove(f.Name())
	failed = write(f)
	if err == nil {
		failed = errors.Join(failed, f.Chmod(info.Mode().Perm()))
	}
	if err := errors.Join(failed, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
