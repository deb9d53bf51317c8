package prescribe

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
)

var unboxInterface = Cure{
	Code:  "unbox-interface",
	Title: "do not box the value in an interface",
	Why: "Converting a value other than a pointer to an interface copies it to the heap, unless the compiler can " +
		"prove that the interface does not escape. " +
		"A concrete type, a type parameter, an existing pointer, or a branch before the conversion avoids the copy.",
	Before:  "func assert(ok bool, format string, args ...any) {\n\tif !ok {\n\t\tpanic(fmt.Sprintf(format, args...))\n\t}\n}\n\nassert(n < max, \"too many: %d\", n) // n is boxed although the test holds",
	After:   "if n >= max {\n\tpanic(fmt.Sprintf(\"too many: %d\", n))\n}",
	Safety:  Review,
	Needs:   "the kind of allocation; for the replacement, the source and the escape flow",
	WhenNot: "When the interface is stored: the value needs memory of its own.",
	match:   matchUnboxInterface,
}

func matchUnboxInterface(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "unbox-interface"); ok {
		return pr, true
	}
	why := c.escape()
	switch p.Kind {
	case finding.KindBoxing, finding.KindVariadic:
		if p.Callee != "" && p.Via != "" || strings.HasPrefix(p.Callee, "reflect.") {
			return proposal{}, false
		}
		if p.Kind == finding.KindVariadic && p.Expr != nil && p.Expr.Call.Unboxed {
			return proposal{}, false // the slice holds the values themselves
		}
	case finding.KindReflect:
		if p.Via != "" && !strings.HasPrefix(p.Via, "reflect.") {
			return proposal{}, false // the library does the reflection
		}
		return all(even, "switch on the concrete types that are frequent before reflecting", c.amount(p)+" are values that reflection copies"), true
	default:
		return proposal{}, false
	}
	if p.Library != nil && p.Library.Code != "unbox-interface" {
		// A better call than the one that boxes is known.
		return all(weak, fmt.Sprintf("hand %s what it needs without boxing", p.callee()), why), true
	}
	text := "keep the value in its own type: a concrete parameter, a type parameter, or a pointer that is there anyway"
	if callee := p.callee(); callee != "the function" {
		text = fmt.Sprintf("do not box the arguments of %s: test the condition first, or give it typed parameters", callee)
	}
	return all(strong, text, why), true
}
