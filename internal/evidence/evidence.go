// Package evidence holds the base nouns that recordings are made of: the
// manifest of a bundle, profiles, collection cycles, metrics, escapes and
// sites. It is data only; readers live in ingest, files in bundle.
package evidence

// Site is a place in the user's source that allocates: the first frame of the
// stack, leaf first, that the user can change.
type Site struct {
	Function string // as pprof spells it
	Package  string // import path
	File     string // relative to the module root where it lies below it
	Line     int
}

// Escape is one decision of the compiler's escape analysis.
type Escape struct {
	File string // as printed, made absolute where the printer's directory is known
	Line int
	Col  int
	Func string // function that contains it; empty before Go 1.25
	Expr string // what escapes, as printed: "&T{...}", "make([]byte, n)", "x"
	Verb EscapeVerb
	Flow []Flow // why, in the compiler's order; empty at -m level 1
	Cut  bool   // the compiler truncated its explanation
}

// EscapeVerb is what the compiler said of an expression.
type EscapeVerb string

// The verbs that matter for allocation.
const (
	EscapesToHeap EscapeVerb = "escapes to heap"
	MovedToHeap   EscapeVerb = "moved to heap"
)

// Flow is one step of an escape explanation: dst ← src, and the edges between.
type Flow struct {
	Dst, Src string // locations as printed: "{heap}", "~r0", "&t", "{storage for x}"
	Edges    []FlowEdge
}

// FlowEdge is one "from EXPR (WHY) at POSITION" line.
type FlowEdge struct {
	Expr string
	Why  string // "return", "interface-converted", "call parameter" …
	File string
	Line int
	Col  int
}
