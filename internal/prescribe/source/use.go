package source

import (
	"regexp"
	"strings"
)

// Little says which part of a value the code looks at, if not all of it; "" for all.
func (u Use) Little() string {
	switch u.Kind {
	case UseElement:
		return "only a part of the result is used"
	case UseLength:
		return "only the length of the result is used"
	case UseRanged:
		return "the result is only ranged over"
	case UseCompared:
		return "the result is only compared"
	}
	return ""
}

// AddsTo reports whether a concatenation adds to the variable it is assigned to.
func (e *Expr) AddsTo() bool {
	return e.Use.Adds || regexp.MustCompile(`^`+regexp.QuoteMeta(e.Use.Name)+`\s*\+`).MatchString(e.Text)
}

// PutsInFront reports whether a concatenation puts text in front of the variable it is assigned to.
func (e *Expr) PutsInFront() bool {
	rest, ok := strings.CutSuffix(e.Text, e.Use.Name)
	return ok && e.Use.Name != "" && strings.HasSuffix(strings.TrimSpace(rest), "+")
}
