package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/schema"
)

// modulePath is that of this module, whose functions the made profiles name: they
// are then the user's own.
const modulePath = "github.com/heaptrim/heaptrim"

// formatsProfiles writes a CPU and an allocation profile in which five functions
// allocate, each less than the one before.
func formatsProfiles(t *testing.T) []string {
	t.Helper()
	value := func(kind, unit string) *profile.ValueType { return &profile.ValueType{Type: kind, Unit: unit} }
	cpu := &profile.Profile{
		SampleType: []*profile.ValueType{value("samples", "count"), value("cpu", "nanoseconds")},
		PeriodType: value("cpu", "nanoseconds"), Period: 10_000_000, DurationNanos: int64(20 * time.Second), TimeNanos: 1,
	}
	heap := &profile.Profile{
		SampleType: []*profile.ValueType{
			value("alloc_objects", "count"), value("alloc_space", "bytes"), value("inuse_objects",
				"count"), value("inuse_space", "bytes"),
		},
		PeriodType: value("space", "bytes"), Period: 512 << 10, DurationNanos: int64(20 * time.Second), TimeNanos: 1,
	}
	stack := func(p *profile.Profile, values []int64, frames ...string) {
		s := &profile.Sample{Value: values}
		for _, f := range frames {
			name, line := f, int64(10)
			fmt.Sscanf(f, modulePath+"/m.f%d", &line)
			fn := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name,
				Filename: "/src/m/" + name[strings.LastIndex(name, ".")+1:] + ".go"}
			p.Function = append(p.Function, fn)
			l := &profile.Location{ID: uint64(len(p.Location) + 1), Address: uint64(len(p.Location)+1) * 16,
				Line: []profile.Line{{Function: fn, Line: line}}}
			p.Location = append(p.Location, l)
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	for i := range int64(5) {
		n := 500 - 90*i
		name := fmt.Sprintf(modulePath+"/m.f%d", i+1)
		stack(cpu, []int64{n, n * 10_000_000}, "runtime.mallocgc", "runtime.newobject", name, "main.main")
		stack(heap, []int64{n * 1000, n * 1_000_000, 0, 0}, name, "main.main")
	}
	stack(cpu, []int64{500, 5_000_000_000}, modulePath+"/m.work", "main.main")
	var names []string
	for name, p := range map[string]*profile.Profile{"cpu.pprof": cpu, "allocs.pprof": heap} {
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(names[len(names)-1], b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// TestFormatsAgree holds that all formats show one report: the same findings with
// the same cures, in the same order.
func TestFormatsAgree(t *testing.T) {
	files := formatsProfiles(t)
	check := func(args ...string) []byte {
		t.Helper()
		var out, said bytes.Buffer
		args = append(append([]string{"check", "-threshold", "0", "-top", "50", "-html", ""}, args...), files...)
		if code := run(context.Background(), args, stdio{&out, &said}); code != exitClean && code != exitFindings {
			t.Fatalf("%q exits with %d: %s", args, code, &said)
		}
		return out.Bytes()
	}
	page := filepath.Join(t.TempDir(), "page.html")
	text := check("-json", "-", "-html", page)
	var doc struct {
		Findings []struct {
			Code string
			Site struct {
				Function, File string
				Line           int
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Findings) < 5 {
		t.Fatalf("%d findings, want 5: %s", len(doc.Findings), text)
	}
	var want []string
	for _, f := range doc.Findings {
		want = append(want, fmt.Sprintf("%s:%d [%s]", f.Site.File, f.Site.Line, f.Code))
	}
	for name, got := range map[string][]string{
		"csv":   csvFindings(t, check("-csv", "-")),
		"sarif": sarifFindings(t, check("-sarif", "-")),
		"lines": found(check("-format", "lines"), `(?m)^(\S+:\d+): (\[[a-z-]+\])`),
		"text":  found(check(), `(?s)(\S+:\d+) +\S+\n +(\[[a-z-]+\])`),
		"md": found(bytes.NewBuffer(unescaped(check("-md", "-"))).Bytes(),
			"`(\\S+:\\d+)` \\| `[^`]*` \\| (\\[[a-z-]+\\])"),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s shows\n%s\nand JSON\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	checkPageReport(t, page, text)
}

// TestCheckAndTuneAgree holds that what two commands report of one recording is the same. The
// heap grows, so that the mean of its sizes is none of the usual ones, and the log begins and
// ends within cycles.
func TestCheckAndTuneAgree(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var lines strings.Builder
	for i := range 40 {
		live := 8 + i*i/40
		fmt.Fprintf(&lines, "gc %d @%.3fs 5%%: 0.02+5.0+0.01 ms clock, 0.08+1.0/9.0/0+0.04 ms cpu, %d->%d->%d MB, %d MB goal, "+
			"0 MB stacks, 0 MB globals, 4 P\n", i+1, 0.4+float64(i)*0.45, 2*live-1, 2*live, live, 2*live)
	}
	if err := os.WriteFile(at("gctrace.log"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	files := append(formatsProfiles(t), at("gctrace.log"))
	var said bytes.Buffer
	read := func(to any, name string, args ...string) {
		t.Helper()
		args = append(append(args, "-json", at(name)), files...)
		if code := run(t.Context(), args, stdio{&said, &said}); code != exitClean && code != exitFindings {
			t.Fatalf("%q exits with %d: %s", args, code, &said)
		}
		text, err := os.ReadFile(at(name))
		if err := errors.Join(err, json.Unmarshal(text, to)); err != nil {
			t.Fatal(err)
		}
	}
	var checked schema.Report
	var plan schema.Tune
	read(&checked, "check.json", "check", "-html", "", "-verify", "0")
	read(&plan, "tune.json", "tune")
	m, c := plan.Measured, checked.Totals
	for what, v := range map[string][2]float64{
		"collections":     {float64(m.Cycles), float64(*c.Cycles)},
		"a second":        {m.PerSecond, *c.CyclesPerS},
		"live heap":       {m.Live, *c.LiveHeapBytes},
		"largest heap":    {m.Peak, *c.PeakHeapBytes},
		"allocation rate": {m.AllocRate, *c.BytesPerS},
	} {
		if v[0] != v[1] {
			t.Errorf("%s: tune has %v, check %v", what, v[0], v[1])
		}
	}
}

// unescaped is Markdown with its entities as plain text.
func unescaped(md []byte) []byte {
	return []byte(strings.NewReplacer("&#91;", "[", "&#93;", "]").Replace(string(md)))
}

// found joins the two parts of each match.
func found(text []byte, pattern string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		out = append(out, string(m[1])+" "+string(m[2]))
	}
	return out
}

func csvFindings(t *testing.T, text []byte) []string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	var out []string
	for _, row := range rows[1:] {
		out = append(out, at(row, "file")+":"+at(row, "line")+" ["+at(row, "code")+"]")
	}
	return out
}

func sarifFindings(t *testing.T, text []byte) []string {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range log.Runs[0].Results {
		l := r.Locations[0].PhysicalLocation
		out = append(out, fmt.Sprintf("%s:%d [%s]", strings.TrimPrefix(l.ArtifactLocation.URI, "file://"),
			l.Region.StartLine, r.RuleID))
	}
	return out
}

// checkPageReport holds that the report inside a page is the JSON report.
func checkPageReport(t *testing.T, page string, text []byte) {
	t.Helper()
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(html), `<script type="application/json" id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var inside struct{ Report map[string]any }
	if err := json.Unmarshal([]byte(data), &inside); err != nil {
		t.Fatal(err)
	}
	var report map[string]any
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for key, v := range report {
		a, _ := json.Marshal(v)
		if b, _ := json.Marshal(inside.Report[key]); !bytes.Equal(a, b) {
			t.Errorf("%s of the report is %.300s, inside the page %.300s", key, a, b)
		}
	}
	if len(report) != len(inside.Report) {
		t.Errorf("the report has %d parts, that inside the page %d", len(report), len(inside.Report))
	}
}
