package proof

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// proveFixture has what can come up: an exact change, one that varies, one from
// nothing, a metric without values, a failure, and names that nobody should
// trust.
func proveFixture() *prove.Result {
	const hostile = "BenchmarkX/<b>|`\x1b[31m"
	nan := math.NaN()
	judged := func(u string) prove.Metric { return prove.Metric{Unit: u, Label: u, Sense: -1, Judged: true} }
	return &prove.Result{
		Sides: []sides.Info{{Spec: "rev:HEAD", Commit: "0123456789abcdef", GoVersion: "go1.26.8"},
			{Spec: "work", Dirty: true, Commit: "0123456789abcdef"}},
		Comparisons: []prove.Comparison{
			{Name: "BenchmarkA", Package: "p", Iterations: 7, Pairs: 4, Outcome: prove.Better, Changes: []prove.Change{
				{
					Metric:  judged("allocs/op"),
					A:       stats.Exact(4),
					B:       stats.Exact(1),
					Runs:    prove.RunCount{A: 4, B: 4},
					Delta:   stats.Exact(-0.75),
					Exact:   true,
					Tests:   prove.Tests{P: nan, RankSumP: nan, AdjustedP: nan},
					Outcome: prove.Better,
				},
				{
					Metric: judged("ns/op"),
					A:      stats.Interval{Value: 100, Low: 90, High: 110},
					B:      stats.Interval{Value: 98, Low: 90, High: 110},
					Runs:   prove.RunCount{A: 4, B: 4},
					Delta: stats.Interval{Value: -0.02, Low: math.Inf(-1),
						High: math.Inf(1)},
					Tests:    prove.Tests{P: 0.5, RankSumP: 0.5, AdjustedP: 1},
					Outcome:  prove.Unclear,
					Warnings: []string{"need more"},
				},
				{
					Metric: prove.Metric{Unit: "gc-cycles", Label: "GC cycles"},
					A:      stats.Exact(0),
					B:      stats.Exact(3),
					Delta:  stats.Interval{Value: nan, Low: nan, High: nan},
					Tests:  prove.Tests{P: nan, RankSumP: nan, AdjustedP: nan},
				},
				{
					Metric: prove.Metric{Unit: "peak-heap-bytes", Label: "peak heap"},
					A: stats.Interval{Value: nan, Low: nan,
						High: nan},
					B:     stats.Exact(1 << 20),
					Delta: stats.Interval{Value: nan, Low: nan, High: nan},
					Tests: prove.Tests{P: nan, RankSumP: nan, AdjustedP: nan},
				},
			}, Runs: []prove.Sample{{Values: map[string]float64{"ns/op": 100, "bad": math.Inf(1)}}}},
			{Name: hostile, Outcome: prove.Worse, Failed: [2]string{"", "panic: \x1b]0;x"}},
		},
		Verdict: prove.Verdict{Outcome: prove.Mixed, Sentence: "B is worse in " + hostile,
			Counts: map[prove.Outcome]int{prove.Better: 1, prove.Worse: 1}},
		Warnings: []string{"few runs " + hostile}, LeftOut: []string{hostile + " is only in A"},
	}
}

func TestProveSchemaIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../doc/format/prove.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(doc), "\n## Units")
	documented := map[string]bool{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			key, _, _ := strings.Cut(rest, "`")
			documented[key] = true
		}
	}
	written := map[string]bool{}
	proveKeys(reflect.TypeFor[schema.Prove](), "", written)
	for k := range written {
		if !documented[k] {
			t.Errorf("doc/format/prove.md lacks %s", k)
		}
	}
	for k := range documented {
		if !written[k] {
			t.Errorf("doc/format/prove.md has %s, which no comparison has", k)
		}
	}
	for _, u := range append(append(prove.Gates(prove.KindPackages), prove.Gates(prove.KindCommand)...),
		prove.Gates(prove.KindLoad)...) {
		if !strings.Contains(string(doc), "`"+u+"`") {
			t.Errorf("doc/format/prove.md lacks the unit %s", u)
		}
	}
	if !strings.Contains(string(doc), schema.ProveVersion) {
		t.Errorf("doc/format/prove.md does not name %s", schema.ProveVersion)
	}
}

// proveKeys collects the paths of a type's keys, those of types that occur
// more than once under a name of their own.
func proveKeys(t reflect.Type, at string, out map[string]bool) {
	own := map[reflect.Type]string{reflect.TypeFor[schema.ProveSide](): "SIDE",
		reflect.TypeFor[schema.OpenInterval](): "RANGE", reflect.TypeFor[schema.ProveVerdict](): "VERDICT",
		reflect.TypeFor[schema.ProvePauses](): "PAUSES"}
	for i := range t.NumField() {
		f := t.Field(i)
		path := strings.TrimPrefix(at+"."+f.Tag.Get("json"), ".")
		ft := f.Type
		if ft.Kind() == reflect.Slice {
			path += "[]"
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		out[path] = true
		if ft.Kind() != reflect.Struct || ft.PkgPath() == "time" || ft == reflect.TypeFor[schema.Environment]() {
			continue
		}
		if name := own[ft]; name != "" {
			path = name
		}
		proveKeys(ft, path, out)
	}
}

func TestProveJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, proveFixture(), schema.Meta{Tool: "x"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("an escape character is in %q", out.String())
	}
	var doc schema.Prove
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if c := doc.Comparisons[0].Changes; c[0].P != nil ||
		*c[0].Change != (schema.OpenInterval{Value: -0.75, Low: ptr(-0.75), High: ptr(-0.75)}) &&
			*c[0].Change.Low != -0.75 {
		t.Errorf("an exact change: %+v", c[0])
	}
	if c := doc.Comparisons[0].Changes; c[1].Change.Low != nil || c[2].Change != nil || c[3].A != nil ||
		c[2].A.Value != 0 {
		t.Errorf("unknown figures: %+v", c)
	}
	if len(doc.Comparisons[0].Runs[0].Values) != 1 {
		t.Errorf("a value that is no number: %v", doc.Comparisons[0].Runs[0].Values)
	}
	out.Reset()
	if err := JSON(&out, &prove.Result{}, schema.Meta{}); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{`"comparisons": []`, `"warnings": []`, `"left_out": []`, `"gate": []`, `"env": []`,
		`"counts": {}`, `"sides": []`} {
		if !strings.Contains(out.String(), list) {
			t.Errorf("an empty comparison lacks %s:\n%s", list, &out)
		}
	}
}

func ptr(v float64) *float64 { return &v }

func TestProveText(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, proveFixture(), term.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"B is worse in BenchmarkX", "rev:HEAD (0123456789ab)",
		"work (0123456789ab and changes)", "4 → 1", "-75.0 %", "exact, 4+4 runs",
		"-2.0 %", "p=0.5", "ns/op: need more", "GC cycles 0 → 3", "peak heap – → 1 MiB", "B fails: panic",
		"only in A"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &out)
		}
	}
	out.Reset()
	if err := Text(&out, proveFixture(), term.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if term.Cells(strings.TrimSuffix(line, "\n")) > 80 || strings.Contains(line, "\x1b") {
			t.Errorf("too wide, or not clean: %q", line)
		}
	}
}

func TestProveMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, proveFixture()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| `BenchmarkA` | allocs/op | 4 | 1 | -75.0 % | **better** | exact, 4+4 runs |") {
		t.Errorf("no row of the exact change:\n%s", &out)
	}
	for _, never := range []string{"<b>", "\x1b", "NaN", "Inf"} {
		if strings.Contains(out.String(), never) {
			t.Errorf("the Markdown has %q:\n%s", never, &out)
		}
	}
}

// TestSmallDifference: a difference that is there but does not count has no p-value beside the
// call that says so, and no change is minus nothing.
func TestSmallDifference(t *testing.T) {
	ch := prove.Change{Outcome: prove.Same}
	ch.Tests.P, ch.Tests.AdjustedP, ch.Tests.RankSumP = 5e-20, 5e-20, 5e-20
	ch.Runs.A, ch.Runs.B = 40, 40
	if got := basisText(ch); got != "too small to count, 40+40 runs" {
		t.Errorf("basis %q", got)
	}
	ch.Outcome = prove.Better
	if got := basisText(ch); !strings.Contains(got, "p=5e-20") {
		t.Errorf("basis %q", got)
	}
	for share, want := range map[float64]string{-0.0004: "0.0 %", 0.0004: "0.0 %", -0.0006: "-0.1 %", 0.02: "+2.0 %"} {
		if got := signed(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}
