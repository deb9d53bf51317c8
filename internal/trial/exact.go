package trial

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

// memString prints counts with their fractions, which package testing cuts off. It reads exported
// fields only.
const memString = `{
	return fmt.Sprintf("%.6f B/op\t%.6f allocs/op", float64(r.MemBytes)/float64(r.N), float64(r.MemAllocs)/float64(r.N))
}`

// exactTesting is package testing's file that prints counts, with memString in it, by the name of
// the file that it replaces; empty if that is not as expected, and counts are then rounded down.
func (j *Judge) exactTesting(ctx context.Context) (Files, error) {
	if j.testing != nil {
		return j.testing, nil
	}
	root, err := j.tool.Setting(ctx, "GOROOT")
	if err != nil {
		return nil, err
	}
	j.testing = Files{}
	name := filepath.Join(root, "src", "testing", "benchmark.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return j.testing, nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return j.testing, nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "MemString" || fn.Recv == nil || fn.Body == nil || !bytes.Contains(text, []byte("\"fmt\"")) {
			continue
		}
		from, to := fset.Position(fn.Body.Pos()).Offset, fset.Position(fn.Body.End()).Offset
		j.testing[name] = fmt.Appendf(nil, "%s%s%s", text[:from], memString, text[to:])
	}
	return j.testing, nil
}
