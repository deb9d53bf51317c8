package report

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// writer makes one kind of report.
type writer func(io.Writer, *finding.Report) error

func textAt(width int) writer {
	return func(w io.Writer, rep *finding.Report) error {
		return Text(w, rep, TextOptions{Width: width})
	}
}

func explainAt(width int) writer {
	return func(w io.Writer, rep *finding.Report) error {
		return Explain(w, rep, 1, ExplainOptions{Width: width, Source: fixtureSource})
	}
}

func asJSON(w io.Writer, rep *finding.Report) error {
	rep.Trace, rep.Detections = fixtureTrace(), fixtureDetections()
	return JSON(w, rep, schema.Meta{Tool: "v0.1.0", Created: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)})
}

func asSARIF(w io.Writer, rep *finding.Report) error {
	return SARIF(w, rep, SARIFOptions{Meta: schema.Meta{Tool: "heaptrim v0.1.0"}})
}

// empty is the report on a recording that says nothing.
func empty() *finding.Report {
	return &finding.Report{Diagnosis: &finding.Diagnosis{}, Prescription: &finding.Prescription{}}
}

// formats lists every kind of report with its golden file.
var formats = []struct {
	golden string
	write  writer
}{
	{"text80.txt", textAt(80)},
	{"text100.txt", textAt(100)},
	{"rows100.txt", func(w io.Writer, rep *finding.Report) error {
		return Text(w, rep, TextOptions{Width: 100, Rows: true})
	}},
	{"text120.txt", textAt(120)},
	{"text180.txt", textAt(180)},
	{"color80.txt", func(w io.Writer, rep *finding.Report) error {
		return Text(w, rep, TextOptions{Color: true})
	}},
	{"explain80.txt", explainAt(80)},
	{"explain120.txt", explainAt(120)},
	{"report.json", asJSON},
	{"report.sarif", asSARIF},
	{"report.csv", CSV},
	{"report.md", Markdown},
	{"lines.txt", Lines},
}

func TestGolden(t *testing.T) {
	for _, f := range formats {
		var got bytes.Buffer
		if err := f.write(&got, fixture()); err != nil {
			t.Errorf("%s: %v", f.golden, err)
			continue
		}
		checkGolden(t, f.golden, got.Bytes())
	}
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got %s", name, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
