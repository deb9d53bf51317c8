package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// writeAtomic writes name atomically: it appears with everything that fill wrote, on
// disk, or not at all. A crash leaves at most name+unfinished.
func writeAtomic(name string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(name+unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	return fillAndPublish(f, name, fill)
}

// fillAndPublish writes f and gives it its final name. After an error the file is
// removed.
func fillAndPublish(f *os.File, name string, fill func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	buf := bufio.NewWriterSize(f, 64<<10)
	if err := fill(buf); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return publish(f, f.Name(), name)
}

// publish flushes a written file to disk, renames it and closes it.
func publish(f *os.File, temp, name string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes a rename durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// move renames from to name, or copies it where a rename cannot.
func move(from, name string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	if err := syncFile(from); err != nil {
		return err
	}
	if os.Rename(from, name) == nil {
		return syncDir(filepath.Dir(name))
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	err = writeAtomic(name, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	if err != nil {
		return err
	}
	src.Close() // before Remove: Windows keeps open files
	return os.Remove(from)
}

// syncFile flushes a file to disk that another process wrote. Windows needs it open
// for writing; elsewhere it may be read-only.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
