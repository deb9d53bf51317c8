package exectrace_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// TestFiles holds the scan against the reference on traces of every format.
func TestFiles(t *testing.T) {
	for _, name := range []string{"go1.24", "go1.25", "go1.26", "go1.27"} {
		s := agree(t, name, readTestdata(t, name))
		if s.Cycles.Count < 4 || s.Assist.Count < 60 || s.Assist.Parked == 0 || s.Sweep.Count == 0 || len(s.Pauses) < 3 {
			t.Errorf("%s: %d cycles, %+v, %+v, %d kinds of pause; the file was made to have more", name, s.Cycles.Count, s.Assist, s.Sweep, len(s.Pauses))
		}
	}
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".trace"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGoTraces reads the traces by which Go tests its own reader, and those of
// x/exp/trace.
func TestGoTraces(t *testing.T) {
	for _, file := range goTraceFiles(t) {
		if filepath.Ext(file) == ".test" {
			goTrace(t, file)
		}
	}
}

// goTraceFiles are the traces, as text, by which the Go releases here and
// x/exp/trace test their reader, and what fuzzing found for them.
func goTraceFiles(t testing.TB) []string {
	ask := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "go", args...).Output()
		if err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	folders := []string{
		filepath.Join(ask("list", "-m", "-f", "{{.Dir}}", "golang.org/x/exp"), "trace"),
		filepath.Join(ask("env", "GOROOT"), "src", "internal", "trace"),
		filepath.Join(ask("env", "GOMODCACHE"), "golang.org", "toolchain@*", "src", "internal", "trace"),
	}
	var all []string
	for _, folder := range folders {
		for _, pattern := range []string{"tests/*.test", "fuzz/*/*"} {
			files, err := filepath.Glob(filepath.Join(folder, "testdata", filepath.FromSlash(pattern)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, files...)
		}
	}
	if len(all) == 0 {
		t.Log("no traces of Go's own are here")
	}
	return all
}

// goTraceData returns the trace in a file of goTraceFiles, or nil where it is
// in a format before Go 1.22.
func goTraceData(t testing.TB, file string) (name string, data []byte) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if name = filepath.Base(file); filepath.Ext(file) == ".test" {
		return name, encode(t, name, string(txtar.Parse(text).Files[1].Data))
	}
	_, quoted, ok := strings.Cut(strings.TrimSpace(string(text)), "[]byte(")
	s, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
	if !ok || err != nil {
		t.Fatalf("%s is no input of a fuzz test: %v", file, err)
	}
	if s < "go 1.22 " || s > "go 1.3" {
		return name, nil
	}
	return name, []byte(s)
}

func goTrace(t *testing.T, file string) {
	name, data := goTraceData(t, file)
	tick := trace.Time(usualTick)
	if strings.Contains(name, "-sync") {
		tick = 1 // these have a faster clock, which changes
	}
	want, wantErr := referenceSummary(bytes.NewReader(data), tick)
	atOnce(t, name, data)
	got, err := exectrace.Scan(bytes.NewReader(data), exectrace.Options{})
	switch {
	case wantErr == nil && err != nil:
		t.Errorf("%s: %v", name, err)
	case wantErr != nil && err == nil:
		// The scan does not put events in order, and so does not see what
		// contradicts an order.
		t.Logf("%s: scanned; the reference says %.100v", name, wantErr)
	case wantErr == nil:
		for _, d := range differences(got, want) {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// encode writes a trace from the text form that Go's tests have.
func encode(t testing.TB, name, text string) []byte {
	kinds := map[string]byte{}
	for i, k := range strings.Fields(`EventBatch Stacks Stack Strings String CPUSamples CPUSample Frequency ProcsChange ProcStart
		ProcStop ProcSteal ProcStatus GoCreate GoCreateSyscall GoStart GoDestroy GoDestroySyscall GoStop GoBlock GoUnblock
		GoSyscallBegin GoSyscallEnd GoSyscallEndBlocked GoStatus STWBegin STWEnd GCActive GCBegin GCEnd GCSweepActive
		GCSweepBegin GCSweepEnd GCMarkAssistActive GCMarkAssistBegin GCMarkAssistEnd HeapAlloc HeapGoal GoLabel UserTaskBegin
		UserTaskEnd UserRegionBegin UserRegionEnd UserLog GoSwitch GoSwitchDestroy GoCreateBlocked GoStatusStack
		ExperimentalBatch Sync ClockSnapshot EndOfGeneration`) {
		kinds[k] = byte(i + 1)
	}
	var b bytes.Buffer
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), " #")
		fields := strings.Fields(line)
		switch kind, known := byte(0), false; {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "Trace":
			fmt.Fprintf(&b, "go %s trace\x00\x00\x00", strings.TrimPrefix(fields[1], "Go"))
		case strings.HasPrefix(fields[0], "data="):
			s, err := strconv.Unquote(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "data="))
			if err != nil {
				t.Fatalf("%s: %s: %v", name, line, err)
			}
			b.Write(binary.AppendUvarint(nil, uint64(len(s))))
			b.WriteString(s)
		default:
			if kind, known = kinds[fields[0]]; known {
				b.WriteByte(kind)
				fields = fields[1:]
			}
			for _, f := range fields {
				_, v, _ := strings.Cut(f, "=")
				n, err := strconv.ParseUint(v, 10, 64)
				if err != nil {
					t.Fatalf("%s: %s: %v", name, line, err)
				}
				b.Write(binary.AppendUvarint(nil, n))
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPrefixes cuts traces of several generations everywhere, and expects what
// was complete before, and an error with the place.
func TestPrefixes(t *testing.T) {
	for _, name := range []string{"go1.24-long", "go1.26-long"} {
		data := readTestdata(t, name)
		agree(t, name, data)
		ends, batches := generationEnds(t, data)
		if len(ends) < 4 {
			t.Fatalf("%s has %d generations, too few for the test", name, len(ends)-1)
		}
		var whole []*exectrace.Summary
		for _, end := range ends {
			s, _ := exectrace.Scan(bytes.NewReader(data[:end]), exectrace.Options{Workers: 1})
			whole = append(whole, s)
		}
		step := 1 + len(data)/200
		for cut := 17; cut < len(data); cut += step {
			n := 0
			for n+1 < len(ends) && ends[n+1] <= cut {
				n++
			}
			got, err := exectrace.Scan(bytes.NewReader(data[:cut]), exectrace.Options{Workers: 1})
			atOnce(t, fmt.Sprintf("%s cut at %d", name, cut), data[:cut])
			if strings.HasPrefix(name, "go1.24") && (batches[cut] || batches[cut-1]) {
				continue // between two batches, or a byte behind: not to be told from a generation's end in this format
			}
			if got == nil || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), fmt.Sprintf("offset %d:", cut)) {
				t.Fatalf("%s cut at %d: got error %v, want one that tells the place", name, cut, err)
			}
			if got.Read.Generations != n {
				t.Fatalf("%s cut at %d: got %d generations, want %d", name, cut, got.Read.Generations, n)
			}
			for _, d := range differences(got, whole[n]) {
				t.Errorf("%s cut at %d: %s", name, cut, d)
			}
		}
	}
}

// generationEnds returns where generations end, with the end of the header
// before the first one, and all ends of batches.
func generationEnds(t *testing.T, data []byte) (ends []int, batches map[int]bool) {
	ends, batches = []int{16}, map[int]bool{}
	last := uint64(0)
	for at := 16; at < len(data); {
		if data[at] == 52 {
			at++
			ends = append(ends, at)
			continue
		}
		next := at + 1
		var header [4]uint64
		for i := range header {
			v, n := binary.Uvarint(data[next:])
			if n <= 0 {
				t.Fatalf("no batch at %d", at)
			}
			header[i] = v
			next += n
		}
		if last != 0 && header[0] != last && string(data[:8]) < "go 1.26 " {
			ends = append(ends, at)
		}
		last = header[0]
		at = next + int(header[3])
		batches[at] = true
	}
	if ends[len(ends)-1] != len(data) {
		ends = append(ends, len(data))
	}
	return ends, batches
}

// TestGenerations holds the scan against the reference where assists, workers
// and cycles go on from one generation to the next.
func TestGenerations(t *testing.T) {
	if testing.Short() {
		t.Skip("records a trace of two seconds")
	}
	s := agree(t, "recorded", recordUnmoved(t, 2200*time.Millisecond))
	if s.Cycles.Count < 10 || s.Assist.Count == 0 {
		t.Errorf("%d cycles and %d assists in two seconds; the program was made to have more", s.Cycles.Count, s.Assist.Count)
	}
}

// recordUnmoved records traces until there is one of which the reference has
// left all times alone: it lets no event be earlier than those of the
// generation before.
func recordUnmoved(t *testing.T, long time.Duration) []byte {
	for range 3 {
		data := recordTraceFor(t, long)
		ref, err := readReference(bytes.NewReader(data), usualTick)
		if err != nil {
			t.Fatal(err)
		}
		if ref.moved == 0 {
			return data
		}
	}
	t.Skip("the reference changed the time of an event in every trace")
	return nil
}
