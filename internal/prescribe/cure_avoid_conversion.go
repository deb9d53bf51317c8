package prescribe

import (
	"fmt"
	"regexp"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var avoidConversion = Cure{
	Code:  "avoid-conversion",
	Title: "do not convert, format or split through new memory",
	Why: "Converting between string and []byte copies. Every + makes a new string. fmt boxes its arguments and formats into a string of its own. " +
		"Split makes a slice for all parts, though often only one is used. Appending to an existing buffer, or working on the original, needs none of this memory.",
	Before:  "host := strings.Split(addr, \":\")[0]\nbuf = append(buf, []byte(fmt.Sprintf(\"%d\", n))...)",
	After:   "host, _, _ := strings.Cut(addr, \":\")\nbuf = strconv.AppendInt(buf, n, 10)",
	Safety:  Review,
	Needs:   "the kind of allocation, or the library call; for the better call, the source",
	WhenNot: "When the text is kept: someone has to make one copy.",
	match:   matchAvoidConversion,
}

func matchAvoidConversion(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "avoid-conversion"); ok {
		if use := useOf(p); use != "" {
			pr.Text, pr.Fit = use+": "+pr.Text, 1
		}
		return pr, true
	}
	why := c.escape()
	if p.Via != "" {
		return proposal{}, false
	}
	switch p.Kind {
	case finding.KindConversion:
		text := fmt.Sprintf("do without the copy that %s makes: keep the text in one form", p.text())
		if p.Expr != nil && p.Expr.Call.Consts {
			text = fmt.Sprintf("keep %s in a package variable: it is converted on every call", p.text())
		}
		return all(evident, text, why), true
	case finding.KindConcat:
		return all(strong, fmt.Sprintf("write the parts of %s to where the text goes, one by one", p.text()), why), true
	case finding.KindNew, finding.KindBoxing:
		// A constant converted to bytes is a new array, not a call of the conversion.
		if e := convertedConstant(c); e != nil {
			return all(certain, fmt.Sprintf("keep `%s` in a package variable: it is converted on every call", e.Text), why), true
		}
	}
	return proposal{}, false
}

// useOf says which part of a call's result the code uses, if not all of it.
func useOf(p *allocated) string {
	if p.Expr == nil {
		return ""
	}
	switch p.Expr.Use.Kind {
	case source.UseElement:
		return "only a part of the result is used"
	case source.UseLength:
		return "only the length of the result is used"
	case source.UseRanged:
		return "the result is only ranged over"
	case source.UseCompared:
		return "the result is only compared"
	}
	return ""
}

// convertedConstant is a constant on the line that is converted to bytes; nil
// for none.
func convertedConstant(c *candidate) *source.Expr {
	if c.Line == nil {
		return nil
	}
	for _, e := range c.Line.Exprs {
		if e.Kind == source.Conversion && e.Call.Consts && e.Elem > 0 {
			return e
		}
	}
	return nil
}

// grows reports whether a concatenation adds to the variable it is assigned to.
func grows(e *source.Expr) bool {
	return e.Use.Adds || regexp.MustCompile(`^`+regexp.QuoteMeta(e.Use.Name)+`\s*\+`).MatchString(e.Text)
}
