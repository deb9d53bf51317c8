package equal

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"

	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
)

// Limits of what is taken from the changed functions.
const (
	mostMark  = 4 // bytes of a text that separates
	mostMarks = 24
	mostNear  = 1 << 16 // of a number
	focus     = 3       // how many more times the literals of changed lines are there
)

// near gathers the literals of changed functions in two versions of a package, and those of the constants
// that they name. Those of the lines that differ are drawn more often.
func near(functions []string, old, now *source) watch.Near {
	var all, changed nearby
	for _, name := range functions {
		was, is := old.decls[name], now.decls[name]
		if was == nil || is == nil {
			continue
		}
		before, after := old.lines(was), now.lines(is)
		all.gather(old, was, nil)
		all.gather(now, is, nil)
		changed.gather(old, was, append([]int{}, changedLines(after, before)...))
		changed.gather(now, is, append([]int{}, changedLines(before, after)...))
	}
	all.near.Hot, all.near.Functions = changed.near.Marks, functions
	for range focus {
		all.near.Words = append(all.near.Words, changed.near.Words...)
		all.near.Numbers = append(all.near.Numbers, changed.near.Numbers...)
	}
	return all.near
}

// gather takes the literals of a function, or of some of its lines only.
func (n *nearby) gather(s *source, fn *ast.FuncDecl, lines []int) {
	n.constants = s.constants()
	from := s.fset.Position(fn.Pos()).Line
	ast.Inspect(fn, func(node ast.Node) bool {
		if node == nil {
			return false
		}
		return n.visit(node, lines == nil || slices.Contains(lines, s.fset.Position(node.Pos()).Line-from))
	})
}

// constants are the constants of the package that are given by a literal.
func (s *source) constants() map[string]*ast.BasicLit {
	out := map[string]*ast.BasicLit{}
	s.each(func(g *ast.GenDecl, spec ast.Spec) {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || g.Tok != token.CONST || len(v.Values) != len(v.Names) {
			return
		}
		for i, name := range v.Names {
			if lit, ok := v.Values[i].(*ast.BasicLit); ok {
				out[name.Name] = lit
			}
		}
	})
	return out
}

type nearby struct {
	near      watch.Near
	constants map[string]*ast.BasicLit
}

// visit takes a literal if it is wanted, and reports whether there may be others below.
func (n *nearby) visit(node ast.Node, wanted bool) bool {
	switch node := node.(type) {
	case *ast.BasicLit:
		if wanted {
			n.literal(node)
		}
	case *ast.Ident:
		if lit := n.constants[node.Name]; lit != nil && wanted {
			n.literal(lit)
		}
	case *ast.CompositeLit:
		if text, ok := octets(node); ok {
			if wanted {
				n.text(text)
			}
			return false
		}
	}
	return true
}

func (n *nearby) literal(lit *ast.BasicLit) {
	switch lit.Kind {
	case token.STRING, token.CHAR:
		if text, err := strconv.Unquote(lit.Value); err == nil {
			n.text(text)
		}
	case token.INT:
		v, err := strconv.ParseInt(lit.Value, 0, 64)
		if err == nil && v < mostNear && len(n.near.Numbers) < mostNumbers && !slices.Contains(n.near.Numbers, v) {
			n.near.Numbers = append(n.near.Numbers, v)
		}
	}
}

func (n *nearby) text(text string) {
	to := &n.near.Words
	if len(text) <= mostMark {
		to = &n.near.Marks
	}
	if text != "" && len(text) <= mostWord && len(*to) < mostMarks && !slices.Contains(*to, text) {
		*to = append(*to, text)
	}
}

// octets are the bytes of a literal such as []byte{0xEF, 0xBB}.
func octets(lit *ast.CompositeLit) (string, bool) {
	array, ok := lit.Type.(*ast.ArrayType)
	if !ok || len(lit.Elts) == 0 || len(lit.Elts) > mostWord {
		return "", false
	}
	if elem, ok := array.Elt.(*ast.Ident); !ok || elem.Name != "byte" && elem.Name != "uint8" {
		return "", false
	}
	var out []byte
	for _, e := range lit.Elts {
		one, ok := e.(*ast.BasicLit)
		if !ok {
			return "", false
		}
		switch one.Kind {
		case token.INT:
			v, err := strconv.ParseUint(one.Value, 0, 8)
			if err != nil {
				return "", false
			}
			out = append(out, byte(v))
		case token.CHAR:
			v, _, _, err := strconv.UnquoteChar(one.Value[1:len(one.Value)-1], '\'')
			if err != nil || v > 0xff {
				return "", false
			}
			out = append(out, byte(v))
		default:
			return "", false
		}
	}
	return string(out), true
}
