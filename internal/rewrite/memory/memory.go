// Package memory has the edits that give memory its size, its place or a second use.
package memory

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }
