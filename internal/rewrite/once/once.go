// Package once has the edits that make a value once for the package: what each call makes of the same
// constants, or of texts that come again.
package once

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }
