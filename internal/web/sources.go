package web

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heaptrim/heaptrim/internal/diagnose"
)

// sourceFile is the part of a source file that costs something: the functions
// that the findings and the heaviest lines stand in.
type sourceFile struct {
	File  string        `json:"file"`
	Parts []sourceLines `json:"parts"`
}

// sourceLines are lines that follow each other.
type sourceLines struct {
	First int      `json:"first"`
	Lines []string `json:"lines"`
}

// aroundLine is how many lines are shown before and after one that stands in no
// function that parses.
const aroundLine = 12

// maxLineBytes cuts lines that no screen shows whole, such as generated data.
const maxLineBytes = 400

// newSource reads the functions of the findings first and then those of the
// heaviest lines, as far as the limit allows. left is how many functions with
// samples, whose source is there, are left out by it.
func newSource(d *diagnose.Session, v *flameView, o Options) (out []sourceFile, left int) {
	out = []sourceFile{}
	if o.Source == nil {
		return out, 0
	}
	s := sourceSet{read: o.Source, left: o.MaxSource, files: map[string]*parsedFile{}}
	for _, f := range o.Rows {
		s.add(f.Site.File, f.Site.Line)
		if f.Escape != nil && f.Escape.At.File != "" {
			s.add(f.Escape.At.File, f.Escape.At.Line)
		}
	}
	for _, l := range d.Diagnosis().Lines {
		s.add(l.Site.File, l.Site.Line)
	}
	for _, f := range d.Diagnosis().Excluded {
		s.add(f.Site.File, f.Site.Line)
	}
	if v != nil {
		left = s.addFrames(v)
	}
	for name, f := range s.files {
		if len(f.parts) > 0 {
			slices.SortFunc(f.parts, func(a, b sourceLines) int { return cmp.Compare(a.First, b.First) })
			out = append(out, sourceFile{name, f.parts})
		}
	}
	slices.SortFunc(out, func(a, b sourceFile) int { return cmp.Compare(a.File, b.File) })
	return out, left
}

// addFrames adds the functions of the flame graph, whoever owns them, in the
// order of what their lines weigh, and returns how many had no room.
func (s *sourceSet) addFrames(v *flameView) int {
	weight := v.frameShares()
	order := make([]int, len(weight))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Round(1e9*weight[b]), math.Round(1e9*weight[a])) })
	out := map[[2]int]bool{} // function and file
	for _, f := range order {
		file, line := v.Files[v.Frames.File[f]], v.Frames.Line[f]
		s.add(file, line)
		if s.has(file, line) && !s.shows(file, line) {
			out[[2]int{v.Frames.Function[f], v.Frames.File[f]}] = true
		}
	}
	return len(out)
}

type sourceSet struct {
	read  func(string) ([]byte, error)
	left  int
	files map[string]*parsedFile
}

type parsedFile struct {
	lines [][]byte
	spans [][2]int // first and last lines of functions
	parts []sourceLines
}

// add makes sure that a line is shown, with the function that it stands in. A
// file that cannot be read, and a line that it does not have, are left out, and
// so is everything when there is no more room.
func (s *sourceSet) add(file string, line int) {
	if s.left <= 0 || !s.has(file, line) || s.shows(file, line) {
		return
	}
	f := s.files[file]
	part := f.around(line)
	for _, text := range part.Lines {
		s.left -= len(text) + 8
	}
	f.parts = append(f.parts, part)
}

// has reports whether there is such a line.
func (s *sourceSet) has(file string, line int) bool {
	if file == "" || line <= 0 {
		return false
	}
	if s.files[file] == nil {
		s.files[file] = s.parse(file)
	}
	return line <= len(s.files[file].lines)
}

// shows reports whether a line of a file that is there has been added.
func (s *sourceSet) shows(file string, line int) bool {
	return slices.ContainsFunc(s.files[file].parts, func(p sourceLines) bool { return line >= p.First && line < p.First+len(p.Lines) })
}

// around is the function that a line stands in, or the lines around.
func (f *parsedFile) around(line int) sourceLines {
	first, last := max(line-aroundLine, 1), min(line+aroundLine, len(f.lines))
	for _, sp := range f.spans {
		if line >= sp[0] && line <= sp[1] {
			first, last = sp[0], min(sp[1], len(f.lines))
		}
	}
	part := sourceLines{First: first}
	for _, text := range f.lines[first-1 : last] {
		part.Lines = append(part.Lines, readable(text))
	}
	return part
}

func (s *sourceSet) parse(file string) *parsedFile {
	f := &parsedFile{}
	// A recording may come from anybody and its page may be sent on: it must not
	// be able to name any file of this computer.
	if path.Ext(file) != ".go" {
		return f
	}
	text, err := s.read(file)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return f
	}
	f.lines = bytes.Split(text, []byte("\n"))
	fset := token.NewFileSet()
	// What does not parse has no functions: lines around are shown instead.
	tree, _ := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if tree == nil {
		return f
	}
	for _, decl := range tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from := fn.Pos()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		// Line directives do not count: profiles give the file's own lines here.
		f.spans = append(f.spans, [2]int{fset.PositionFor(from, false).Line, fset.PositionFor(fn.End(), false).Line})
	}
	return f
}

// readable is a line as it is shown: valid text, without what would garble it.
func readable(line []byte) string {
	s := strings.TrimRight(strings.ToValidUTF8(string(line), "�"), " \t\r")
	if len(s) > maxLineBytes {
		cut := maxLineBytes
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + " …"
	}
	return s
}
