package escape

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// escapeText says in plain words why a value is on the heap: what is
// allocated, and where the last step of the compiler's explanation takes it.
func escapeText(kind finding.Kind, e *evidence.Escape, others []*evidence.Escape) string {
	subject := subjectOf(kind, e, others)
	switch c := causeOf(e); {
	case c.text != "":
		return subject + " " + c.text
	case e.Verb == evidence.MovedToHeap:
		return subject + " outlives the function: its address is kept"
	}
	return subject + " escapes to the heap; the compiler gives no explanation"
}

// subjectOf names what is allocated, as the subject of a sentence.
func subjectOf(kind finding.Kind, e *evidence.Escape, others []*evidence.Escape) string {
	expr := quoted(e.Expr)
	switch kind {
	case finding.KindGrowth:
		if slice := firstArgument(e.Expr); slice != "" {
			return "append grows " + quoted(slice) + "; the new backing array"
		}
		return "append grows a slice; the new backing array"
	case finding.KindBoxing:
		return "the copy of " + oneOf(e, others) + " that converting to an interface makes"
	case finding.KindClosure:
		if strings.HasPrefix(e.Expr, "func literal") {
			return "the function literal with the variables it captures"
		}
		return "the method value " + expr
	case finding.KindVariadic:
		return "the slice that holds the variadic arguments"
	case finding.KindConversion:
		return "the copy that " + expr + " makes"
	case finding.KindConcat:
		return "the string that " + expr + " makes"
	}
	if e.Verb == evidence.MovedToHeap {
		return "the variable " + expr
	}
	return expr
}

// oneOf names the values on a line that the allocation may be of.
func oneOf(e *evidence.Escape, others []*evidence.Escape) string {
	names := []string{quoted(e.Expr)}
	for _, o := range others {
		if n := quoted(o.Expr); len(names) < 3 && n != names[len(names)-1] {
			names = append(names, n)
		}
	}
	return strings.Join(names, " or ")
}

// quoted puts backquotes around an expression and cuts a long one.
func quoted(expr string) string {
	const most = 60
	if r := []rune(expr); len(r) > most {
		expr = string(r[:most]) + "…"
	}
	return "`" + strings.ReplaceAll(expr, "`", "'") + "`"
}

// cause is the reason why a value is on the heap: the rest of the sentence that begins with
// the value, and the same for programs.
type cause struct {
	text   string
	fate   finding.Fate
	holder string // of a stored value, as an expression of the source
}

// causeOf reads the last step of the flow; its text is empty without a flow.
func causeOf(e *evidence.Escape) cause {
	for i := len(e.Flow) - 1; i >= 0; i-- {
		flow := e.Flow[i]
		if len(flow.Edges) == 0 {
			continue
		}
		step := flow.Edges[len(flow.Edges)-1]
		if c, ok := causes[step.Why]; ok {
			return c(flow.Dst, step.Expr)
		}
		return cause{text: "flows to " + place(flow.Dst) + " (" + step.Why + ")"}
	}
	return cause{}
}

// causes gives the words for each reason that the compiler prints. dst is
// where the value ends, expr the expression that takes it there.
var causes = map[string]func(dst, expr string) cause{
	"return":                  returned,
	"assign":                  assigned,
	"assign-pair":             assigned,
	"assign-pair-dot-type":    assigned,
	"assign-pair-mapr":        assigned,
	"assign-pair-receive":     assigned,
	"call parameter":          passed,
	"send":                    sent,
	"captured by a closure":   captured,
	"reference":               captured,
	"spill":                   spilled,
	"too large for stack":     tooLarge,
	"too aligned for stack":   tooAligned,
	"non-constant size":       notConstant,
	"zero-sized element":      emptyElement,
	"interface-converted":     converted,
	"slice-literal-element":   partOf,
	"array literal element":   partOf,
	"struct literal element":  partOf,
	"map literal key":         partOf,
	"map literal value":       partOf,
	"appendee slice":          appended,
	"copied slice":            copied,
	"key of map put":          mapKey,
	"//go:uintptrescapes":     keptForCall,
	"range":                   ranged,
	"range-deref":             ranged,
	"callee operand":          called,
	"address-of":              addressTaken,
	"slice":                   addressTaken,
	"switch case":             converted,
	"dot":                     partTaken,
	"dot of pointer":          partTaken,
	"indirection":             partTaken,
	"fixed-array-index-of":    partTaken,
	"method value receiver":   captured,
	"type switch case clause": converted,
}

func returned(string, string) cause {
	return cause{"is returned, so it outlives the function", finding.FateReturned, ""}
}

func sent(string, string) cause {
	return cause{text: "is sent on a channel; the receiver may keep it"}
}

func tooLarge(string, string) cause {
	return cause{"is too large for the stack", finding.FateTooLarge, ""}
}

func tooAligned(string, string) cause {
	return cause{text: "needs more alignment than the stack gives"}
}

func notConstant(string, string) cause {
	return cause{text: "has a size that is not known at compile time"}
}

func emptyElement(string, string) cause { return cause{text: "has elements without a size"} }

func keptForCall(string, string) cause {
	return cause{text: "must stay in place during a call that takes it as uintptr"}
}

func mapKey(_, expr string) cause { return cause{text: "becomes the key of a map, " + quoted(expr)} }

func captured(dst, _ string) cause {
	if dst == "{heap}" {
		return cause{text: "is captured by a closure that outlives the function"}
	}
	return cause{text: "is captured by a closure, which is on the heap itself"}
}

func called(string, string) cause {
	return cause{text: "is called as a function that the compiler cannot follow"}
}

func converted(dst, _ string) cause {
	return cause{"is put into an interface value that goes to " + place(dst), finding.FateInterface, ""}
}

// spilled is the last step where a value is kept by the statement that makes
// it: the closure of a go statement, or of a defer in a loop.
func spilled(dst, expr string) cause {
	switch {
	case dst != "{heap}":
		return cause{"is stored in " + place(dst) + ", which outlives it", finding.FateStored, dst}
	case strings.HasPrefix(expr, "func literal"):
		return cause{text: "is run by a go statement, or by a defer in a loop, and outlives the frame"}
	}
	return cause{text: "is kept by the statement that makes it"}
}

func assigned(dst, expr string) cause {
	switch {
	case isResult(dst):
		return cause{"is returned, so it outlives the function", finding.FateReturned, ""}
	case dst != "{heap}":
		return cause{
			text: "is assigned to " + place(dst) +
				", which outlives it: declared outside the loop, or on the heap itself",
		}
	}
	left := target(expr)
	switch {
	case left == "":
		return cause{text: "is stored where it outlives the function"}
	case strings.HasSuffix(left, "]"):
		return cause{"is stored in the element " + quoted(left) + ", which outlives the function", finding.FateStored,
			left}
	case strings.ContainsAny(left, ".*"):
		return cause{
			"is stored in " + quoted(left) +
				", through a pointer or in another package, which may outlive the function",
			finding.FateStored, left,
		}
	}
	return cause{"is stored in " + quoted(left) + ", which outlives the function", finding.FateStored, left}
}

// target is the left side of an assignment as printed.
func target(expr string) string {
	for _, op := range [...]string{" := ", " = "} {
		if left, _, ok := strings.Cut(expr, op); ok {
			return left
		}
	}
	return ""
}

func partOf(dst, expr string) cause {
	if dst == "{heap}" {
		return cause{text: "becomes part of " + quoted(expr) + ", which is on the heap"}
	}
	return cause{text: "becomes part of " + place(dst) + ", which is on the heap"}
}

func appended(dst, _ string) cause {
	if dst == "{heap}" {
		return cause{text: "is appended to memory on the heap"}
	}
	return cause{text: "is appended to " + place(dst) + ", which is on the heap"}
}

func copied(dst, _ string) cause {
	if dst == "{heap}" {
		return cause{text: "is copied into memory on the heap"}
	}
	return cause{text: "is copied into " + place(dst) + ", which is on the heap"}
}

func ranged(dst, _ string) cause {
	return cause{text: "is reached by a range loop and goes to " + place(dst)}
}

func addressTaken(dst, expr string) cause {
	return cause{text: "has its address kept by " + quoted(expr) + " in " + place(dst)}
}

func partTaken(dst, expr string) cause {
	return cause{text: "is reached through " + quoted(expr) + " from " + place(dst)}
}

// passed handles arguments of calls. The compiler prints the same reason for an unknown
// callee and for one that keeps its argument.
func passed(_, expr string) cause {
	callee := calleeOf(expr)
	switch {
	case callee == "append":
		return cause{
			"is stored in the elements of " + quoted(firstArgument(expr)) + ", whose array may be on the heap",
			finding.FateStored, "",
		}
	case callee == "panic":
		return cause{text: "is passed to panic"}
	case callee == "":
		return cause{text: "is passed to a call that may keep it"}
	case standardCall(callee):
		return cause{text: "is passed to " + quoted(callee) + ", which may keep it or hand it to an interface"}
	case strings.Contains(callee, "."):
		return cause{
			"is passed to " + quoted(callee) + ", which keeps it, or is a method of an interface that the compiler " +
				"cannot see through",
			finding.FateKept, "",
		}
	}
	return cause{
		"is passed to " + quoted(callee) +
			", which keeps it, or is a function value that the compiler cannot see through",
		finding.FateKept, "",
	}
}

// calleeOf is the text before the first argument list.
func calleeOf(expr string) string {
	if i := strings.IndexByte(expr, '('); i > 0 {
		return expr[:i]
	}
	return ""
}

// standardCall reports whether the callee is a function of a standard package
// that is known by its name.
func standardCall(callee string) bool {
	switch pkg, _, _ := strings.Cut(callee, "."); pkg {
	case "fmt", "log", "slog", "errors", "json", "xml", "gob", "binary", "sort", "reflect", "atomic", "context",
		"runtime", "template":
		return true
	}
	return false
}

// firstArgument is the first argument of a call as printed.
func firstArgument(expr string) string {
	open := strings.IndexByte(expr, '(')
	if open < 0 {
		return ""
	}
	depth := 0
	for i := open + 1; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '"' || c == '`' || c == '\'':
			i = alloc.EndOfQuote(expr, i)
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case depth == 0 && (c == ',' || c == ')'):
			return expr[open+1 : i]
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return ""
}

func isResult(dst string) bool { return strings.HasPrefix(dst, "~r") }

// place names a location of a flow.
func place(dst string) string {
	switch {
	case dst == "{heap}":
		return "the heap"
	case isResult(dst):
		return "the function's result"
	case dst == "{temp}":
		return "a temporary value"
	case dst == "{storage for func literal}":
		return "a closure"
	case dst == "{storage for ... argument}":
		return "the slice of variadic arguments"
	}
	if inner, ok := strings.CutPrefix(dst, "{storage for "); ok {
		return quoted(strings.TrimSuffix(inner, "}"))
	}
	return quoted(dst)
}

// textOfKind says why memory is allocated if the compiler's output has nothing on it. Asked
// says whether the compiler was asked about the line.
func textOfKind(kind finding.Kind, asked bool) string {
	switch kind {
	case finding.KindGrowth:
		return "append, or a buffer that appends, has to grow its backing array"
	case finding.KindMapGrowth:
		return "storing a new key makes the map grow; the compiler prints no message for it"
	case finding.KindGoroutine:
		return "starting a goroutine allocates its descriptor when no dead one can be reused"
	case finding.KindReflect:
		return "reflection makes values whose size is known only at run time"
	case finding.KindString:
		return "building a string allocates its buffer, which becomes the string"
	case finding.KindChan:
		return "a channel is shared between goroutines, so its buffer is on the heap"
	}
	because := "the recording has no compiler output for the line"
	if asked {
		because = "the compiler's output names no such expression on the line"
	}
	switch kind {
	case finding.KindMake:
		return "make takes memory whose size or life the stack cannot hold; " + because
	case finding.KindMap:
		return "as far as the compiler can see, the map outlives the function, or it is too large for the stack; " + because
	case finding.KindBoxing:
		return "converting a value to an interface copies it to the heap; " + because
	case finding.KindConversion:
		return "converting between string and slice copies the data; " + because
	case finding.KindConcat:
		return "joining strings makes a new one; " + because
	case finding.KindClosure:
		return "a function literal that outlives its function, as far as the compiler can see, keeps its variables on the heap; " + because
	case finding.KindVariadic:
		return "a variadic call puts its arguments in a slice that outlives the call, as far as the compiler can see; " + because
	case finding.KindNew:
		return "as far as the compiler can see, the object outlives the function, or it is too large for the stack; " + because
	}
	return ""
}
