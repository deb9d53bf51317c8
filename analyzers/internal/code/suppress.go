package code

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// suppression is a comment by which an author excludes findings of a line.
type suppression struct {
	linters []string // names that the comment lists; empty: every linter
}

// suppressions are those of a package, by file and line.
type suppressions map[*token.File]map[int][]suppression

// add collects the comments of a file. A //nolint comment holds for its own line,
// //lint:ignore too, or for the next if it is alone on its line.
func (all suppressions) add(tf *token.File, syntax *ast.File) {
	for _, group := range syntax.Comments {
		for _, c := range group.List {
			s, next, ok := parseSuppression(c.Text)
			if !ok {
				continue
			}
			if all[tf] == nil {
				all[tf] = make(map[int][]suppression)
			}
			line := tf.Line(c.Pos())
			all[tf][line] = append(all[tf][line], s)
			if next && !hasCode(tf, syntax, line) {
				// Several comments may stand above one line.
				line = tf.Line(group.End()) + 1
				all[tf][line] = append(all[tf][line], s)
			}
		}
	}
}

// hasCode reports whether a line has code and not only comments.
func hasCode(tf *token.File, syntax *ast.File, line int) (found bool) {
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.File:
			return true
		}
		found = found || tf.Line(n.Pos()) == line || tf.Line(n.End()-1) == line
		return !found
	})
	return found
}

// parseSuppression reads a comment. next reports whether it holds for the line below, too.
func parseSuppression(text string) (s suppression, next, ok bool) {
	if rest, found := strings.CutPrefix(text, "//lint:ignore "); found {
		fields := strings.Fields(rest)
		if len(fields) < 2 { // as in staticcheck, a reason is required
			return s, false, false
		}
		return suppression{strings.Split(fields[0], ",")}, true, true
	}
	rest, found := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(text, "//"), " \t"), "nolint")
	if !found || !strings.HasPrefix(text, "//") {
		return s, false, false
	}
	list, found := strings.CutPrefix(rest, ":")
	if !found {
		return s, false, rest == "" || strings.ContainsAny(rest[:1], " \t/")
	}
	list, _, _ = strings.Cut(list, "//")
	for name := range strings.SplitSeq(list, ",") {
		if fields := strings.Fields(name); len(fields) > 0 {
			s.linters = append(s.linters, fields[0])
		}
	}
	return s, false, len(s.linters) > 0
}

// holds reports whether s excludes the findings of a rule. It can be named by its
// code or its analyser; heaptrim and all name every rule.
func (s suppression) holds(code string) bool {
	if len(s.linters) == 0 {
		return true
	}
	return slices.ContainsFunc(s.linters, func(pattern string) bool {
		return slices.ContainsFunc([]string{"heaptrim", "all", code, analyzerName(code)}, func(name string) bool {
			ok, err := path.Match(strings.ToLower(pattern), name)
			return err == nil && ok
		})
	})
}

// analyzerName is the name of the analyser of a rule.
func analyzerName(code string) string { return strings.ReplaceAll(code, "-", "") }

// Diagnose reports d unless its file is excluded or a comment on its line suppresses it.
// All rules report through it.
func (s *Source) Diagnose(d analysis.Diagnostic) {
	tf := s.Fset.File(d.Pos)
	if s.silent[tf] {
		return
	}
	for _, c := range s.suppressed[tf][tf.Line(d.Pos)] {
		if c.holds(s.code) {
			return
		}
	}
	d.Category = s.code
	s.Report(d)
}
