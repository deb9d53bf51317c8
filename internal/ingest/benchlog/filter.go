package benchlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is below the line limit of benchfmt, at which that stops reading.
const maxLine = 32 << 10

// filter passes on the lines that Read needs and empties the others, so that
// line numbers stay and a program's output neither stops the reader of
// benchmark lines with its length nor fills its table of headings.
type filter struct {
	r     *bufio.Reader
	rest  []byte // of the current line, to hand out
	lines int    // read so far
	err   error  // why reading ended; io.EOF at the regular end

	torn     []byte      // the name of a benchmark whose measurements have not come yet
	tornLine int         // where it stands
	joined   map[int]int // line of measurements → line of the name it was torn from

	tooLong     []int // numbers of benchmark lines left out, at most MaxErrors
	tooLongMore int   // how many more there were
}

func newFilter(r io.Reader) *filter {
	return &filter{r: bufio.NewReaderSize(r, maxLine), joined: map[int]int{}}
}

// Read implements io.Reader.
func (f *filter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.next()
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next reads one line. A line that the source breaks off with an error is
// dropped: half a number is a wrong number.
func (f *filter) next() {
	line, err := f.r.ReadSlice('\n')
	wanted, long := isWanted(line), false
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = f.r.ReadSlice('\n')
	}
	f.err = err
	if err != nil && !errors.Is(err, io.EOF) || len(line) == 0 {
		return
	}
	f.lines++
	switch {
	case wanted && long:
		f.leaveOut()
		line = []byte("\n")
	case wanted:
		f.remember(line)
	case f.torn != nil && !long && isMeasurements(line):
		line = append(f.torn, line...)
		f.joined[f.lines] = f.tornLine
		f.torn = nil
	default:
		line = []byte("\n")
	}
	f.rest = line
}

// remember keeps the name of a benchmark that printed something between its
// name and its measurements, which go test writes in two pieces.
func (f *filter) remember(line []byte) {
	f.torn = nil
	tab := bytes.IndexByte(line, '\t')
	if bytes.HasPrefix(line, []byte("Benchmark")) && tab > 0 && !bytes.Contains(line, []byte("/op")) {
		f.torn, f.tornLine = bytes.Clone(line[:tab+1]), f.lines
	}
}

// isMeasurements says whether a line is what go test prints behind a name: the
// number of iterations, a tab, and among others the time.
func isMeasurements(line []byte) bool {
	count, rest, ok := bytes.Cut(line, []byte("\t"))
	count = bytes.TrimLeft(count, " ")
	return ok && len(count) > 0 && len(bytes.Trim(count, "0123456789")) == 0 && bytes.Contains(rest, []byte(" ns/op"))
}

func (f *filter) leaveOut() {
	if len(f.tooLong) == MaxErrors {
		f.tooLongMore++
		return
	}
	f.tooLong = append(f.tooLong, f.lines)
}

func isWanted(line []byte) bool {
	for _, prefix := range [...]string{"Benchmark", "pkg:", "goos:", "goarch:", "cpu:"} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			return true
		}
	}
	return false
}
