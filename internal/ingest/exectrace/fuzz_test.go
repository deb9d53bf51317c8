package exectrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// wire writes a trace piece by piece.
type wire struct{ bytes.Buffer }

func newWire(version string) *wire {
	w := &wire{}
	w.WriteString("go " + version + " trace\x00\x00\x00")
	return w
}

func numbers(v ...uint64) []byte {
	var b []byte
	for _, n := range v {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (w *wire) batch(generation, thread, time uint64, data []byte) *wire {
	w.WriteByte(1)
	w.Write(numbers(generation, thread, time, uint64(len(data))))
	w.Write(data)
	return w
}

func (w *wire) clock(generation uint64) *wire {
	return w.batch(generation, 1<<64-1, 0, append([]byte{8}, numbers(15625000)...))
}

// TestBroken gives the scan traces that no runtime writes.
func TestBroken(t *testing.T) {
	f := func(w *wire, want string) {
		t.Helper()
		s, err := exectrace.Scan(bytes.NewReader(w.Bytes()), exectrace.Options{})
		if s == nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
		if e := (*exectrace.Error)(nil); !errors.As(err, &e) {
			t.Errorf("got error %v of type %T, want one with an offset", err, err)
		}
	}
	trace := func(data ...byte) *wire { return newWire("1.22").clock(1).batch(1, 7, 100, data) }
	huge := newWire("1.22")
	huge.WriteByte(1)
	huge.Write(numbers(1, 2, 3, 1<<40))
	f(huge, "offset 16: a batch of 1099511627776 bytes; the format allows 65536")
	long := newWire("1.22")
	long.Write(append([]byte{1}, bytes.Repeat([]byte{0xff}, 30)...))
	f(long, "offset 16: a number of the batch's header has more than 64 bits")
	f(newWire("1.22").batch(0, 1, 1, nil), "generation 0")
	f(newWire("1.22").clock(1).clock(3), "a batch of generation 3 in generation 1")
	f(newWire("1.22").clock(1).clock(1), "a second one of its kind")
	f(newWire("1.22").batch(1, 1, 1, nil), "does not say how fast its clock is")
	f(newWire("1.22"), "offset 16: the trace ends")
	f(newWire("1.26").clock(1), "the trace ends in the middle of a generation")
	f(trace(200, 1), "offset 40: event 200, which does not occur among events")
	f(trace(1, 1), "event 1, which does not occur among events")
	f(trace(16, 1, 5), "an event is longer than its batch")
	f(trace(append([]byte{16, 1}, bytes.Repeat([]byte{0xff}, 12)...)...), "or a number in it than 64 bits")
	f(trace(append([]byte{14, 1}, bytes.Repeat([]byte{0xff}, 30)...)...), "or a number in it than 64 bits")
	f(trace(append([]byte{12}, numbers(1<<60)...)...), "centuries ahead")
	f(trace(36, 1), "an assist on a thread that runs no goroutine")
	f(trace(16, 1, 9, 1, 35, 1, 0, 35, 1, 0), "an assist begins inside another")
	f(trace(16, 1, 9, 1, 36, 1), "an assist ends that never began")
	f(trace(16, 1, 9, 1, 33, 1, 0, 0), "ends that never began")
	f(trace(16, 1, 9, 1, 26, 1, 0, 0, 26, 1, 0, 0), "begins inside another")
	f(trace(16, 1, 9, 1, 26, 1, 77, 0, 27, 1), "refers to string 77, which it does not have")
	f(trace(29, 1, 5, 0, 29, 1, 6, 0), "begins a mark phase inside another")
	f(trace(29, 1, 5, 0, 30, 1, 9), "event 9 of the collections follows 5")
	text := append([]byte{4, 5}, numbers(1, 1<<50)...)
	f(newWire("1.22").clock(1).batch(1, 1, 1, text), "string 1 is cut short, or longer than 1024 bytes")
	same := []byte{4, 5, 1, 1, 'a', 5, 1, 1, 'b'}
	f(newWire("1.22").clock(1).batch(1, 1, 1, same), "there are two strings 1")
}

// TestMemory scans a trace of very many generations and asserts that none of
// them is kept.
func TestMemory(t *testing.T) {
	scan := func(generations uint64) float64 {
		w := newWire("1.22")
		for g := uint64(1); g <= generations; g++ {
			w.clock(g)
			for at := range uint64(20) {
				w.batch(g, at, g*1000+at, bytes.Repeat([]byte{37, 1, 100}, 10_000))
			}
		}
		data := w.Bytes()
		return testing.AllocsPerRun(1, func() {
			if _, err := exectrace.Scan(bytes.NewReader(data), exectrace.Options{Workers: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
	// Each generation takes some small maps and slices, none for its events.
	if few, many := scan(4), scan(24); many-few > 20*100 {
		t.Errorf("%v allocations for 4 generations, %v for 24", few, many)
	}
}

// FuzzEvents holds events against the reference's wherever both can read them.
func FuzzEvents(f *testing.F) {
	f.Add(readTestdata(f, "go1.24")[:20_000])
	f.Add(readTestdata(f, "go1.26-long"))
	f.Add(newWire("1.22").clock(1).batch(1, 7, 100, []byte{16, 1, 9, 1, 35, 1, 0, 20, 1, 0, 0}).Bytes())
	f.Add(newWire("1.22").clock(1).batch(1, 7, 100, []byte{13, 1, 2, 1, 25, 1, 9, 7, 2, 35, 1, 0, 14, 1, 10, 0, 0, 20, 1, 0, 0, 16, 1, 10, 1}).Bytes())
	for _, file := range goTraceFiles(f) {
		if _, data := goTraceData(f, file); data != nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer func() {
			// The reference is made for traces of the runtime.
			if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "Table") && !strings.Contains(fmt.Sprint(p), "index out of range") {
				panic(p)
			}
		}()
		_, wrong, err, theirErr := compareEvents(data)
		switch {
		case err != nil && stricter(err):
			// The reference goes on where a generation is cut.
		case len(wrong) > 0:
			t.Error(wrong[0])
		case err == nil && theirErr != nil:
			t.Errorf("no error, the reference says %.300v", theirErr)
		case err != nil && theirErr == nil:
			t.Errorf("got error %v, the reference has none", err)
		}
	})
}

// stricter reports whether an error is one that the reference does not have:
// it takes numbers that are out of range, and cuts within the last generation
// or a table, which it reports as the end of the file. It also lets a generation
// end inside of a batch.
func stricter(err error) bool {
	for _, s := range []string{
		"centuries ahead", "out of range", "does not say how fast", "is cut short", "the trace ends", "no batch begins", "of the batch's header",
		"a batch of", "generation 0", "a generation ends", "header", "the file", "event 52", "in the format of", "in format",
	} {
		if strings.Contains(err.Error(), s) {
			return true
		}
	}
	return false
}

func FuzzScan(f *testing.F) {
	for _, name := range []string{"go1.24", "go1.26"} {
		data := readTestdata(f, name)
		f.Add(data[:min(len(data), 20_000)])
	}
	f.Add(newWire("1.22").clock(1).batch(1, 7, 100, []byte{16, 1, 9, 1, 35, 1, 0, 20, 1, 0, 0}).Bytes())
	f.Add(newWire("1.22").clock(1).batch(1, 7, 100, []byte{25, 1, 9, 7, 2, 34, 1, 9, 36, 1, 32, 1, 0, 33, 1, 3, 3}).clock(2).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		one, err1 := exectrace.Scan(bytes.NewReader(data), exectrace.Options{Workers: 1})
		many, err2 := exectrace.Scan(io.MultiReader(bytes.NewReader(data)), exectrace.Options{Workers: 3}) // from front to back
		if (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
			t.Fatalf("errors differ: %v and %v", err1, err2)
		}
		if one == nil {
			return
		}
		for _, d := range differences(many, one) {
			t.Error(d)
		}
		atOnce(t, "fuzzed", data)
		if one.Assist.OnCPU < 0 || one.Assist.Parked < 0 || one.Assist.Waiting < 0 || one.Sweep.Time < 0 || one.Length < 0 {
			t.Errorf("negative times: %+v %+v %v", one.Assist, one.Sweep, one.Length)
		}
	})
}
