package exectrace_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/trace"
	"testing"

	xtrace "golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// TestEventsOfTasks asks each end of a task for its name. The reader notes
// those names as it goes, in the table that the question is answered from: with
// the race detector the test fails if one reads on while the other asks.
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
	seen := map[string]bool{}
	err := exectrace.Events(&b, exectrace.KindsOf(xtrace.EventTaskEnd), func(ev *xtrace.Event) { seen[ev.Task().Type] = true })
	if err != nil || len(seen) < tasks {
		t.Errorf("got error %v, %d names, want %d", err, len(seen), tasks)
	}
}
