package corpus

import "slices"

// near is how far a finding's line may be from the one that was changed.
const near = 3

// Named is a place that a finding names.
type Named struct {
	Function string `json:"function"`
	File     string `json:"file"` // relative to the module
	Line     int    `json:"line"`
}

// Hit reports whether a place is one that the fix changed.
func (c Case) Hit(at Named) bool {
	if slices.Contains(c.Functions, at.Function) {
		return true
	}
	return slices.ContainsFunc(c.Sites, func(s Site) bool {
		return s.File == at.File && max(s.Line-at.Line, at.Line-s.Line) <= near
	})
}

// kinds are the cures of the catalogue by the word that the list has for what
// was done. Pools and reuse stand for each other, and a slab may be a pool or a
// larger first allocation.
var kinds = map[string][]string{
	"pool":             {"pool-object", "pool-buffer", "pool-misuse", "reuse-buffer"},
	"reuse-buffer":     {"reuse-buffer", "pool-object", "pool-buffer", "pool-misuse"},
	"prealloc":         {"presize-slice", "presize-map", "presize-builder"},
	"avoid-escape":     {"keep-on-stack", "unbox-interface", "hoist-closure"},
	"avoid-conversion": {"avoid-conversion", "intern-string"},
	"cache":            {"cache-compiled"},
	"arena/slab":       {"batch-arena", "pool-object", "pool-buffer", "pool-misuse", "presize-slice", "presize-map", "presize-builder"},
	"layout":           {"shrink-layout"},
	"gc-tuning":        {"gc-headroom"},
	"algorithm":        {"skip-work"},
}

// Right reports whether a cure of the catalogue is of the kind that was applied.
func (c Case) Right(code string) bool {
	return slices.ContainsFunc(append([]string{c.Cure}, c.CureOK...), func(k string) bool { return slices.Contains(kinds[k], code) })
}
