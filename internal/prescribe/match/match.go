// Package match says which expression of a line made an allocation.
package match

import (
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// exprKinds are the kinds of expression that can be behind a kind of
// allocation, likeliest first.
var exprKinds = map[finding.Kind][]source.ExprKind{
	finding.KindNew:        {source.Literal, source.New, source.Variable},
	finding.KindMake:       {source.Make, source.Literal},
	finding.KindGrowth:     {source.Append},
	finding.KindMap:        {source.Make, source.Literal, source.MapInsert},
	finding.KindMapGrowth:  {source.MapInsert, source.Literal, source.Make},
	finding.KindChan:       {source.Make},
	finding.KindBoxing:     {source.Call},
	finding.KindConversion: {source.Conversion},
	finding.KindConcat:     {source.Concat},
	finding.KindClosure:    {source.FuncLit, source.MethodVal},
	finding.KindVariadic:   {source.Call},
	finding.KindGoroutine:  {source.Go},
}

// Memory describes an allocation: its kind, the sizes of its blocks, and the library function that the line calls for
// it, which may be none.
type Memory struct {
	Kind   finding.Kind
	Callee string
	Sizes  []finding.SizeCount
}

// Expr finds the expression on a line that memory comes from: of several of one kind, the one whose size fits most of the
// blocks. It is nil for none.
func Expr(l *source.Line, m Memory) *source.Expr {
	if m.Callee != "" {
		for _, e := range l.Exprs {
			if e.Kind == source.Call && e.Call.Callee == m.Callee {
				return e
			}
		}
		return dynamic(l, m.Callee)
	}
	for _, kind := range exprKinds[m.Kind] {
		var best *source.Expr
		most := -1.0
		for _, e := range l.Exprs {
			ofMap := kind != source.MapInsert && (m.Kind == finding.KindMap || m.Kind == finding.KindMapGrowth)
			if e.Kind != kind || m.Kind == finding.KindBoxing && !e.Call.Boxes || m.Kind == finding.KindVariadic && !e.Call.Spread || ofMap && (e.Size > 0 || e.Elem > 0) {
				continue
			}
			n := fitting(e, m.Sizes)
			if l.Spliced(e) != "" {
				n += 0.5 // it makes an array each time, the append around it only where that is full
			}
			if n > most {
				best, most = e, n
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// dynamic is the only call on a line of an interface's method that a method may stand behind; nil for none.
func dynamic(l *source.Line, method string) (found *source.Expr) {
	name := method[strings.LastIndexByte(method, '.')+1:]
	for _, e := range l.Exprs {
		if e.Kind != source.Call || !l.Dynamic(e) || !strings.HasSuffix(e.Call.Callee, "."+name) {
			continue
		}
		if found != nil {
			return nil
		}
		found = e
	}
	return found
}

// fitting is the number of blocks that an expression of constant size may have made: a block
// is at most an eighth larger, or 16 bytes.
func fitting(e *source.Expr, sizes []finding.SizeCount) float64 {
	n := 0.0
	for _, s := range sizes {
		if size := float64(s.Size); e.Size > 0 && size >= float64(e.Size) && size <= max(1.125*float64(e.Size), float64(e.Size)+16) {
			n += s.Objects
		}
	}
	return n
}

// Variable is the variable of a name that is declared on a line; nil for none.
func Variable(l *source.Line, name string) *source.Expr {
	i := slices.IndexFunc(l.Exprs, func(e *source.Expr) bool { return e.Kind == source.Variable && e.Text == name })
	if i < 0 {
		return nil
	}
	return l.Exprs[i]
}
