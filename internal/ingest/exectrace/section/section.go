// Package section tells readers that can be read anywhere from those that can only be read from front to back.
package section

import "io"

// Of returns what follows in r, or nil where r cannot be read anywhere.
func Of(r io.Reader) *io.SectionReader {
	f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil { // of a pipe
		return nil
	}
	to, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	return io.NewSectionReader(f, from, to-from)
}
