// Package branch has the edits that make memory in the branch that needs it: what is made before a
// question is asked is made behind it.
package branch

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site is an expression or statement at a place.
type site struct{ *code.Site }
