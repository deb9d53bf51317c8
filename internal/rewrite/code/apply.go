package code

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/go/ast/astutil"
)

// ErrOverlap means that two edits change the same text.
var ErrOverlap = errors.New("two edits change the same text")

// Apply makes the parts of edits that one file has in its text: changes, imports, format. The ends
// of lines stay as they are.
func Apply(text []byte, parts []Part) ([]byte, error) {
	var changes []Change
	var imports []string
	for i, p := range parts {
		for _, c := range p.Changes {
			if !slices.Contains(changes, c) {
				changes = append(changes, c)
			} else if c.From < c.To && slices.ContainsFunc(parts[:i], func(q Part) bool { return slices.Contains(q.Changes, c) && !p.same(q) }) {
				return nil, ErrOverlap // two ways to do the same, of which each has lines of its own
			}
		}
		imports = append(imports, p.Imports...)
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var out bytes.Buffer
	at := 0
	for _, c := range changes {
		if c.From < at || c.To < c.From || c.To > len(text) {
			return nil, ErrOverlap
		}
		out.Write(text[at:c.From])
		out.WriteString(c.Text)
		at = c.To
	}
	out.Write(text[at:])
	return Finish(text, out.Bytes(), imports)
}

// same reports whether two parts make the same changes.
func (p Part) same(q Part) bool { return slices.Equal(p.Changes, q.Changes) }

// Finish mends the imports of a changed file and formats it. Of a file that was not as gofmt writes
// it, only the lines that the edit changes are formatted.
func Finish(before, after []byte, imports []string) ([]byte, error) {
	out, err := finish(before, after, imports)
	if err != nil {
		return nil, err
	}
	crlf := bytes.Contains(before, []byte("\r\n"))
	plain := bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n"))
	if was, err := format.Source(plain); err != nil || !bytes.Equal(was, plain) {
		if err != nil {
			return nil, err
		}
		if out, err = onto(plain, was, out); err != nil {
			return nil, err
		}
	}
	if crlf {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out, nil
}

// finish mends the imports and formats the whole file, with plain ends of lines.
func finish(before, after []byte, imports []string) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", after, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("the edited file does not parse: %w", err)
	}
	for _, path := range imports {
		astutil.AddImport(fset, f, path)
	}
	unused, err := noLongerUsed(before, f)
	if err != nil {
		return nil, err
	}
	for _, i := range unused {
		name := ""
		if i.Name != nil {
			name = i.Name.Name
		}
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		astutil.DeleteNamedImport(fset, f, name, path)
	}
	var out bytes.Buffer
	if err := format.Node(&out, fset, f); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// onto makes the change from one formatted text to another in a text of which the first is the
// formatted form. Lines that the change touches are formatted, and no others.
func onto(text, was, edited []byte) ([]byte, error) {
	own, err := hunks(was, text)
	if err != nil {
		return nil, err
	}
	changes, err := hunks(was, edited)
	if err != nil {
		return nil, err
	}
	var out []string
	at := 0
	lines := strings.SplitAfter(string(was), "\n")
	for len(own)+len(changes) > 0 {
		var h hunk
		switch {
		case len(changes) == 0 || len(own) > 0 && own[0].to <= changes[0].from:
			h, own = own[0], own[1:]
		case len(own) == 0 || changes[0].to <= own[0].from:
			h, changes = changes[0], changes[1:]
		default:
			own = own[1:]
			continue
		}
		out = append(append(out, lines[at:h.from]...), h.lines...)
		at = h.to
	}
	return []byte(strings.Join(append(out, lines[at:]...), "")), nil
}

// hunk puts lines in place of those from one number up to another, from 0.
type hunk struct {
	from, to int
	lines    []string
}

// hunks are the differences of two texts, without the lines around them.
func hunks(a, b []byte) ([]hunk, error) {
	var out []hunk
	at, open := 0, false
	for line := range strings.Lines(string(diff.Diff("a", a, "b", b))) {
		switch {
		case strings.HasPrefix(line, "@@"):
			var n int
			if _, err := fmt.Sscanf(line, "@@ -%d", &n); err != nil {
				return nil, fmt.Errorf("read a difference: %w", err)
			}
			at, open = max(n-1, 0), false
		case at == 0 && len(out) == 0 && !strings.HasPrefix(line, " ") && isHeading(line):
		case line[0] == ' ':
			at, open = at+1, false
		case line[0] == '-' || line[0] == '+':
			if !open {
				out, open = append(out, hunk{from: at, to: at}), true
			}
			h := &out[len(out)-1]
			if line[0] == '-' {
				at++
				h.to = at
			} else {
				h.lines = append(h.lines, line[1:])
			}
		}
	}
	return out, nil
}

// isHeading reports whether a line of a difference stands before its parts.
func isHeading(line string) bool {
	return strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")
}

// noLongerUsed lists the imports of a file that its text before the edits used and it does not.
func noLongerUsed(before []byte, f *ast.File) ([]*ast.ImportSpec, error) {
	old, err := parser.ParseFile(token.NewFileSet(), "", before, 0)
	if err != nil {
		return nil, err
	}
	var out []*ast.ImportSpec
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if !astutil.UsesImport(f, path) && astutil.UsesImport(old, path) {
			out = append(out, i)
		}
	}
	return out, nil
}
