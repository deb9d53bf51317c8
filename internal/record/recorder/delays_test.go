package recorder_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// TestDelays expects thread waits in the trace, and at least one thread whose run time
// grows from one message to the next.
func TestDelays(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil || runtime.GOOS != "linux" {
		t.Skip("this system does not report how long threads wait")
	}
	dir := t.TempDir()
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1, Trace: 64 << 20})
	if code := run(t, build(t, ""), env, "return", "300ms").ExitCode(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	data, err := os.ReadFile(filepath.Join(dir, "window-001", "trace.out"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]uint64{}
	messages, grew := 0, 0
	for _, m := range regexp.MustCompile(`heaptrim\.delays \d+ \d+((?: \d+:\d+:\d+)+)`).FindAllSubmatch(data, -1) {
		messages++
		for _, x := range regexp.MustCompile(`(\d+):(\d+):\d+`).FindAllSubmatch(m[1], -1) {
			n, err := strconv.ParseUint(string(x[2]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			thread := string(x[1])
			if n < ran[thread] {
				t.Errorf("thread %s had run %d ns, and then %d", thread, ran[thread], n)
			}
			if ran[thread] > 0 && n > ran[thread] {
				grew++
			}
			ran[thread] = n
		}
	}
	if messages < 2 || grew == 0 {
		t.Errorf("%d messages, a thread had run more in %d; want some of both", messages, grew)
	}
	rec, err := recorder.Read(dir)
	if err != nil || len(rec.Notes) > 0 {
		t.Errorf("error %v, notes %q", err, rec.Notes)
	}
}
