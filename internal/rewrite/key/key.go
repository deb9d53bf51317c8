// Package key has the edits of what maps, switches and headers are asked for.
package key

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }
