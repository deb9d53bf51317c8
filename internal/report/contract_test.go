package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/detect"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestSchemaIsDocumented: every key of the JSON report, with its full path,
// stands in the specification, and the specification names no other.
func TestSchemaIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../doc/format/report.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			key, _, _ := strings.Cut(rest, "`")
			documented[key] = true
		}
	}
	written := map[string]bool{}
	keys(reflect.TypeFor[schema.Report](), "", written)
	for k := range written {
		if !documented[k] {
			t.Errorf("doc/format/report.md lacks %s", k)
		}
	}
	for k := range documented {
		if !written[k] {
			t.Errorf("doc/format/report.md has %s, which no report has", k)
		}
	}
	if !bytes.Contains(doc, []byte(schema.ReportVersion)) {
		t.Errorf("doc/format/report.md does not name %s", schema.ReportVersion)
	}
}

// keys collects the paths of a type's keys. Types that occur in several places
// are described once, under their own name.
func keys(t reflect.Type, at string, out map[string]bool) {
	own := map[reflect.Type]string{
		reflect.TypeFor[schema.Interval](): "INTERVAL", reflect.TypeFor[schema.Finding](): "FINDING",
		reflect.TypeFor[schema.Cost](): "COST", reflect.TypeFor[schema.Frame](): "FRAME",
		reflect.TypeFor[schema.Prediction](): "PREDICTION",
	}
	for i := range t.NumField() {
		f := t.Field(i)
		path := strings.TrimPrefix(at+"."+f.Tag.Get("json"), ".")
		ft := f.Type
		if f.Anonymous {
			keys(ft, at, out)
			continue
		}
		if ft.Kind() == reflect.Slice {
			path += "[]"
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		out[path] = true
		// What doc/format/trace.md specifies is not repeated.
		if ft == reflect.TypeFor[schema.TraceDelayed]() {
			continue
		}
		if ft.Kind() != reflect.Struct || ft.PkgPath() == "time" {
			continue
		}
		if name := own[ft]; name != "" {
			path = name
		}
		keys(ft, path, out)
	}
}

// TestKeysAreAlwaysThere: an empty diagnosis has every key, and no number in it
// is a zero that nobody measured.
func TestKeysAreAlwaysThere(t *testing.T) {
	var out bytes.Buffer
	rep := empty()
	rep.Prescription.Rows = []finding.Row{{Finding: &finding.Finding{}}}
	rep.Diagnosis.Runs = []finding.RunSummary{{}}
	if err := JSON(&out, rep, schema.Meta{}); err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				visit(path+"."+k, x)
			}
		case []any:
			for _, x := range v {
				visit(path+"[]", x)
			}
		case float64:
			if path != ".findings[].rank" && path != ".findings[].site.line" && path != ".below_threshold" && path != ".together_of" {
				t.Errorf("%s is %v, want null", path, v)
			}
		case nil:
			if strings.HasSuffix(path, "s") && strings.HasPrefix(path, ".warnings") {
				t.Errorf("%s is null, want a list", path)
			}
		}
	}
	visit("", doc)
	for _, list := range []string{`"warnings": []`, `"missing": []`, `"stack": []`, `"stacks": []`, `"by_run": []`,
		`"decomposition": []`, `"set_apart": []`,
		`"advice": []`, `"detections": []`, `"latency": null`, `"vet": []`, `"mix": []`, `"sizes": []`,
		`"others": []`} {
		if !strings.Contains(out.String(), list) {
			t.Errorf("the report lacks %s", list)
		}
	}
}

// TestUnknownIsNotZero: what the evidence cannot bear is null, and what it
// bears is a number even when that is zero.
func TestUnknownIsNotZero(t *testing.T) {
	f := func(name string, rep *finding.Report, got func(schema.Report) *float64, want any) {
		t.Helper()
		v := got(*Document(rep, schema.Meta{}))
		switch {
		case v == nil && want != nil:
			t.Errorf("%s is null, want %v", name, want)
		case v != nil && want == nil:
			t.Errorf("%s is %v, want null", name, *v)
		case v != nil && *v != want:
			t.Errorf("%s is %v, want %v", name, *v, want)
		}
	}
	growcopy := func(doc schema.Report) *float64 { return doc.Findings[0].Cost.GrowCopy }
	retention := func(doc schema.Report) *float64 { return doc.Findings[1].Cost.Retention }
	bytesPerOp := func(doc schema.Report) *float64 { return doc.Runs[2].BytesPerOp }

	f("growcopy of a finding that grows nothing", fixture(), growcopy, 0.0)
	noCPU := fixture()
	noCPU.Diagnosis.Totals.CPUSeconds, noCPU.Diagnosis.Totals.Samples = 0, 0
	f("growcopy without a CPU profile", noCPU, growcopy, nil)

	f("retention of a finding that keeps nothing", fixture(), retention, 0.0)
	unlogged := fixture()
	for i := range unlogged.Diagnosis.Runs {
		if r := &unlogged.Diagnosis.Runs[i]; r.Name == unlogged.Prescription.Rows[1].Run {
			r.Retention = finding.Basis{Text: "not known: needs a gctrace log or runtime/metrics of the run"}
		}
	}
	f("retention of a finding whose run has no log, while others have", unlogged, retention, nil)
	noRetention := fixture()
	noRetention.Diagnosis.Totals.Retention = finding.Basis{Text: "not known: needs a heap profile taken while the " +
		"program runs"}
	for i := range noRetention.Prescription.Rows {
		noRetention.Prescription.Rows[i].Cost.Retention = stats.Interval{}
	}
	f("retention without heap profiles", noRetention, retention, nil)

	f("B/op of a benchmark that allocates nothing", fixture(), bytesPerOp, 0.0)
	noBenchmem := fixture()
	first := noBenchmem.Prescription.Rows[0]
	first.ByRun = append(first.ByRun, finding.RunCost{Run: "BenchmarkRoute", Cost: first.Cost})
	f("B/op of a benchmark with an allocating finding", noBenchmem, bytesPerOp, nil)
}

// TestColumnsAddUp: the shares of a finding in the JSON report are the
// diagnosis's own, to the last bit.
func TestColumnsAddUp(t *testing.T) {
	rep := fixture()
	c := Document(rep, schema.Meta{}).Findings[0].Cost
	sum := *c.Malloc + *c.Zeroing + *c.GrowCopy + *c.Assist + *c.Churn + *c.Retention
	if math.Abs(sum-c.CPUShare.Value) > 1e-12 {
		t.Errorf("columns add up to %v, want %v", sum, c.CPUShare.Value)
	}
}

func TestExplainUnknownRank(t *testing.T) {
	var out bytes.Buffer
	err := Explain(&out, fixture(), 17, ExplainOptions{})
	var rank *rankError
	if !errors.As(err, &rank) || err.Error() != "there is no finding 17: the report has 1 to 6" {
		t.Errorf("got %v, want a RankError", err)
	}
	if out.Len() > 0 {
		t.Errorf("wrote %q, want nothing", out.String())
	}
}

func TestExplainSource(t *testing.T) {
	f := func(read func(string) ([]byte, error), want string) {
		t.Helper()
		var out bytes.Buffer
		if err := Explain(&out, fixture(), 1, ExplainOptions{Source: read}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	f(nil, "not known: needs the module's sources Call paths")
	f(func(string) ([]byte, error) { return nil, os.ErrNotExist }, "needs the module's sources: file does not exist")
	f(func(string) ([]byte, error) { return []byte("package api\n"), nil },
		"The file has 1 line, the recording says line 42: it has changed since.")
	f(func(string) ([]byte, error) { return nil, nil }, "The file has 0 lines, the recording says line 42")
	f(fixtureSource, `▶ 42 │ return fmt.Sprintf("%s/%d", id, page)`)
}

// TestDeepStack: a chain of any length is cut in its middle.
func TestDeepStack(t *testing.T) {
	rep := fixture()
	var frames []evidence.Frame
	for range 200_000 {
		frames = append(frames, evidence.Frame{Function: "example.com/m.walk", File: "/src/walk.go", Line: 9})
	}
	rep.Prescription.Rows[0].Stacks = []finding.Stack{{Frames: frames, Share: 1}}
	var out bytes.Buffer
	if err := Explain(&out, rep, 1, ExplainOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "… 199968 more frames") {
		t.Errorf("no elision in a stack of 200000 frames")
	}
	if n := strings.Count(out.String(), "m.walk"); n != chainHead+chainTail {
		t.Errorf("%d frames are shown, want %d", n, chainHead+chainTail)
	}
}

// TestRankMarks: a row is marked when its interval overlaps that of the row above.
func TestRankMarks(t *testing.T) {
	f := func(intervals []stats.Interval, want string) {
		t.Helper()
		rep := sampled()
		for _, i := range intervals {
			rep.Prescription.Rows = append(rep.Prescription.Rows,
				finding.Row{Finding: &finding.Finding{Cost: finding.Cost{CPU: i}}})
		}
		c := ranksOf(rep)
		if got := strings.Join(c.Cells, " "); got != want || marked(c, tiedMark) != strings.Contains(want, "=") {
			t.Errorf("marks of %v: got %q, want %q", intervals, got, want)
		}
	}
	f([]stats.Interval{span95(9, 1), span95(8.5, 1), span95(2, 1)}, "1  2= 3 ")
	f([]stats.Interval{span95(9, 1), span95(5, 1)}, "1  2 ")
	f([]stats.Interval{span95(9, 1), span95(5, 1), span95(4.5, 1), span95(2, 1)}, "1  2  3= 4 ")
	f(nil, "")
}

func TestShortName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := shortName(in); got != want {
			t.Errorf("shortName(%q) = %q, want %q", in, got, want)
		}
	}
	f("main.main", "main.main")
	f("github.com/x/y/api.(*Server).Get", "api.(*Server).Get")
	f("gopkg.in/yaml%2ev3.(*Node).Decode", "yaml.v3.(*Node).Decode")
	f("example.com/m.F[go.shape.*uint8,example.com/n.T]", "m.F[go.shape.*uint8,example.com/n.T]")
	f("net/http.(*conn).serve", "http.(*conn).serve")
	f("", "")
}

// BenchmarkJSON is the largest report that a recording makes: findings in the
// hundreds, each in dozens of runs.
func BenchmarkJSON(b *testing.B) {
	rep := fixture()
	for len(rep.Prescription.Rows[0].ByRun) < 40 {
		rep.Prescription.Rows[0].ByRun = append(rep.Prescription.Rows[0].ByRun, rep.Prescription.Rows[0].ByRun[0])
	}
	for len(rep.Prescription.Rows) < 300 {
		rep.Prescription.Rows = append(rep.Prescription.Rows, rep.Prescription.Rows[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := JSON(&out, rep, schema.Meta{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}

// TestDetectorsAreDocumented: a reader of the report knows every detector.
func TestDetectorsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../doc/format/report.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range detect.Detectors() {
		if !bytes.Contains(doc, []byte("`"+d.Name+"`")) {
			t.Errorf("doc/format/report.md lacks the detector %s", d.Name)
		}
	}
}
