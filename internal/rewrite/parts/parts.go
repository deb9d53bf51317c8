// Package parts has the edits for code that splits strings: it gets the parts that it uses without a slice of all parts.
package parts

import "github.com/heaptrim/heaptrim/internal/rewrite/code"

type site struct{ *code.Site }
