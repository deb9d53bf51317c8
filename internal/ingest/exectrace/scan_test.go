package exectrace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// TestScanAgrees holds the scan against the reference on a trace made here.
func TestScanAgrees(t *testing.T) {
	agree(t, "recorded", recordUnmoved(t, 0))
}

func agree(t *testing.T, name string, data []byte) *exectrace.Summary {
	t.Helper()
	want, wantErr := referenceSummary(bytes.NewReader(data), usualTick)
	for workers, r := range map[int]io.Reader{1: bytes.NewReader(data), 2: io.MultiReader(bytes.NewReader(data)), 3: bytes.NewReader(data)} {
		got, err := exectrace.Scan(r, exectrace.Options{Workers: workers})
		if err != nil || wantErr != nil {
			t.Fatalf("%s: error %v, reference %v", name, err, wantErr)
		}
		for _, d := range differences(got, want) {
			t.Errorf("%s: %s", name, d)
		}
	}
	if !atOnce(t, name, data) {
		t.Errorf("%s: no Summary with the events", name)
	}
	return want
}

// atOnce holds ScanEvents against Scan and Events, and reports whether it gave a Summary.
func atOnce(t *testing.T, name string, data []byte) bool {
	t.Helper()
	var apart, together int
	want, scanErr := exectrace.Scan(bytes.NewReader(data), exectrace.Options{})
	eventsErr := exectrace.Events(bytes.NewReader(data), exectrace.AllKinds, func(*exectrace.Event, *exectrace.Names) { apart++ })
	got, err := exectrace.ScanEvents(bytes.NewReader(data), exectrace.AllKinds, func(*exectrace.Event, *exectrace.Names) { together++ })
	if fmt.Sprint(err) != fmt.Sprint(eventsErr) || together != apart {
		t.Errorf("%s: %d events and error %v, by themselves %d and %v", name, together, err, apart, eventsErr)
	}
	switch whole := scanErr == nil && eventsErr == nil; {
	case whole != (got != nil):
		t.Errorf("%s: Summary %v, but the scan says %v, the events %v", name, got != nil, scanErr, eventsErr)
	case whole && !reflect.DeepEqual(got, want):
		t.Errorf("%s: the Summary is %+v, by itself %+v", name, got, want)
	}
	return got != nil
}

func TestHeader(t *testing.T) {
	f := func(header, want string) {
		t.Helper()
		_, err := exectrace.Scan(bytes.NewReader([]byte(header)), exectrace.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: got error %v, want %s", header, err, want)
		}
	}
	f("", "execution trace, offset 0: the file is empty")
	f("go 1.26 trace\x00", "execution trace, offset 14: the header is cut short")
	f("\x1f\x8b\x08", `execution trace, offset 0: not a Go execution trace: the file does not begin with "go 1."`)
	f("go 1.21 trace\x00\x00\x00", "execution trace, offset 0: the trace is in the format of Go 1.21; traces of Go 1.22 and later can be read")
	f("go 1.5 trace\x00\x00\x00\x00", "execution trace, offset 0: the trace is in the format of Go 1.5; traces of Go 1.22 and later can be read")
	f("go 1.99 trace\x00\x00\x00", "execution trace, offset 0: the trace is in format go 1.99, which this version does not know")
	f("go 1.26 tracing!", `execution trace, offset 0: not a Go execution trace: header "go 1.26 tracing!"`)
}

// TestReadError passes on what the source says.
func TestReadError(t *testing.T) {
	broken := errors.New("the disk is gone")
	data := recordTrace(t)
	r := io.MultiReader(bytes.NewReader(data[:len(data)/2]), failing{broken})
	if _, err := exectrace.Scan(r, exectrace.Options{}); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	for _, from := range []int{0, len(data) / 2, len(data) - 1000} {
		f := &file{bytes.NewReader(data), int64(from), broken}
		if _, err := exectrace.Scan(f, exectrace.Options{}); !errors.Is(err, broken) {
			t.Errorf("file broken at %d: got error %v, want %v", from, err, broken)
		}
		f.Seek(0, io.SeekStart)
		if err := exectrace.Events(f, exectrace.AllKinds, func(*exectrace.Event, *exectrace.Names) {}); !errors.Is(err, broken) {
			t.Errorf("events of a file broken at %d: got error %v, want %v", from, err, broken)
		}
	}
}

// file fails where it is read at from or behind it.
type file struct {
	*bytes.Reader
	from int64
	err  error
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return int(max(0, f.from-off)), f.err
	}
	return f.Reader.ReadAt(p, off)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
