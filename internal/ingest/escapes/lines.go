package escapes

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLongLine says that a line was longer than allowed and has been skipped.
var errLongLine = errors.New("line too long")

// lineReader reads lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	max    int
	long   []byte // a line that did not fit the reader's buffer
	number int64  // of the line read last
	bytes  int64
	cut    bool // the last line had no end
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line without its end. The slice is valid until the
// next call. It returns errLongLine for a line over the limit, and goes on
// behind it.
func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	total, tooLong := 0, false
	for {
		part, err := l.r.ReadSlice('\n')
		l.bytes += int64(len(part))
		total += len(part)
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if errors.Is(err, io.EOF) {
			if total == 0 {
				return nil, io.EOF
			}
			l.cut = true
		}
		tooLong = tooLong || total > l.max+1
		switch {
		case full && !tooLong:
			l.long = append(l.long, part...)
			continue
		case full:
			continue
		}
		l.number++
		if tooLong {
			return nil, errLongLine
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		return bytes.TrimRight(part, "\r\n"), nil
	}
}
