package source

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// TestSpell names functions as a profile does.
func TestSpell(t *testing.T) {
	fset := token.NewFileSet()
	text := "package p\ntype t struct{}\ntype g[T any] struct{}\nfunc f() {}\nfunc (t) v() {}\nfunc (*t) p() {}\n" +
		"func (*g[T]) q() {}\nfunc h[T any]() {}"
	files, err := Parse("m/p", map[string][]byte{"p.go": []byte(text)}, fset, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range files[0].Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			got = append(got, files[0].Spell(fn))
		}
	}
	if want := []string{"m/p.f", "m/p.t.v", "m/p.(*t).p", "m/p.(*g[...]).q", "m/p.h[...]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
