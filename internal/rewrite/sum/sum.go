// Package sum has the edits of code that puts strings together piece by piece.
package sum

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }
