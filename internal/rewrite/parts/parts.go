// Package parts has the edits for texts that are split: what is needed of the parts is cut from the text itself.
package parts

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

type site struct{ *code.Site }
