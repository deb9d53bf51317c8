// Package text has the edits of code that makes and compares strings, and sorts.
package text

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }
