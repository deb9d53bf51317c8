package memory

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// StackBuffer gives a bytes.Buffer that stays in its function an array of the frame to begin with.
// Text that does not fit goes to the heap as before.
func StackBuffer(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("bytes.Buffer")
	if c == nil || len(c.other) > 0 || s.Commented(c.decl.Node()) ||
		!c.methods("Write", "WriteString", "WriteByte", "WriteRune", "Len", "Reset", "String", "Truncate", "Bytes") {
		return nil
	}
	size := s.Seen(largestArray)
	if size == 0 || s.copies(c) || s.retains(c) != "" {
		return nil // what keeps its bytes keeps the array, on the heap
	}
	n := 64 // the first block of a buffer
	for int64(n) < size {
		n *= 2
	}
	name, imports, ok := s.Use("bytes", c.decl.Node().Pos())
	if !ok {
		return nil
	}
	array := s.Fresh(c.v.Name()+"Array", c.decl.Node().Pos())
	text := fmt.Sprintf("var %s [%d]byte\n%s := %s.NewBuffer(%[1]s[:0])", array, n, c.v.Name(), name)
	return []code.Edit{{Text: fmt.Sprintf("keep the first %d bytes of `%s` on the stack", n, c.v.Name()),
		Imports: imports, Changes: []code.Change{s.Replace(c.decl.Node(), text)}}}
}

// copies reports whether the site is a call of String, whose copy is another object than the buffer's own memory.
func (s *site) copies(c *collector) bool {
	return slices.ContainsFunc(c.calls, func(call inspector.Cursor) bool {
		return s.Line(call.Node().Pos()) == s.Place.Line && called(call) == "String"
	})
}
