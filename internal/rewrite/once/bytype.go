package once

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// KeptByType keeps what a function of the package makes of a reflect.Type alone, in a sync.Map by that type. Types are
// as many as the program has.
func KeptByType(on *code.Site) []code.Edit {
	s := &site{on}
	fn := code.Declaration(s.Cur)
	if fn == nil || fn.Body == nil || fn.Recv != nil || code.HasTypeParams(fn) {
		return nil
	}
	param, fails, ok := s.ofType(fn)
	itself, isFunc := s.Info().Defs[fn.Name].(*types.Func)
	if !ok || !isFunc || s.asksAnew(itself, map[*types.Func]bool{}) || s.dependsOnMore(fn.Body) || s.keptByCaller(fn) {
		return nil
	}
	result := fn.Type.Results.List[0].Type
	lock, imports, ok := s.Use("sync", fn.Pos())
	if !ok {
		return nil
	}
	owner := fmt.Sprint(fn.Pos())
	first, n := utf8.DecodeRuneInString(fn.Name.Name)
	made := s.FreshDeclared("make"+string(unicode.ToUpper(first))+fn.Name.Name[n:], owner)
	kept := s.FreshDeclared(string(unicode.ToLower(first))+fn.Name.Name[n:]+"ByType", owner)
	taken := "kept.(" + s.Source(result) + ")"
	if types.IsInterface(s.Info().TypeOf(result)) {
		taken = "" // nil may be kept
	}
	k := typeKeeper{fn: fn.Name.Name, param: param, result: s.Source(result), fails: fails, made: made, kept: kept, taken: taken,
		rest: string(s.Text[s.Offset(fn.Type.Params.Pos()):s.Offset(fn.Body.Lbrace)])}
	return []code.Edit{{Text: fmt.Sprintf("keep what %s makes by its reflect.Type", fn.Name.Name), Imports: imports,
		Open: fmt.Sprintf("%s must give the same for a type each time, and nobody may change what it gave", fn.Name.Name),
		Changes: []code.Change{
			s.Insert(s.Offset(fn.Body.Lbrace)+1, k.head()),
			s.Insert(len(s.Text), fmt.Sprintf("\n// %s has what %s gave, by reflect.Type.\nvar %[1]s %[3]s.Map\n", kept, fn.Name.Name, lock)),
		}}}
}

// ofType is the only parameter of a function, if that is a reflect.Type, and whether the function returns an error beside
// what it makes.
func (s *site) ofType(fn *ast.FuncDecl) (param string, fails, ok bool) {
	params, results := fn.Type.Params.List, fn.Type.Results
	if len(params) != 1 || len(params[0].Names) != 1 || params[0].Names[0].Name == "_" || results == nil || results.NumFields() > 2 {
		return "", false, false
	}
	if !code.Named(s.Info().TypeOf(params[0].Type), "reflect.Type") {
		return "", false, false
	}
	last := results.List[len(results.List)-1].Type
	fails = results.NumFields() == 2
	return params[0].Names[0].Name, fails, !isError(s.Info().TypeOf(results.List[0].Type)) && (!fails || isError(s.Info().TypeOf(last)))
}

// isError reports whether a type is error.
func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// dependsOnMore reports whether a body names a variable of the package that is no error, sends, receives, or starts a
// goroutine: its result may then depend on more than its argument.
func (s *site) dependsOnMore(body *ast.BlockStmt) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			yes = true
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		case *ast.Ident:
			v, ok := s.Info().Uses[n].(*types.Var)
			isPackages := ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
			yes = yes || isPackages && !isError(v.Type())
		}
		return !yes
	})
	return yes
}

// keptByCaller reports whether a function of the package that calls another looks into a map of types first, or the other does.
func (s *site) keptByCaller(fn *ast.FuncDecl) (yes bool) {
	for _, f := range s.Package {
		for _, d := range f.Syntax.Decls {
			calls, looks := d == ast.Decl(fn), false
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					looks = looks || strings.HasPrefix(s.Callee(n), "(*sync.Map).Load")
				case *ast.IndexExpr:
					if t := s.Info().TypeOf(n.X); t != nil {
						m, ok := t.Underlying().(*types.Map)
						looks = looks || ok && code.Named(m.Key(), "reflect.Type")
					}
				case *ast.Ident:
					calls = calls || s.Info().Uses[n] == s.Info().Defs[fn.Name]
				}
				return true
			})
			yes = yes || calls && looks
		}
	}
	return yes
}

// typeKeeper is the source of a function that keeps what another one makes.
type typeKeeper struct {
	fn, param, result, made, kept string
	taken                         string // the kept value as the type of the result; "" for an interface
	rest                          string // the signature, from its parameters on
	fails                         bool
}

// head is the text between the opening brace of the function and the body of the one that makes the result.
func (k typeKeeper) head() string {
	nothing, results, check, end := "", "made", "", ""
	if k.fails {
		nothing, results, check, end = ", nil", "made, err", "if err == nil {\n\t", "}\n"
	}
	found := "return " + k.taken + nothing
	if k.taken == "" {
		found = fmt.Sprintf("made, _ := kept.(%s)\nreturn made%s", k.result, nothing)
	}
	return fmt.Sprintf("\nif kept, ok := %s.Load(%s); ok {\n%s\n}\n%s := %s(%[2]s)\n%[6]s%[1]s.Store(%[2]s, made)\n%[7]sreturn %[4]s\n}\n\n// %[5]s makes what %[8]s keeps for each type.\nfunc %[5]s%[9]s{",
		k.kept, k.param, found, results, k.made, check, end, k.fn, k.rest)
}
