package exectrace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/trace"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// TestEventsOfTasks asks each end of a task for its name, which the reader knows
// from where the task began. With the race detector the test fails if the reader
// adds to what the question is answered from.
func TestEventsOfTasks(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	const tasks = 5000
	for i := range tasks {
		_, task := trace.NewTask(context.Background(), fmt.Sprint("task ", i))
		task.End()
	}
	trace.Stop()
	for name, read := range map[string]func(io.Reader, exectrace.Kinds, func(*exectrace.Event, *exectrace.Names)) error{
		"Events": exectrace.Events,
		"ScanEvents": func(r io.Reader, k exectrace.Kinds, visit func(*exectrace.Event, *exectrace.Names)) error {
			_, err := exectrace.ScanEvents(r, k, visit)
			return err
		},
	} {
		seen := map[string]bool{}
		err := read(bytes.NewReader(b.Bytes()), exectrace.KindsOf(exectrace.EventTaskEnd), func(ev *exectrace.Event, n *exectrace.Names) {
			seen[n.Text(ev.Text)] = true
		})
		if err != nil || len(seen) < tasks {
			t.Errorf("%s: got error %v, %d names, want %d", name, err, len(seen), tasks)
		}
	}
}
