package prescribe

import (
	"fmt"
	"regexp"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var cacheCompiled = Cure{
	Code:  "cache-compiled",
	Title: "compute it once and keep the result",
	Why: "Regular expressions, templates, replacers, time zones and the results of reflection on a type are the " +
		"same every time. " +
		"Made once, in a package variable, a sync.OnceValue or a map by key, they cost nothing afterwards.",
	Before:  "func clean(s string) string {\n\treturn regexp.MustCompile(`\\s+`).ReplaceAllString(s, \" \")\n}",
	After:   "var spaces = regexp.MustCompile(`\\s+`)\n\nfunc clean(s string) string {\n\treturn spaces.ReplaceAllString(s, \" \")\n}",
	Safety:  Review,
	Needs:   "the library call; whether its arguments are constant, from the source",
	WhenNot: "When the inputs vary without bound: the cache would grow for ever.",
	match:   matchCacheCompiled,
}

// compiles matches functions that compile a description, such as a pattern or a template.
var compiles = regexp.MustCompile(`\.(Must)?(Compile|Parse)[A-Z]?\w*$|\.New\w*(Template|Replacer|Matcher|Regexp|Codec|Parser|Schema)\w*$`)

func matchCacheCompiled(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "cache-compiled"); ok {
		switch {
		case p.Callee == "errors.New" && (p.Expr == nil || !p.Expr.Call.Consts):
			return proposal{}, false
		case p.Expr == nil:
		case p.Expr.Call.Consts:
			pr.Fit, pr.Why = 1, pr.Why+"; its arguments are constants"
		case len(p.Expr.Call.Args) > 0 && compiles.MatchString(p.Callee):
			// The input varies: what is made has to be kept by input.
			pr.Fit, pr.Text = possible, fmt.Sprintf("keep what %s makes in a bounded map by its input", shortName(p.Callee))
		}
		return pr, true
	}
	if e := p.Expr; e != nil && e.Kind == source.Call && e.Call.Consts && compiles.MatchString(e.Call.Callee) {
		return all(evident, fmt.Sprintf("call %s once and keep the result: its arguments are constants", shortName(e.Call.Callee)), c.amount(p)), true
	}
	return proposal{}, false
}
