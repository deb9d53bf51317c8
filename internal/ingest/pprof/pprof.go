// Package pprof reads profiles in pprof's protocol-buffer format as a stream,
// and writes them.
//
// Reading makes two passes over the file. [Open] and [Bytes] make the first:
// it keeps the tables (types, functions, locations) and checks the whole file,
// checksum included. Each Scan of the resulting profile makes another, which
// resolves and yields one sample at a time. Memory therefore depends on the
// tables alone, however many samples there are.
//
// The reader is stricter than github.com/google/pprof/profile. It also
// refuses: a profile without sample types, field number 0, varints that do not
// fit 64 bits, line numbers below 0 or above 2³¹−1, profiles in the older text
// formats, messages of more than 64 MiB and tables beyond the limits in
// tables.go. It looks into labels only while it scans, and not into comments and
// other parts that nothing here uses. A plain file that was cut exactly between two fields, with
// all tables in front of the cut, cannot be told from a whole one.
package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// SyntaxError says where and why the content of a profile was refused.
type SyntaxError struct {
	File   string // as given to Open or Bytes
	Offset int64  // in the decompressed stream
	Msg    string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: offset %d of the decompressed profile: %s", e.File, e.Offset, e.Msg)
}

func syntaxErrorf(offset int64, format string, args ...any) error {
	return &SyntaxError{Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// Open reads the tables of the pprof file at path, which may be compressed
// with gzip, and checks its framing to the end. The file is not kept open: the
// profile's Scan opens it again, and refuses it if it has changed meanwhile.
// Content that is not a sound pprof profile gives a *SyntaxError.
func Open(path string) (*evidence.Profile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read profile %s: not a regular file, and it has to be read twice; save it first", path)
	}
	src := &source{name: path, size: info.Size(), modTime: info.ModTime()}
	return src.profile()
}

// Bytes is Open for a profile that is in memory already; name stands for the
// file in messages. The profile keeps data, which must not be changed.
func Bytes(name string, data []byte) (*evidence.Profile, error) {
	src := &source{name: name, data: data, inMemory: true, size: int64(len(data))}
	return src.profile()
}

// source is a profile that can be streamed again and again.
type source struct {
	name     string
	data     []byte // the content, when inMemory
	inMemory bool
	size     int64 // of the file as stored
	modTime  time.Time
	chunk    int // size of the read buffers; 0 means chosen by size

	types   int                         // number of sample types
	byID    idTable[*evidence.Location] // nil where there is no such location
	strings stringTable                 // for the labels
	length  int64                       // of the decompressed stream
	samples int                         // seen by the first pass
}

// profile makes the first pass.
func (s *source) profile() (*evidence.Profile, error) {
	st, err := s.stream()
	if err != nil {
		return nil, s.named(err)
	}
	defer st.close()
	var t tables
	if err := t.read(st); err != nil {
		return nil, s.named(explain(err, st.head))
	}
	s.length, s.samples, s.types, s.strings = st.offset(), t.samples, len(t.types), t.strings
	p := &evidence.Profile{Name: s.name, Samples: s}
	if err := t.resolve(p, s); err != nil {
		return nil, s.named(explain(err, st.head))
	}
	return p, nil
}

// stream opens the source at its beginning.
func (s *source) stream() (*stream, error) {
	if s.inMemory {
		return newStream(io.NopCloser(bytes.NewReader(s.data)), s.chunkSize())
	}
	f, err := os.Open(s.name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.modTime)) {
		err = errChanged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newStream(f, s.chunkSize())
}

var errChanged = errors.New("the file changed while it was being read")

// chunkSize keeps small profiles, which are the rule, from paying for the
// buffers of large ones.
func (s *source) chunkSize() int {
	if s.chunk > 0 {
		return s.chunk
	}
	return int(min(max(4*s.size, 4<<10), 256<<10))
}

// named completes an error with the file it belongs to.
func (s *source) named(err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.File = s.name
		return syntax
	}
	return fmt.Errorf("read profile %s: %w", s.name, err)
}
