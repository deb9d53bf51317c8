package heaptrim_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// texts are the fields of evidence and finding that hold sentences, or parts of
// such, for people. What a stage has to know of another is in a typed field beside.
var texts = []string{
	"finding.Life.Unknown", "finding.Trial.Text", "finding.Trial.Question", "finding.Trial.Fault",
	"evidence.Manifest.Warnings", "evidence.Manifest.LeftOut", "evidence.Gap.What", "evidence.Gap.Adds",
	"finding.Diagnosis.Warnings", "finding.Totals.Why", "finding.Basis.Text", "finding.Bucket.Name", "finding.Finding.Title",
	"finding.Lifetime.Basis", "finding.Escape.Text", "finding.Prescription.Warnings", "finding.Remedy.Text", "finding.Remedy.Why",
	"finding.Prediction.Basis", "finding.Advice.Title", "finding.RuleHit.Message",
	"finding.Detection.Title", "finding.Detection.Text", "finding.Detection.Evidence", "finding.Detection.Basis", "finding.Report.Warnings",
}

// names are the fields of these packages that hold no sentence: names, places,
// settings, words of a format.
var names = []string{
	"finding.Bucket.Group",
	"finding.Trial.Code", "finding.Trial.Kind", "finding.Trial.Bench",
	"finding.Life.Function", "finding.Life.Holder", "finding.Life.Field", "finding.Life.Made", "finding.Life.PartOf", "finding.Ways.Hook", "finding.Maker.Name", "finding.Box.Field", "finding.Box.Type", "finding.Settled.*",
	"evidence.Code.Function", "evidence.Code.File", "evidence.Instruction.File", "evidence.Instruction.Text", "evidence.Site.Function",
	"evidence.Site.Package", "evidence.Site.File", "evidence.Escape.File", "evidence.Escape.Func", "evidence.Escape.Expr",
	"evidence.Flow.Dst", "evidence.Flow.Src", "evidence.FlowEdge.Expr", "evidence.FlowEdge.Why", "evidence.FlowEdge.File",
	"evidence.Manifest.Schema", "evidence.Manifest.Tool", "evidence.Target.*", "evidence.Environment.*", "evidence.Run.Name",
	"evidence.Run.Package", "evidence.Part.Path", "evidence.Part.Pass", "evidence.Loop.File", "evidence.Frame.Function",
	"evidence.Frame.File", "evidence.Mapping.File", "evidence.Mapping.BuildID", "evidence.Label.Key", "evidence.Label.Text",
	"evidence.Label.Unit", "evidence.ValueType.Type", "evidence.ValueType.Unit", "evidence.Profile.Name",
	"finding.Finding.Run", "finding.Totals.Run", "finding.Allocation.Via", "finding.Mix.Via", "finding.Stack.Via", "finding.RunCost.Run", "finding.LineCost.Run", "finding.RunSummary.Name",
	"finding.RunSummary.Package", "finding.Escape.Holder", "finding.Escape.Expr", "finding.Remedy.Code", "finding.Remedy.Safety", "finding.Remedy.Rule",
	"finding.RuleHit.Code", "finding.Detection.Detector", "finding.Detection.Run", "finding.Detection.Code",
}

// proseReaders may look into sentences: what they decide is how these are shown.
var proseReaders = map[string]string{
	"internal/report": "shows sentences, and fits them to a terminal or a table",
	"internal/web":    "shows sentences",
}

// TestFactsNotProse holds that no stage decides by the words of another: no
// comparison with, and no search in, a text field of evidence or finding.
func TestFactsNotProse(t *testing.T) {
	walk(t, func(string) {}) // a cached result is of the files that this process has seen
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
			packages.NeedDeps,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	fields := textFields(t, pkgs)
	for _, p := range pkgs {
		folder := strings.TrimPrefix(p.PkgPath, modulePath+"/")
		if readsProse(folder) {
			continue
		}
		c := proseCheck{t: t, pkg: p, fields: fields}
		for _, f := range p.Syntax {
			ast.Inspect(f, c.visit)
		}
	}
}

func readsProse(folder string) bool {
	for room := range proseReaders {
		if matches(room+"/*", folder) {
			return true
		}
	}
	return false
}

// textFields finds the fields that texts names, and that every other string of
// the two packages is among names.
func textFields(t *testing.T, pkgs []*packages.Package) map[types.Object]string {
	t.Helper()
	fields := map[types.Object]string{}
	used := map[string]bool{}
	for _, p := range pkgs {
		if p.PkgPath != modulePath+"/internal/evidence" && p.PkgPath != modulePath+"/internal/finding" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			s, ok := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for f := range s.Fields() {
				full := p.Name + "." + name + "." + f.Name()
				switch {
				case !f.Exported() || !holdsString(f.Type()):
				case slices.Contains(texts, full):
					fields[f], used[full] = full, true
				case slices.Contains(names, full):
					used[full] = true
				case slices.Contains(names, p.Name+"."+name+".*"):
					used[p.Name+"."+name+".*"] = true
				default:
					t.Errorf("%s is a string that is neither among texts nor among names", full)
				}
			}
		}
	}
	for _, name := range slices.Concat(texts, names) {
		if !used[name] {
			t.Errorf("there is no field %s", name)
		}
	}
	return fields
}

// holdsString reports whether a type is string or a list of such; a string type
// of its own is a code, and no sentence.
func holdsString(t types.Type) bool {
	if s, ok := t.(*types.Slice); ok {
		t = s.Elem()
	}
	return types.Identical(t, types.Typ[types.String])
}

type proseCheck struct {
	t      *testing.T
	pkg    *packages.Package
	fields map[types.Object]string
}

func (c proseCheck) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			c.compared(n.X, n.Y)
			c.compared(n.Y, n.X)
		}
	case *ast.SwitchStmt:
		if name := c.text(n.Tag); name != "" {
			c.t.Errorf("%s: a switch on %s", c.pkg.Fset.Position(n.Pos()), name)
		}
	case *ast.CallExpr:
		if !c.searches(n) {
			break
		}
		for _, arg := range n.Args {
			if name := c.text(arg); name != "" {
				c.t.Errorf("%s: looks into %s: give the fact a field of its own", c.pkg.Fset.Position(n.Pos()), name)
			}
		}
	}
	return true
}

// compared reports a comparison of a text with something else than "", which only
// asks whether there is one.
func (c proseCheck) compared(x, with ast.Expr) {
	name := c.text(x)
	if v := c.pkg.TypesInfo.Types[with].Value; name == "" || v != nil && v.ExactString() == `""` {
		return
	}
	c.t.Errorf("%s: compares %s: give the fact a field of its own", c.pkg.Fset.Position(x.Pos()), name)
}

// text names the text field that an expression reads, or "".
func (c proseCheck) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.IndexExpr:
		return c.text(e.X)
	case *ast.SelectorExpr:
		return c.fields[c.pkg.TypesInfo.Uses[e.Sel]]
	}
	return ""
}

// searches reports whether a call looks for something in its arguments.
func (c proseCheck) searches(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := c.pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	for _, word := range []string{"Contains", "HasPrefix", "HasSuffix", "Cut", "Index", "LastIndex", "Split", "EqualFold", "Match", "Find", "Count"} {
		if strings.HasPrefix(f.Name(), word) {
			return slices.Contains([]string{"strings", "regexp", "slices", "bytes"}, f.Pkg().Path())
		}
	}
	return false
}
