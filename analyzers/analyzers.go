// Package analyzers finds, from source alone, Go code that allocates where a
// known rewrite would not.
//
// Each rule is a [analysis.Analyzer] of its own, for any driver: the command
// heaptrimvet, go vet -vettool, golangci-lint, gopls. A rule knows nothing of
// profiles. It says that a line allocates needlessly, not that the line matters;
// `heaptrim check -vet` shows the findings of hot lines only.
//
// All rules are silent in generated files and in tests, in code that runs once
// (init, main, package variables, sync.Once), on branches that report an error,
// and where a name does not mean what it usually means (a variable called
// strings): names are resolved by the type checker. None offers a fix.
package analyzers

import (
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// Rule is an analyser in words, for catalogues and help.
type Rule struct {
	Code   string // the cure it asks for, in words with dashes; also the diagnostics' category
	Title  string // one line, no full stop
	Why    string // why the code before costs memory
	Before string // Go
	After  string // Go
	Silent string // when the rule says nothing although the pattern is there

	Analyzer *analysis.Analyzer
}

// All returns every analyser, in the order of [Rules]. The slice is the
// caller's; the analysers are shared and must not be changed.
func All() []*analysis.Analyzer {
	rules := Rules()
	list := make([]*analysis.Analyzer, len(rules))
	for i, r := range rules {
		list[i] = r.Analyzer
	}
	return list
}

// Rules returns the description of every analyser, in the order of the cure
// catalogue.
func Rules() []Rule {
	return []Rule{
		presizeSliceRule.of(PresizeSlice),
		presizeMapRule.of(PresizeMap),
		presizeBuilderRule.of(PresizeBuilder),
		keepOnStackRule.of(KeepOnStack),
		unboxInterfaceRule.of(UnboxInterface),
		hoistClosureRule.of(HoistClosure),
		avoidConversionRule.of(AvoidConversion),
		cacheCompiledRule.of(CacheCompiled),
		reuseBufferRule.of(ReuseBuffer),
		poolObjectRule.of(PoolObject),
		poolMisuseRule.of(PoolMisuse),
		shrinkLayoutRule.of(ShrinkLayout),
		finalizerCostRule.of(FinalizerCost),
		skipWorkRule.of(SkipWork),
	}
}

func (r Rule) of(a *analysis.Analyzer) Rule {
	r.Analyzer = a
	return r
}

// docURL is the page that has a section for each rule, named by its code.
const docURL = "https://github.com/heaptrim/heaptrim/blob/main/doc/analyzers.md"

// source is a package as one rule sees it, with what rules ask of its code.
type source struct{ *code.Source }

// analyzer makes the analyser of a rule; its name is the code without dashes.
func (r Rule) analyzer(name string, check func(*source)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name,
		Doc: fmt.Sprintf("%s\n\n%s\n\nBefore:\n\n%s\n\nAfter:\n\n%s\n\nSilent: %s",
			r.Title, r.Why, code.Indent(r.Before), code.Indent(r.After), r.Silent),
		URL:      docURL + "#" + r.Code,
		Requires: []*analysis.Analyzer{inspect.Analyzer, code.Index},
		Run: func(pass *analysis.Pass) (any, error) {
			check(&source{code.New(pass, r.Code)})
			return nil, nil
		},
	}
}
