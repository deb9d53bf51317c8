package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// call is a frame of the call tree with its callees.
type call struct {
	frame  evidence.Frame
	share  float64
	callee []*call
}

// callTree merges stacks from the root, heaviest callee first.
func callTree(stacks []finding.Stack) *call {
	root := &call{}
	for _, s := range stacks {
		share := s.Share
		if !schema.Finite(share) || share < 0 {
			share = 0
		}
		at := root
		at.share += share
		for _, f := range slices.Backward(s.Frames) {
			at = at.to(f)
			at.share += share
		}
	}
	for todo := []*call{root}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], c.callee...)
		slices.SortStableFunc(c.callee, func(a, b *call) int { return cmp.Compare(b.share, a.share) })
	}
	return root
}

// to returns the callee for a frame and makes it if need be.
func (c *call) to(f evidence.Frame) *call {
	for _, x := range c.callee {
		if x.frame.Function == f.Function && x.frame.File == f.File && x.frame.Line == f.Line {
			return x
		}
	}
	x := &call{frame: f}
	c.callee = append(c.callee, x)
	return x
}

// stacks shows the call paths as a tree: callers above, the allocation at the bottom,
// indented only where paths divide.
func (e *explainer) stacks() {
	e.p.Section("Call paths", "share of the site's bytes; callers above")
	if len(e.f.Stacks) == 0 {
		e.p.Prose("  ", "not known: needs a profile with stacks", term.Normal)
		return
	}
	t, root := &treeWriter{e.p, e.f.Site}, callTree(e.f.Stacks)
	t.callees(root, "")
	if rest := 1 - root.share; rest > 0.005 && root.share > 0 {
		e.p.Prose("  ", term.Percent(rest)+" % is in lighter stacks, which the diagnosis leaves out.", term.Dim)
	}
}

// treeWriter writes a call tree.
type treeWriter struct {
	p    *term.Page
	site evidence.Site
}

// Of a longer chain without a branch, this many frames are shown from each
// end: recursion can make thousands.
const (
	chainHead = 8
	chainTail = 24
)

// callees writes the callees of c. It recurses where paths divide, so no deeper than there
// are stacks.
func (t *treeWriter) callees(c *call, indent string) {
	chain := []*call{c}
	for len(c.callee) == 1 {
		c = c.callee[0]
		chain = append(chain, c)
	}
	for i := 1; i < len(chain); i++ {
		if n := len(chain) - 1 - chainTail - chainHead; n > 1 && i == chainHead+1 {
			t.p.Line(term.Styled(strings.Repeat(" ", 10)+indent+fmt.Sprintf("… %d more frames", n), term.Dim))
			i += n
		}
		share := chain[i].share
		if share == chain[i-1].share && (i > 1 || indent != "") {
			share = -1 // said by the caller's line
		}
		t.line(chain[i], share, indent)
	}
	for i, x := range c.callee {
		branch, below := "├ ", "│ "
		if i == len(c.callee)-1 {
			branch, below = "└ ", "  "
		}
		t.line(x, x.share, indent+branch)
		t.callees(x, indent+below)
	}
}

// line writes one frame; the site's own is marked.
func (t *treeWriter) line(c *call, share float64, indent string) {
	left := "        "
	if share >= 0 {
		left = term.PadLeft(term.Percent(share)+" %", 8)
	}
	left += "  " + indent
	f := c.frame
	s, mark := term.Normal, ""
	if f.Function == t.site.Function && f.Line == t.site.Line {
		s, mark = term.Bold+";"+term.Red, "  ◀"
	}
	at := ""
	if f.File != "" {
		at = "  " + place(evidence.Site{File: baseName(f.File), Line: f.Line})
	}
	name := term.ElideMiddle(term.Clean(shortName(f.Function)),
		max(t.p.Width-term.Cells(left)-term.Cells(term.Clean(at))-term.Cells(mark), 16))
	t.p.Line(term.Styled(left, term.Dim), term.Styled(name, s), term.Styled(at, term.Dim), term.Styled(mark, s))
}
