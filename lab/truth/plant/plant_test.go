package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// TestPlant plants in a module of the test's own and finds the benchmark that allocates more.
func TestPlant(t *testing.T) {
	dir := t.TempDir()
	j := &journal{name: filepath.Join(dir, "tried.jsonl")}
	p := &target{Package: source.Package{Module: "example.com/m", Version: "v1.0.0", Pattern: "./", Dir: filepath.Join(dir, "m"), Work: filepath.Join(dir, "work")}}
	if err := os.Mkdir(p.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"m.go":   "package m\n\nfunc Squares(n int) []int {\n\tout := make([]int, 0, n)\n\tfor i := range n {\n\t\tout = append(out, i*i)\n\t}\n\treturn out\n}\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nvar sink []int\n\nfunc BenchmarkSquares(b *testing.B) {\n" +
			"\tfor range b.N {\n\t\tsink = Squares(100)\n\t}\n}\n",
	} {
		if err := os.MkdirAll(p.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.plant(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	if all, of := j.cases("slice-without-capacity"); all < 1 || of != 1 {
		t.Fatalf("%+v", j.rows)
	}
	i := slices.IndexFunc(j.rows, func(r tried) bool { return r.Case != nil && r.Case.Planted.Mutator == "slice-without-capacity" })
	c := j.rows[i].Case
	if c.Bench != "^BenchmarkSquares$" || c.Functions[0] != "example.com/m.Squares" || c.Sites[0] != (corpus.Site{File: "m.go", Line: 4}) ||
		c.Measured.After.Allocs != 1 || c.Measured.Before.Allocs <= 1 {
		t.Errorf("case %+v", c)
	}
	again, err := open(j.name)
	if err != nil || len(again.rows) != len(j.rows) {
		t.Fatalf("journal of %d rows read as %d: %v", len(j.rows), len(again.rows), err)
	}
	if err := p.plant(context.Background(), again); err != nil || len(again.rows) != len(j.rows) {
		t.Errorf("tried again: %+v, %v", again.rows, err)
	}
	if err := c.Planted.Plant(p.Dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, "m.go"))
	if err != nil || !strings.Contains(string(text), "make([]int, 0)\n") {
		t.Errorf("planted %v:\n%s", err, text)
	}
}

// TestBalanced takes no more than a share of a module and of a mutator, and all that fits.
func TestBalanced(t *testing.T) {
	many := make([][]corpus.Case, 40)
	for i := range many {
		for k := range 1 + i%7 {
			c := corpus.Case{Module: fmt.Sprint(i), Planted: &corpus.Planted{Mutator: fmt.Sprint("m", k%3, i%15)}}
			if k == 0 {
				c.Planted.Mutator = "common"
			}
			many[i] = append(many[i], c)
		}
	}
	got := balanced(many)
	modules, mutators := map[string]int{}, map[string]int{}
	for _, c := range got {
		modules[c.Module]++
		mutators[c.Planted.Mutator]++
	}
	for name, n := range mutators {
		if n*mutatorShare > len(got) {
			t.Errorf("%d of %d are of %s", n, len(got), name)
		}
	}
	for name, n := range modules {
		if n*moduleShare > len(got) {
			t.Errorf("%d of %d are of module %s", n, len(got), name)
		}
	}
	if mutators["common"] < len(got)/mutatorShare-1 || len(modules) < 35 {
		t.Errorf("%d common ones in %d, %d modules", mutators["common"], len(got), len(modules))
	}
}
