package equal

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// source is one version of the files of a package.
type source struct {
	fset  *token.FileSet
	files []*file
	decls map[string]*ast.FuncDecl // by name
}

type file struct {
	name   string
	text   []byte
	syntax *ast.File
}

// read parses the files of a package, with those of a change in place of theirs.
func read(names []string, changed version.Files) (*source, error) {
	s := &source{fset: token.NewFileSet(), decls: map[string]*ast.FuncDecl{}}
	for _, name := range names {
		text, ok := changed[name]
		if !ok {
			var err error
			if text, err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
		syntax, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, &file{name, text, syntax})
		for _, d := range syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				s.decls[nameOf(fn)] = fn
			}
		}
	}
	return s, nil
}

// nameOf is the name of a function as Go code outside its package's functions would write it,
// without type arguments: F, T.M or (*T).M.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	typ, star := fn.Recv.List[0].Type, false
	for {
		switch x := typ.(type) {
		case *ast.ParenExpr:
			typ = x.X
			continue
		case *ast.StarExpr:
			typ, star = x.X, true
			continue
		case *ast.IndexExpr:
			typ = x.X
			continue
		case *ast.IndexListExpr:
			typ = x.X
			continue
		}
		break
	}
	name := types.ExprString(typ)
	if star {
		return "(*" + name + ")." + fn.Name.Name
	}
	return name + "." + fn.Name.Name
}

// print is a node in the form of gofmt, without comments, so that two versions can be compared.
func (s *source) print(n any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return ""
	}
	return b.String()
}

// signature is what callers see of a function.
func (s *source) signature(fn *ast.FuncDecl) string {
	recv := ""
	if fn.Recv != nil {
		recv = s.print(fn.Recv.List[0].Type)
	}
	return recv + " " + s.print(fn.Type)
}

// diff is what differs between two versions of a package.
type diff struct {
	changed []string            // functions of both whose code differs
	another []string            // of them, those that are called in another way: only their callers can be compared
	fields  map[string][]string // of structs: those that are not the same in both
}

// compare finds the functions whose code is another, or that use a variable whose value is.
func compare(old, now *source) diff {
	d := diff{fields: map[string][]string{}}
	vars := map[string]bool{}
	was, is := old.specs(), now.specs()
	for name, text := range was {
		if other, ok := is[name]; ok && other != text {
			vars[name] = true
		}
	}
	for name, fn := range old.decls {
		other, ok := now.decls[name]
		switch {
		case !ok || fn.Body == nil || other.Body == nil:
		case old.print(fn.Type) != now.print(other.Type) || old.print(fn.Body) != now.print(other.Body), mentions(fn, vars):
			d.changed = append(d.changed, name)
			if old.signature(fn) != now.signature(other) {
				d.another = append(d.another, name)
			}
		}
	}
	slices.Sort(d.changed)
	before, after := old.structs(), now.structs()
	for name, fields := range before {
		for f, typ := range fields {
			if after[name][f] != typ {
				d.fields[name] = append(d.fields[name], f)
			}
		}
		for f := range after[name] {
			if _, ok := fields[f]; !ok {
				d.fields[name] = append(d.fields[name], f)
			}
		}
	}
	return d
}

// mentions reports whether a function's body names one of the variables.
func mentions(fn *ast.FuncDecl, names map[string]bool) bool {
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

// specs are the variables and constants of the package with their text.
func (s *source) specs() map[string]string {
	out := map[string]string{}
	s.each(func(g *ast.GenDecl, spec ast.Spec) {
		if v, ok := spec.(*ast.ValueSpec); ok {
			for _, n := range v.Names {
				out[n.Name] = s.print(v)
			}
		}
	})
	return out
}

func (s *source) each(visit func(g *ast.GenDecl, spec ast.Spec)) {
	for _, f := range s.files {
		for _, d := range f.syntax.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					visit(g, spec)
				}
			}
		}
	}
}

// structs are the fields of the package's structs with the text of their types.
func (s *source) structs() map[string]map[string]string {
	out := map[string]map[string]string{}
	s.each(func(_ *ast.GenDecl, spec ast.Spec) {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			return
		}
		st, ok := t.Type.(*ast.StructType)
		if !ok {
			return
		}
		fields := map[string]string{}
		for _, f := range st.Fields.List {
			for _, n := range f.Names {
				fields[n.Name] = s.print(f.Type)
			}
			if len(f.Names) == 0 {
				typ := types.ExprString(f.Type)
				fields[typ[strings.LastIndexAny(typ, ".*")+1:]] = typ
			}
		}
		out[t.Name.Name] = fields
	})
	return out
}

// load reads the types of a package as it is.
func load(ctx context.Context, dir string, flags []string, path string) (*packages.Package, error) {
	list, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, BuildFlags: flags,
		Mode: packages.LoadSyntax | packages.NeedModule}, path)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].Types == nil || list[0].IllTyped || len(list[0].Errors) > 0 {
		return nil, fmt.Errorf("%s cannot be read", path)
	}
	return list[0], nil
}
