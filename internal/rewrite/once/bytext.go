package once

import (
	"fmt"
	"go/ast"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// mostPatterns is how many patterns a package keeps before it forgets all of them and starts again.
const mostPatterns = 256

// CompiledByText keeps regular expressions that are compiled from texts which are no constants in a bounded
// map of the package.
func CompiledByText(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	fn := code.Declaration(s.Cur)
	if !ok || fn == nil || len(call.Args) == 0 || fn.Recv == nil && fn.Name.Name == "init" {
		return nil
	}
	if _, constant := s.ConstString(call.Args[0]); constant {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	asked := s.Callee(call)
	switch asked {
	case "regexp.MustCompile", "regexp.Compile":
		if !s.onlyCalled() {
			return nil
		}
	case "regexp.MatchString":
		if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs && s.Cur.ParentEdgeKind() != edge.ReturnStmt_Results {
			return nil
		}
	default:
		return nil
	}
	lock, imports, ok := s.Use("sync", call.Pos())
	if !ok {
		return nil
	}
	owner := fmt.Sprint(call.Pos())
	k := keeper{pkg: s.Source(sel.X), lock: lock, list: s.FreshDeclared("patterns", owner), get: s.FreshDeclared("patternOf", owner)}
	changes := []code.Change{s.Replace(call.Fun, k.get)}
	if asked == "regexp.MatchString" {
		k.match = s.FreshDeclared("matchPattern", owner)
		changes[0] = s.Replace(call.Fun, k.match)
	}
	changes = append(changes, s.Insert(len(s.Text), k.source(asked)))
	return []code.Edit{{Text: "keep compiled patterns by their text", Imports: imports, Changes: changes,
		Open: fmt.Sprintf("up to %d patterns stay in memory, also those that come from outside", mostPatterns)}}
}

// keeper is the source of a bounded map of compiled patterns.
type keeper struct {
	pkg, lock        string // names of regexp and sync
	list, get, match string
}

// source declares the map and the function that looks into it, for a function of package regexp.
func (k keeper) source(asked string) string {
	result, give, fail, made := "*"+k.pkg+".Regexp", "re", "", "re = "+k.pkg+".MustCompile(text)"
	if asked != "regexp.MustCompile" {
		result, give, made = "(*"+k.pkg+".Regexp, error)", "re, nil", "re, err := "+k.pkg+".Compile(text)"
		fail = "\tif err != nil {\n\t\treturn nil, err\n\t}\n"
	}
	text := fmt.Sprintf(`
// %[1]s are compiled patterns by their text.
var %[1]s struct {
	%[2]s.RWMutex
	m map[string]*%[3]s.Regexp
}

// %[4]s compiles a pattern, unless that was done.
func %[4]s(text string) %[5]s {
	%[1]s.RLock()
	re := %[1]s.m[text]
	%[1]s.RUnlock()
	if re != nil {
		return %[6]s
	}
	%[7]s
%[8]s	%[1]s.Lock()
	defer %[1]s.Unlock()
	if %[1]s.m == nil || len(%[1]s.m) >= %[9]d {
		%[1]s.m = map[string]*%[3]s.Regexp{}
	}
	%[1]s.m[text] = re
	return %[6]s
}
`, k.list, k.lock, k.pkg, k.get, result, give, made, fail, mostPatterns)
	if k.match != "" {
		text += fmt.Sprintf(`
// %s reports whether a text fits a pattern.
func %[1]s(pattern, text string) (bool, error) {
	re, err := %s(pattern)
	if err != nil {
		return false, err
	}
	return re.MatchString(text), nil
}
`, k.match, k.get)
	}
	return text
}
