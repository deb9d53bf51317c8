package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/reporttest"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

func causesText(t *testing.T, c latency.Causes) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, &latency.Trace{File: "trace.out", Summary: &exectrace.Summary{},
		Delayed: &latency.Report{Causes: c}}, 2); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	return text[strings.Index(text, "Allocating lines during GC"):]
}

func someCauses() latency.Causes {
	var paid latency.Split
	paid[latency.AssistParked] = 3 * time.Millisecond
	site := func(name string, mark int) latency.Site {
		return latency.Site{Func: name, File: `C:\src\a.go`, Line: 7,
			Allocating: latency.Tally{All: mark + 1, Mark: mark, Others: 1},
			Share:      stats.Share(float64(mark), 9), Phases: 1, Paid: paid}
	}
	return latency.Causes{
		Samples: 20, Mark: 12, Allocating: latency.Tally{All: 12, Mark: 9, Others: 3}, Paid: paid,
		Sites: []latency.Site{site("main.fill", 6), site("", 2), site("main.third", 1)},
	}
}

func TestTraceCauses(t *testing.T) {
	text := causesText(t, someCauses())
	for _, want := range []string{
		"from 20 CPU samples, 12 in mark phases, of which 9 were allocating (delays then: 3 ms assist parked)",
		"67 % (35–88)", "main.fill a.go:7\n", "(the runtime)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %q", text, want)
		}
	}
	if strings.Contains(text, "main.third") {
		t.Errorf("got %s, want two rows", text)
	}
	if text := causesText(t, latency.Causes{}); !strings.HasPrefix(text,
		"Allocating lines during GC: not known: record a CPU profile while tracing") {
		t.Errorf("without samples: got %s", text)
	}
	none := latency.Causes{Samples: 5, Mark: 2, Allocating: latency.Tally{All: 1},
		Sites: []latency.Site{{Func: "main.f"}}}
	if text := causesText(t, none); !strings.Contains(text, "not known: no sample in a mark phase") ||
		strings.Contains(text, "main.f") {
		t.Errorf("without samples in mark phases: got %s", text)
	}
}

func TestTraceCausesOfHostileNames(t *testing.T) {
	for _, name := range reporttest.HostileNames {
		c := someCauses()
		c.Sites[0].Func, c.Sites[0].File = name, name
		for _, r := range causesText(t, c) {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%q: printed %q", name, r)
				break
			}
		}
	}
}

func TestTraceCausesAsJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, &latency.Trace{Summary: &exectrace.Summary{},
		Delayed: &latency.Report{Causes: someCauses()}}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Payers struct{ Causes schema.TraceCauses }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Payers.Causes
	if len(c.Sites) != 3 || c.Sites[0].Func != "main.fill" || c.Sites[0].Share != stats.Share(6, 9) ||
		c.Allocating != (schema.TraceTally{All: 12, Mark: 9, Others: 3}) {
		t.Errorf("got %+v", c)
	}
}
