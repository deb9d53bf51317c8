package fixes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// Brief is what an outside program is told about a finding, in the schema of doc/format/brief.md.
func Brief(b fix.Briefed, m schema.Meta) ([]byte, error) {
	row, site := b.Row, b.Row.Site
	doc := schema.Brief{Schema: schema.BriefVersion, Tool: m.Tool, Module: b.Path,
		Finding: schema.BriefFinding{Title: row.Title, Code: row.Remedy.Code, Text: row.Remedy.Text, Why: row.Remedy.Why,
			Function: site.Function, Package: site.Package, File: rel(b.Module, site.File), Line: site.Line},
		Facts: facts(row), Vetoes: vetoes(row.Remedy.Life), MustStay: mustStay(), Folders: schema.List(b.Folders),
		Limits: schema.BriefLimits{Seconds: int(b.Program.Time.Seconds()), Processes: b.Program.Processes}}
	doc.Evidence = schema.BriefEvidence{Benchmark: b.Run.Name, Total: schema.FixAmounts{Allocs: b.Run.AllocsPerOp, Bytes: b.Run.BytesPerOp},
		Site: schema.FixAmounts{Allocs: row.Cost.ObjectsPerOp.Value, Bytes: row.Cost.BytesPerOp.Value}, Sizes: []schema.BriefSize{}, Stack: []schema.BriefFrame{}}
	for _, s := range row.Allocation.Sizes {
		doc.Evidence.Sizes = append(doc.Evidence.Sizes, schema.BriefSize{Bytes: int64(s.Size), Objects: s.Objects})
	}
	if row.Escape != nil {
		doc.Evidence.Escape = row.Escape.Text
	}
	if len(row.Stacks) > 0 {
		for _, f := range row.Stacks[0].Frames {
			doc.Evidence.Stack = append(doc.Evidence.Stack, schema.BriefFrame{Function: f.Function, File: rel(b.Module, f.File), Line: f.Line})
		}
	}
	top, _, _ := strings.Cut(b.Run.Name, "/")
	doc.Check = schema.BriefCheck{Test: []string{"go", "test", site.Package},
		Bench: []string{"go", "test", "-run=^$", "-bench=^" + regexp.QuoteMeta(top) + "$", "-benchmem", b.Run.Package}}
	var err error
	if doc.Source, err = source(b.Module, site.File, site.Line); err != nil {
		return nil, err
	}
	var out strings.Builder
	err = schema.Write(&out, doc)
	return []byte(out.String()), err
}

// source is the function that holds a line, or the lines around it.
func source(module, file string, line int) (schema.BriefSource, error) {
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(module, filepath.FromSlash(file))
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return schema.BriefSource{}, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	const around = 20
	from, to := max(line-around, 1), min(line+around, len(lines))
	fset := token.NewFileSet()
	if f, err := parser.ParseFile(fset, at, text, parser.ParseComments|parser.SkipObjectResolution); err == nil {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if first, last := fset.Position(d.Pos()).Line, fset.Position(d.End()).Line; ok && first <= line && line <= last {
				from, to = first, last
				if fn.Doc != nil {
					from = fset.Position(fn.Doc.Pos()).Line
				}
			}
		}
	}
	return schema.BriefSource{File: rel(module, at), From: from, Text: strings.Join(lines[from-1:to], "")}, nil
}

// facts are what is known of the objects.
func facts(row finding.Row) []schema.BriefFact {
	l := row.Remedy.Life
	out := []schema.BriefFact{{Name: "kind", Value: string(row.Allocation.Kind)}, {Name: "ends", Value: endName(l.End)}}
	add := func(name, value string) {
		if value != "" {
			out = append(out, schema.BriefFact{Name: name, Value: value})
		}
	}
	add("through", row.Allocation.Via)
	add("ends in function", l.Function)
	add("kept by", l.Holder)
	add("stored in field", l.Field)
	add("not seen through", l.Unknown)
	if l.Passed.Box.Made {
		add("becomes an interface value", "yes")
	}
	for _, line := range l.Ways.Lines {
		add("handed on in line", strconv.Itoa(line))
	}
	return out
}

func endName(e finding.End) string {
	switch e {
	case finding.EndFrame:
		return "in a frame: no caller of it sees the memory"
	case finding.EndResult:
		return "as a result: code outside the module gets it"
	case finding.EndStored:
		return "stored in what outlives the call"
	case finding.EndShared:
		return "handed to another goroutine"
	}
	return "not known"
}

// vetoes are what the life of the objects rules out.
func vetoes(l finding.Life) []string {
	switch l.End {
	case finding.EndFrame:
		return []string{}
	case finding.EndResult:
		return []string{"no pool, no reuse: the memory is part of a result, and its owner may keep it",
			"no view in place of the copy, unless nothing ever changes what it shows"}
	case finding.EndStored, finding.EndShared:
		return []string{"no pool, no reuse: the memory outlives the call", "no view in place of the copy, unless nothing ever changes what it shows"}
	}
	return []string{"what becomes of the memory was not seen: a pool or a second use has to be proved from the source"}
}

// mustStay is what the judge wants as it is.
func mustStay() []string {
	return []string{
		"exported names, their signatures and what their documentation promises",
		"results of every call: values, nil and empty, errors with their text, type and what they wrap, panics",
		"what results share: no result may change when another call is made, or when an argument is changed later",
		"behaviour under concurrent calls",
		"what is closed, flushed, unlocked and put back",
		"tests, benchmarks, examples, testdata, go.mod, go.sum, build tags, and all files outside the folders",
	}
}
