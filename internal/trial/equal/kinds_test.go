package equal

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestAppends: a function has the contract of append by its name, or by that of its first argument.
func TestAppends(t *testing.T) {
	const text = `package p

func AppendText(b []byte, s string) []byte   { return b }
func append2(b []byte) ([]byte, error)       { return b, nil }
func Encode(dst, src []byte) []byte          { return dst }
func Appendix(b []byte) []byte               { return b }
func Copy(b []byte) []byte                   { return b }
func AppendName(s string, b []byte) []byte   { return b }
func Decode(dst []byte) int                  { return 0 }
func Clone(dst map[int]int) map[int]int      { return dst }
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"AppendText": true, "append2": true, "Encode": true}
	for _, name := range pkg.Scope().Names() {
		if got := appends(pkg.Scope().Lookup(name).(*types.Func)); got != want[name] {
			t.Errorf("%s: %v, want %v", name, got, want[name])
		}
	}
}
