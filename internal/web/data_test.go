package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/schema"
)

var report = &schema.Report{Schema: schema.ReportVersion}

func sourceOf(string) ([]byte, error) {
	return []byte("package a\n\n// Parse parses.\nfunc Parse() {\n" + strings.Repeat("\tx()\n", 18) + "}\n\nfunc Read() {\n" + strings.Repeat("\ty()\n", 10) + "}\n"), nil
}

// TestDataGolden compares the whole of the page's data with a file.
func TestDataGolden(t *testing.T) {
	got, _, err := Data(small(t), Options{Report: report, Source: sourceOf})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", " "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	golden := filepath.Join("testdata", "data.golden.json")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("the data differ from %s; go test -update rewrites it. Got:\n%s", golden, b.Bytes())
	}
}

// totals adds the columns of a flame view up.
func totals(v *flameView, base bool) map[string]float64 {
	out := map[string]float64{}
	for _, c := range v.Weights {
		if c.Base != base {
			continue
		}
		for _, x := range c.V {
			out[c.Name] += x
		}
	}
	return out
}

// TestWeightsMakeTheWhole: all CPU but idle marking is the whole, and so it is
// with the collector's share charged to what causes it.
func TestWeightsMakeTheWhole(t *testing.T) {
	v, err := newFlameView(small(t), Options{MaxNodes: defaultMaxNodes})
	if err != nil {
		t.Fatal(err)
	}
	sum := totals(v, false)
	var sampled, charged float64
	for _, b := range v.Buckets {
		if b.Idle {
			continue
		}
		sampled += sum[b.Name]
		if !b.Collector {
			charged += sum[b.Name]
		}
	}
	charged += sum[colChurn] + sum[colRetention] + sum[colRemainder]
	for name, got := range map[string]float64{"sampled": sampled, "charged": charged} {
		if math.Abs(got*cpuUnit-1) > 20*cpuUnit {
			t.Errorf("%s CPU is %v of all, want 1", name, got*cpuUnit)
		}
	}
	if got := sum[colBytes]; got != 400_000 {
		t.Errorf("%v bytes allocated, want 400000", got)
	}
	if got, want := sum["mark, idle workers"]*cpuUnit, 0.03; math.Abs(got-want) > 1e-6 {
		t.Errorf("idle marking is %v, want %v", got, want)
	}
	if !v.Exact {
		t.Error("a recording of every allocation does not count as exact")
	}
}

// TestTrim: what a limit on nodes leaves out counts to its callers, so that the
// sums stay, and the error that is stated is the error that is made.
func TestTrim(t *testing.T) {
	d := small(t)
	whole, err := newFlameView(d, Options{MaxNodes: defaultMaxNodes})
	if err != nil {
		t.Fatal(err)
	}
	want := totals(whole, false)
	for limit := 1; limit <= len(whole.Parent); limit++ {
		v, err := newFlameView(d, Options{MaxNodes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Parent) != limit || v.Trim.Nodes != len(whole.Parent) {
			t.Fatalf("limit %d: %d nodes of %d, want all %d to be counted", limit, len(v.Parent), v.Trim.Nodes, len(whole.Parent))
		}
		for name, got := range totals(v, false) {
			if math.Abs(got-want[name]) > 1 {
				t.Errorf("limit %d: %s adds up to %v, want %v", limit, name, got, want[name])
			}
			if moved := v.Trim.Moved[name]; moved < 0 || moved > 1+1e-9 {
				t.Errorf("limit %d: %v of %s moved", limit, moved, name)
			}
		}
		for i, back := range v.Parent {
			if i > 0 && (back < 1 || int(back) > i) {
				t.Fatalf("limit %d: node %d stands %d after its caller", limit, i, back)
			}
		}
	}
	if v, _ := newFlameView(d, Options{MaxNodes: 1}); v.Trim.Moved[colBytes] != 1 {
		t.Errorf("with the root alone %v of the bytes moved, want all", v.Trim.Moved[colBytes])
	}
}

// TestBase: a recording compared with itself weighs the same on both sides.
func TestBase(t *testing.T) {
	d := small(t)
	v, err := newFlameView(d, Options{MaxNodes: defaultMaxNodes, Base: d})
	if err != nil {
		t.Fatal(err)
	}
	now, then := totals(v, false), totals(v, true)
	if len(now) == 0 || len(now) != len(then) {
		t.Fatalf("%d columns now, %d before", len(now), len(then))
	}
	for name := range now {
		if now[name] != then[name] {
			t.Errorf("%s: %v now, %v before", name, now[name], then[name])
		}
	}
}

// TestInlined: code that was inlined is told from code that was called, though it
// stands on the same lines.
func TestInlined(t *testing.T) {
	d := record(t, []stack{
		{"m/a.leaf@a.go:9|m/a.middle@a.go:5|m/a.outer@a.go:2 main.main@main.go:3", []int64{40, 400 * ms}},
		{"m/a.leaf@a.go:9 m/a.middle@a.go:5|m/a.outer@a.go:2 main.main@main.go:3", []int64{20, 200 * ms}},
	}, nil, 0)
	v, err := newFlameView(d, Options{MaxNodes: defaultMaxNodes})
	if err != nil {
		t.Fatal(err)
	}
	inlined := map[int32]bool{}
	at := int32(0)
	for _, step := range v.Inlined {
		at += step
		inlined[at] = true
	}
	// Calls from several instructions are several nodes.
	got := map[string]bool{}
	for i, f := range v.Frame {
		name := v.Functions.Name[v.Frames.Function[f]]
		if inlined[int32(i)] {
			name += " inlined"
		}
		got[name] = true
	}
	want := map[string]bool{"": true, "main.main": true, "m/a.outer": true, "m/a.middle inlined": true, "m/a.leaf inlined": true, "m/a.leaf": true}
	if !maps.Equal(got, want) {
		t.Errorf("nodes %v, want %v", got, want)
	}
}

// TestLittleEvidence: whatever a recording lacks, the page can be made.
func TestLittleEvidence(t *testing.T) {
	cpu := []stack{{"example.com/m/a.Parse@a/a.go:20 main.main@main.go:3", []int64{40, 400 * ms}}}
	heap := []stack{{"example.com/m/a.Parse@a/a.go:22 main.main@main.go:3", []int64{3000, 300_000, 10, 1000}}}
	for name, d := range map[string]*diagnose.Session{"cpu": record(t, cpu, nil, 0), "heap": record(t, nil, heap, 0), "log": record(t, nil, nil, 5)} {
		data, _, err := Data(d, Options{Report: report})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var v struct{ Views views }
		if err := json.Unmarshal(data, &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (v.Views.Flame == nil) != (name == "log") {
			t.Errorf("%s: flame graph %v", name, v.Views.Flame != nil)
		}
	}
}

// TestSourceStaysWithGo: a recording cannot make the page quote other files.
func TestSourceStaysWithGo(t *testing.T) {
	d := record(t, []stack{{"runtime.mallocgc example.com/m/a.Parse@/etc/passwd:1 main.main@main.go:3", []int64{40, 400 * ms}}},
		[]stack{{"example.com/m/a.Parse@/etc/passwd:1 main.main@main.go:3", []int64{3000, 300_000, 10, 1000}}}, 5)
	asked := map[string]bool{}
	_, _, err := Data(d, Options{Report: report, Source: func(file string) ([]byte, error) {
		asked[file] = true
		return nil, os.ErrNotExist
	}})
	if err != nil {
		t.Fatal(err)
	}
	if asked["/etc/passwd"] || !asked["main.go"] {
		t.Errorf("asked for %v, want Go files and no others", asked)
	}
}
