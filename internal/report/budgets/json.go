package budgets

import (
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// JSON writes a result in the schema of doc/format/guard.md.
func JSON(w io.Writer, r *guard.Result, m schema.Meta) error {
	doc := schema.Guard{Schema: schema.GuardVersion, Tool: m.Tool, Module: r.Module, Env: r.Env.String(), Home: r.Home.String(),
		Base: r.Base, Commit: r.Commit, Failed: r.Failed(), Left: r.Left, Benchmarks: []schema.GuardBench{},
		Contracts: []schema.GuardContract{}, Modules: schema.List(r.Dependency), Warnings: schema.List(r.Warnings)}
	if !m.Created.IsZero() {
		created := m.Created.UTC()
		doc.Created = &created
	}
	for _, b := range r.Benches {
		doc.Benchmarks = append(doc.Benchmarks, benchDocument(b))
	}
	for _, c := range r.Contracts {
		doc.Contracts = append(doc.Contracts, schema.GuardContract{Package: c.Folder, Name: c.Name, Directive: c.Directive,
			Place: placeDocument(c.Place), State: string(c.State), Inherited: c.Inherited, Why: c.Why, At: placeDocument(c.At)})
	}
	return schema.Write(w, doc)
}

func placeDocument(p contract.Place) schema.GuardPlace {
	return schema.GuardPlace{File: p.File, Line: p.Line}
}

func amountDocument(a budget.Amount) schema.GuardAmounts {
	return schema.GuardAmounts{Allocs: a.Allocs, Bytes: a.Bytes}
}

func benchDocument(b guard.Bench) schema.GuardBench {
	doc := schema.GuardBench{Package: b.Package, Name: b.Name, Site: b.Site, CPU: b.CPU, Status: string(b.Status), Fails: b.Fails(),
		Ops: b.Ops, Now: amountDocument(b.Now), Inherited: b.Inherited, Why: b.Why, From: b.From, Causes: []schema.GuardCause{}}
	if b.Line != nil {
		limit, tolerance := amountDocument(b.Line.Figure.Amount), amountDocument(b.Line.Figure.Tolerance)
		doc.Budget, doc.Tolerance, doc.Reason = &limit, &tolerance, b.Line.Reason
	}
	if b.Base != nil {
		base := amountDocument(*b.Base)
		doc.Base = &base
	}
	for _, c := range b.Causes {
		doc.Causes = append(doc.Causes, causeDocument(c))
	}
	return doc
}

func causeDocument(c growth.Cause) schema.GuardCause {
	doc := schema.GuardCause{File: c.At.File, Line: c.At.Line, Function: c.At.Function, Text: c.Text, Changed: c.Changed,
		Allocates: schema.GuardPlace{File: c.File, Line: c.Line}, Via: c.Via, Module: c.Module, Kind: string(c.Kind),
		Before: amountDocument(c.Before), After: amountDocument(c.After), Escape: c.Reason.Text, NewEscape: c.Reason.New}
	if c.Cure != nil {
		doc.Cure = &schema.GuardCure{Code: c.Cure.Code, Text: c.Cure.Text}
	}
	return doc
}

// Bench writes what was counted as Go benchmark text, for benchstat: the version that is compared
// with where base is set, the present one otherwise.
func Bench(w io.Writer, r *guard.Result, base bool) error {
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\n", r.Env.OS, r.Env.Arch)
	folder := ""
	for _, b := range r.Benches {
		a, known := b.Now, true
		if base {
			a, known = before(b)
		}
		if err != nil || b.Ops == 0 || b.Site != "" || !known {
			continue
		}
		if b.Package != folder {
			folder = b.Package
			_, err = fmt.Fprintf(w, "pkg: %s\n", packagePath(r.Module, folder))
		}
		name := b.Name
		if b.CPU > 1 {
			name += fmt.Sprintf("-%d", b.CPU)
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\t%d\t%s B/op\t%s allocs/op\n", name, b.Ops, budget.Number(a.Bytes), budget.Number(a.Allocs))
		}
	}
	return err
}

func packagePath(module, folder string) string {
	if folder == "." {
		return module
	}
	return module + folder[1:]
}
