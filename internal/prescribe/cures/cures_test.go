package cures

import (
	"strings"
	"testing"
)

// The codes that the design promises; more may come.
var promised = strings.Fields(`gc-headroom pool-object pool-buffer reuse-buffer presize-slice presize-map presize-builder
	keep-on-stack unbox-interface hoist-closure avoid-conversion cache-compiled batch-arena shrink-layout intern-string
	finalizer-cost goroutine-stacks numa-bind huge-pages upgrade-go pool-misuse skip-work leave-it`)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.Code] {
			t.Errorf("%s is there twice", c.Code)
		}
		seen[c.Code] = true
		for what, text := range map[string]string{"title": c.Title, "why": c.Why, "before": c.Before, "after": c.After, "needs": c.Needs, "not": c.WhenNot} {
			if text == "" || strings.TrimSpace(text) != text && what != "after" {
				t.Errorf("%s: %s is %q", c.Code, what, text)
			}
		}
		switch c.Safety {
		case Safe, Review, Advice:
		default:
			t.Errorf("%s: safety %q", c.Code, c.Safety)
		}
	}
	for _, code := range promised {
		if !seen[code] {
			t.Errorf("%s is not in the catalogue", code)
		}
	}
}
