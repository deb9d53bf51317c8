package browser

import (
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	profilev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
)

// TestPyroscope: Pyroscope's own types read the profiles of check. What it shows is a tree for
// each sample type, by the names of functions, and it adds values up: none may be negative.
func TestPyroscope(t *testing.T) {
	for _, name := range recordings {
		f, err := os.Open(derivedProfile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		p := &profilev1.Profile{}
		if err := p.UnmarshalVT(content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var types []string
		for _, s := range p.SampleType {
			types = append(types, p.StringTable[s.Type])
		}
		if !slices.Contains(types, "cpu") || !slices.Contains(types, "gc_relief") {
			t.Errorf("%s: sample types %q", name, types)
		}
		tree := treeOf(t, p)
		if tree.samples == 0 || tree.sums[slices.Index(types, "cpu")] <= 0 {
			t.Errorf("%s: %d samples, sums %v", name, tree.samples, tree.sums)
		}
		// The collector's cost is under the code that causes it, not below a root of its own.
		if tree.churn == 0 || tree.callers*10 < tree.churn*9 {
			t.Errorf("%s: of %d ns charged to code, %d have callers", name, tree.churn, tree.callers)
		}
	}
}

// tree is what the samples of a profile come to.
type tree struct {
	samples        int
	sums           []int64
	churn, callers int64
}

// treeOf walks the samples as a viewer does.
func treeOf(t *testing.T, p *profilev1.Profile) tree {
	t.Helper()
	functions := map[uint64]string{}
	for _, f := range p.Function {
		functions[f.Id] = p.StringTable[f.Name]
	}
	lines := map[uint64][]string{}
	for _, l := range p.Location {
		for _, line := range l.Line {
			lines[l.Id] = append(lines[l.Id], functions[line.FunctionId])
		}
	}
	out := tree{samples: len(p.Sample), sums: make([]int64, len(p.SampleType))}
	for _, s := range p.Sample {
		var names []string
		for _, id := range s.LocationId {
			if len(lines[id]) == 0 {
				t.Fatalf("location %d has no function", id)
			}
			names = append(names, lines[id]...)
		}
		for i, v := range s.Value {
			if v < 0 {
				t.Fatalf("value %d of type %d in %q", v, i, names)
			}
			out.sums[i] += v
		}
		// The remainder is of no allocation site, and its share hangs on the run.
		if len(names) > 0 && (strings.HasPrefix(names[0], "GC churn") || strings.HasPrefix(names[0], "GC retention")) {
			out.churn += s.Value[0]
			if len(names) > 2 {
				out.callers += s.Value[0]
			}
		}
	}
	return out
}
