package code

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// Piece is one part of a text, as Go source: a string, or a function that appends the part to bytes, with its
// arguments after the bytes.
type Piece struct{ Text, Append, Args string }

// after is the source of what appends a piece to bytes.
func (p Piece) after(to string) string {
	if p.Append == "" {
		return fmt.Sprintf("append(%s, %s...)", to, p.Text)
	}
	if p.Args != "" {
		to += ", " + p.Args
	}
	return p.Append + "(" + to + ")"
}

// Together puts pieces together in an array of the frame, in place of an expression that makes a string of them:
// in statements of their own where nothing else is evaluated with it. Nil if there is no statement, or if each piece
// is a string as it is.
func (s *Site) Together(e ast.Expr, pieces []Piece, room int64) []Change {
	stmt, listed := Statement(s.Cur)
	if !listed || room == 0 || !slices.ContainsFunc(pieces, func(p Piece) bool { return p.Append != "" }) {
		return nil
	}
	to := s.Fresh("text", e.Pos())
	lines := []string{fmt.Sprintf("var %s [%d]byte", to, room)}
	to += "[:0]"
	if !alone(stmt.Node(), e) || len(pieces) == 1 {
		for _, p := range pieces {
			to = p.after(to)
		}
		return []Change{s.Before(stmt.Node(), lines...), s.Replace(e, "string("+to+")")}
	}
	name, set := s.Fresh("b", e.Pos()), ":="
	for _, p := range pieces {
		lines = append(lines, fmt.Sprintf("%s %s %s", name, set, p.after(to)))
		to, set = name, "="
	}
	return []Change{s.Before(stmt.Node(), lines...), s.Replace(e, "string("+name+")")}
}

// Reverse is a statement that turns a slice round.
func (f *File) Reverse(list string, at token.Pos) (text string, imports []string) {
	if pkg, imports, ok := f.Use("slices", at); ok && f.Since("go1.21") {
		return fmt.Sprintf("%s.Reverse(%s)", pkg, list), imports
	}
	i, j := f.Fresh("i", at), f.Fresh("j", at)
	return fmt.Sprintf("for %[1]s, %[2]s := 0, len(%[3]s)-1; %[1]s < %[2]s; %[1]s, %[2]s = %[1]s+1, %[2]s-1 {\n"+
		"%[3]s[%[1]s], %[3]s[%[2]s] = %[3]s[%[2]s], %[3]s[%[1]s]\n}", i, j, list), nil
}

// alone reports whether a statement returns an expression, or sets a variable to it, and does nothing else.
func alone(stmt ast.Node, e ast.Expr) bool {
	switch n := stmt.(type) {
	case *ast.ReturnStmt:
		return len(n.Results) == 1 && n.Results[0] == e
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Rhs[0] != e || n.Tok != token.DEFINE && n.Tok != token.ASSIGN {
			return false
		}
		_, name := n.Lhs[0].(*ast.Ident)
		return name
	}
	return false
}

// Room is the length of an array on the stack that holds most of the blocks seen at the place. It is 0 if such an
// array would be too long.
func (s *Site) Room(least int64) int64 {
	const most = 256
	if seen := s.Place.Sizes; len(seen) > 0 {
		for least < seen[len(seen)*9/10] {
			least *= 2
		}
	}
	if least > most {
		return 0
	}
	return least
}

// MostReserved is the size that edits reserve at most because the recording needed it, in bytes.
const MostReserved = 64 << 10

// Seen is the size that nine of ten blocks of the place had at most; 0 if that is not known or more than most.
func (s *Site) Seen(most int64) int64 {
	if len(s.Place.Sizes) == 0 {
		return 0
	}
	size := s.Place.Sizes[(len(s.Place.Sizes)*9)/10]
	if size > most {
		return 0
	}
	return size
}

// Steady reports whether expressions have the same value in whichever order they are evaluated between each
// other's calls: none calls what may have effects, or those that call nothing are constants and variables that no call can set.
func (s *Site) Steady(list []ast.Expr) bool {
	calls := false
	for _, e := range list {
		calls = calls || s.mayAct(e)
	}
	if !calls {
		return true
	}
	fn, _ := Function(s.Cur)
	for _, e := range list {
		if s.Info().Types[e].Value != nil || s.mayAct(e) {
			continue
		}
		v := s.Local(e)
		if v == nil || !s.ownOnly(v, fn) {
			return false
		}
	}
	return true
}

// ownOnly reports whether only the function itself sets a variable: its address is not taken, and no function
// literal names it.
func (s *Site) ownOnly(v *types.Var, fn inspector.Cursor) bool {
	if !fn.Valid() {
		return false
	}
	for _, u := range s.Uses(v, fn) {
		unary, ok := u.Parent().Node().(*ast.UnaryExpr)
		if ok && unary.Op == token.AND || !Within(u, fn) {
			return false
		}
	}
	return v.Pos() >= fn.Node().Pos() && v.Pos() < fn.Node().End()
}

// harmless are the beginnings of names of functions and methods of the standard library that only look at what
// they are given, beside those that asksOnly knows.
var harmless = []string{"(time.Time).", "(net/netip.", "encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString",
	"(*encoding/base32.Encoding).EncodeToString", "(*math/big.Int).String"}

// mayAct reports whether an expression calls something that may have effects, or receives from a channel.
func (s *Site) mayAct(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := s.Callee(n)
			known := slices.ContainsFunc(harmless, func(begin string) bool { return strings.HasPrefix(name, begin) })
			found = found || !known && !s.Info().Types[n.Fun].IsType() && s.Builtin(n, "len") == nil && !s.asksOnly(n)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
