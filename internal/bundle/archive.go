package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/tempfile"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Limits bounds what an archive may unpack to. Pack refuses to write what Open would
// refuse to read.
type Limits struct {
	File    unit.Bytes // of one file
	Total   unit.Bytes // of all files
	Entries int        // files and folders
	Window  unit.Bytes // of the decompressor: its memory
}

// defaultLimits allow an hour of execution trace.
func defaultLimits() Limits {
	return Limits{File: 4 * unit.GiB, Total: 8 * unit.GiB, Entries: 20_000, Window: 128 * unit.MiB}
}

// countingReader counts the bytes read, so that errors can name a position.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// unpack writes the regular files of a .tar.zst below dir. Its memory does not grow
// with the archive.
func unpack(r io.Reader, dir string, limits Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	counted := &countingReader{r: r}
	dec, err := zstd.NewReader(counted, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(limits.Window)))
	if err != nil {
		return fmt.Errorf("not a zstd archive: %w", err)
	}
	defer dec.Close()
	u := unpacker{root: root, limits: limits, seen: map[string]bool{}}
	unpacked := &countingReader{r: dec}
	if err := u.all(tar.NewReader(unpacked)); err != nil {
		return fmt.Errorf("in the first %d bytes: %w", counted.n, err)
	}
	if err := padding(unpacked); err != nil {
		return fmt.Errorf("after the tar archive, in the first %d bytes: %w", counted.n, noEOF(err))
	}
	return nil
}

// maxPadding is the most padding after the end of a tar: tar pads to its record size.
const maxPadding = 1 << 20

// padding reads what follows the end of a tar, so that zstd's checksum is checked too.
// It rejects anything but padding, because a second archive there would be lost.
func padding(r *countingReader) error {
	end, buf := r.n, make([]byte, 32<<10)
	for {
		at := r.n
		n, err := r.Read(buf)
		more := slices.IndexFunc(buf[:n], func(b byte) bool { return b != 0 })
		if more < 0 && r.n-end > maxPadding {
			more = 0
		}
		switch {
		case more >= 0:
			return fmt.Errorf("there is more data at byte %d of the unpacked archive, after the end of the tar: "+
				"of several archives in one file only the first would be read; pass each as its own file", at+int64(more))
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

type unpacker struct {
	root    *os.Root
	limits  Limits
	seen    map[string]bool
	entries int
	total   unit.Bytes
}

func (u *unpacker) all(t *tar.Reader) error {
	for {
		h, err := t.Next()
		if err == io.EOF {
			return u.anything()
		}
		if err != nil {
			return fmt.Errorf("not a whole zstd-compressed tar archive: %w", noEOF(err))
		}
		if err := u.entry(t, h); err != nil {
			return err
		}
	}
}

func (u *unpacker) anything() error {
	if u.entries == 0 {
		return errors.New("the archive is empty")
	}
	return nil
}

func (u *unpacker) entry(t *tar.Reader, h *tar.Header) error {
	if u.entries++; u.entries > u.limits.Entries {
		return fmt.Errorf("the archive has more than %d entries", u.limits.Entries)
	}
	name := strings.TrimPrefix(strings.TrimSuffix(h.Name, "/"), "./")
	isDir := h.Typeflag == tar.TypeDir
	if isDir && (name == "" || name == ".") {
		return nil
	}
	if name == "" || path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) ||
		strings.ContainsAny(name, "\\:\x00") {
		return fmt.Errorf("entry %q leaves the archive's folder or is not a clean relative path", h.Name)
	}
	switch {
	case isDir:
		return u.root.MkdirAll(filepath.FromSlash(name), 0o700)
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("entry %q is a link, a device or the like: only regular files and folders are allowed", h.Name)
	case u.seen[fold(name)]:
		return fmt.Errorf("entry %q occurs twice", h.Name)
	}
	u.seen[fold(name)] = true
	return u.file(t, h, name)
}

func (u *unpacker) file(t *tar.Reader, h *tar.Header, name string) error {
	size := unit.Bytes(h.Size)
	if size > u.limits.File {
		return fmt.Errorf("entry %q has %v, more than the limit of %v a file", h.Name, size, u.limits.File)
	}
	if u.total += size; u.total > u.limits.Total {
		return fmt.Errorf("the archive unpacks to more than the limit of %v", u.limits.Total)
	}
	local := filepath.FromSlash(name)
	if err := u.root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return fmt.Errorf("entry %q: %w", h.Name, err)
	}
	f, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("entry %q: %w", h.Name, err)
	}
	if _, err := io.Copy(f, t); err != nil {
		f.Close()
		return fmt.Errorf("entry %q: %w", h.Name, noEOF(err))
	}
	return f.Close()
}

// noEOF turns a premature end of file into an error that does not look like a regular
// end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the archive is cut off: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// Pack writes the bundle in dir to file as a .tar.zst: the manifest first, then every
// listed part that exists. The archive gets its name only when it is complete, and
// replaces an older file of that name.
func Pack(dir, file string) error {
	b, err := openDir(dir, dir)
	if err != nil {
		return err
	}
	if err := b.fits(defaultLimits()); err != nil {
		return fmt.Errorf("pack bundle %s: %w", dir, err)
	}
	file = tempfile.Target(file)
	f, err := tempfile.Beside(file) // file+".partial" may be the user's own file
	if err == nil {
		err = fillAndPublish(f, file, b.pack)
	}
	if err != nil {
		return fmt.Errorf("pack bundle %s to %s: %w", dir, file, err)
	}
	return nil
}

// fits rejects early what Open would refuse to unpack.
func (b *Bundle) fits(limits Limits) error {
	var total unit.Bytes
	entries := 1
	for _, run := range b.Manifest.Runs {
		for _, p := range run.Parts {
			info, err := os.Stat(b.Path(p))
			if err != nil {
				return err
			}
			size := unit.Bytes(info.Size())
			if size > limits.File {
				return fmt.Errorf("part %s has %v, more than the limit of %v a file", p.Path, size, limits.File)
			}
			total += size
			entries++
		}
	}
	if total > limits.Total || entries > limits.Entries {
		return fmt.Errorf("%v in %d files are more than an archive may hold: %v in %d", total, entries, limits.Total, limits.Entries)
	}
	return nil
}

func (b *Bundle) pack(w io.Writer) error {
	enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	t := tar.NewWriter(enc)
	if err := b.packFile(t, evidence.Part{Path: ManifestName}); err != nil {
		return err
	}
	for _, run := range b.Manifest.Runs {
		for _, p := range run.Parts {
			if err := b.packFile(t, p); err != nil {
				return err
			}
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return enc.Close()
}

// packFile appends one file without owner, host or time.
func (b *Bundle) packFile(t *tar.Writer, p evidence.Part) error {
	f, err := os.Open(b.Path(p))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: p.Path, Mode: 0o644, Size: info.Size(), Typeflag: tar.TypeReg,
		ModTime: b.Manifest.Created.Truncate(time.Second)}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
