package escapes

import "bytes"

// class sorts the compiler's messages.
type class uint8

const (
	classUnknown class = iota
	classOther         // known, and says nothing of a heap allocation
	classHead          // "x escapes to heap in f:", opens an explanation
	classLeak          // "parameter x leaks to …:", opens an explanation
	classVerdict       // "x escapes to heap"
	classMoved         // "moved to heap: x"
	classFlow          // "  flow: dst ← src:"
	classEdge          // "    from expr (why) at position"
	classCut           // "  warning: truncated explanation …"
)

const (
	escapesSuffix = " escapes to heap"
	escapesIn     = " escapes to heap in " // since Go 1.25
	movedPrefix   = "moved to heap: "
	flowPrefix    = "  flow: "
	edgePrefix    = "    from "
	cutPrefix     = "  warning: truncated explanation"
)

// otherPrefixes begin messages that are of no use here.
var otherPrefixes = [...]string{
	"can inline ",
	"cannot inline ",
	"inlining call to ",
	"leaking param",
	"index bounds check elided",
	"devirtualizing ",
	"partially devirtualizing ",
	"cannot devirtualize ",
	"PGO devirtualizing ",
	"should not PGO devirtualize ",
	"zero-copy string->[]byte conversion",
	"assuming ",
	"marking ",
	"mutates param: ",
	"calls param: ",
	"expr is unknown to bloop pass",
	"closure converted to global",
	"rewriting OCONVIFACE value",
	"alias analysis: ",
	"imprecise interface call",
	"tail call emitted for ",
}

// otherSuffixes end such messages.
var otherSuffixes = [...]string{
	" does not escape, mutate, or call",
	" will be kept alive", // by the loop condition of a benchmark
	" considered 'big'; reducing max cost of inlinees",
}

// otherParts are inside such messages.
var otherParts = [...]string{
	" capturing by ",
	" ignoring self-assignment in ",
}

// classify sorts a message. It looks at the ends of the message first: they
// decide all but a few lines, and an expression in the middle may hold any
// text.
func classify(msg []byte) class {
	if len(msg) == 0 {
		return classUnknown
	}
	if msg[0] == ' ' {
		return classifyIndented(msg)
	}
	if msg[len(msg)-1] == ':' {
		switch {
		case hasSuffix(msg, escapesSuffix+":"), bytes.Contains(msg, []byte(escapesIn)):
			return classHead
		case hasPrefix(msg, "parameter ") && bytes.Contains(msg, []byte(" leaks to ")):
			return classLeak
		}
	}
	switch {
	case hasPrefix(msg, movedPrefix):
		return classMoved
	case hasSuffix(msg, escapesSuffix):
		return classVerdict
	case hasSuffix(msg, " does not escape"):
		return classOther
	}
	for _, p := range otherPrefixes {
		if hasPrefix(msg, p) {
			return classOther
		}
	}
	for _, p := range otherSuffixes {
		if hasSuffix(msg, p) {
			return classOther
		}
	}
	for _, p := range otherParts {
		if bytes.Contains(msg, []byte(p)) {
			return classOther
		}
	}
	return classUnknown
}

func classifyIndented(msg []byte) class {
	switch {
	case hasPrefix(msg, edgePrefix):
		return classEdge
	case hasPrefix(msg, flowPrefix):
		return classFlow
	case hasPrefix(msg, cutPrefix):
		return classCut
	}
	return classUnknown
}

// splitHead takes "x escapes to heap in f:" apart; f is empty before Go 1.25.
func splitHead(msg []byte) (expr, fn []byte) {
	msg = msg[:len(msg)-1]
	if hasSuffix(msg, escapesSuffix) {
		return msg[:len(msg)-len(escapesSuffix)], nil
	}
	i := bytes.LastIndex(msg, []byte(escapesIn))
	if i < 0 {
		return msg, nil
	}
	return msg[:i], msg[i+len(escapesIn):]
}

// splitFlow takes "  flow: dst ← src:" apart, or "  flow: dst = src:" of Go
// 1.24.
func splitFlow(msg []byte) (dst, src []byte) {
	msg = bytes.TrimSuffix(msg[len(flowPrefix):], []byte(":"))
	for _, arrow := range [...]string{" ← ", " = "} {
		if i := arrowIndex(msg, arrow); i >= 0 {
			return msg[:i], msg[i+len(arrow):]
		}
	}
	return msg, nil
}

// arrowIndex finds the arrow behind the destination. A destination in braces
// holds an expression, which may hold an arrow itself.
func arrowIndex(msg []byte, arrow string) int {
	if len(msg) == 0 || msg[0] != '{' {
		return bytes.Index(msg, []byte(arrow))
	}
	if i := bytes.Index(msg, []byte("}"+arrow)); i >= 0 {
		return i + 1
	}
	return -1
}

// splitEdge takes "    from expr (why) at position" apart.
func splitEdge(msg []byte) (expr, why, at []byte) {
	msg = msg[len(edgePrefix):]
	const close = ") at "
	end := bytes.LastIndex(msg, []byte(close))
	if end < 0 {
		return msg, nil, nil
	}
	at = msg[end+len(close):]
	open := bytes.LastIndex(msg[:end], []byte(" ("))
	if open < 0 {
		return msg[:end], nil, at
	}
	return msg[:open], msg[open+2 : end], at
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func hasSuffix(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && string(b[len(b)-len(suffix):]) == suffix
}
