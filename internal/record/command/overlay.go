package command

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// recorderFile is the recorder's file name in a build. It sorts before the user's
// files, so that its variables are initialised first.
const recorderFile = "0heaptrim_recorder.go"

// commandOverlay writes into dir the files that add the recorder to a main package,
// and returns the file for `go build -overlay`. The recorder finishes its window when
// main returns or package main calls os.Exit; the notes name cases where that is not
// possible. The overlay includes the files of also.
func commandOverlay(dir string, p gocmd.Package, also map[string]string) (overlay string, notes []string, err error) {
	if p.Name != "main" {
		return "", nil, fmt.Errorf("%s is package %s: -exec needs a main package", p.ImportPath, p.Name)
	}
	files := maps.Clone(also)
	if files == nil {
		files = map[string]string{}
	}
	add := func(name string, source []byte) error {
		at := filepath.Join(dir, name)
		files[filepath.Join(p.Dir, name)] = at
		return os.WriteFile(at, source, 0o600)
	}
	if err := add(recorderFile, recorder.Render("main")); err != nil {
		return "", nil, err
	}
	hasMain := false
	for _, name := range p.GoFiles {
		at := filepath.Join(p.Dir, name)
		source, err := os.ReadFile(cmp.Or(also[at], at))
		if err != nil {
			return "", nil, fmt.Errorf("add the recorder: %w", err)
		}
		e, err := hookExits(name, source)
		if err != nil {
			return "", nil, fmt.Errorf("add the recorder: %w", err)
		}
		hasMain = hasMain || e.main
		if e.changed {
			if err := add(name, e.source); err != nil {
				return "", nil, err
			}
		}
	}
	if !hasMain {
		notes = append(notes, "func main is in a file that cannot be edited (it imports \"C\"): the recording of "+
			"the last moments before the program ends is lost")
	}
	overlay, err = gocmd.WriteOverlay(dir, files)
	return overlay, notes, err
}

// hooked is a source file with calls of the recorder.
type hooked struct {
	source  []byte
	changed bool
	main    bool // contains func main
}

// hookExits makes func main end with the recorder's flush and replaces os.Exit. No
// line moves.
func hookExits(name string, source []byte) (hooked, error) {
	fset := token.NewFileSet()
	// Object resolution distinguishes an imported package from a variable of the same
	// name: names that the file declares have an object, imported names have none.
	f, err := parser.ParseFile(fset, name, source, 0)
	if err != nil {
		return hooked{}, err
	}
	offset := func(p token.Pos) int { return fset.File(p).Offset(p) }
	var edits []edit
	h := hooked{source: source}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Name.Name == "main" && fn.Recv == nil && fn.Body != nil {
			h.main = true
			at := offset(fn.Body.Lbrace) + 1
			edits = append(edits, edit{at, at, " defer " + recorder.FlushFunc + "();"})
		}
	}
	pkg := importName(f, "os")
	exits := 0
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Exit" || pkg == "" {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg && x.Obj == nil {
			edits = append(edits, edit{offset(sel.Pos()), offset(sel.End()), recorder.ExitFunc})
			exits++
		}
		return true
	})
	if len(edits) == 0 {
		return h, nil
	}
	h.changed, h.source = true, applyEdits(source, edits)
	if exits > 0 {
		// The import may have no other use left.
		h.source = append(h.source, "\nvar _ = "+pkg+".Exit\n"...)
	}
	return h, nil
}

// importName returns the name by which f refers to the package at path, or "" if f
// does not import it under a usable name.
func importName(f *ast.File, path string) string {
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != path {
			continue
		}
		switch {
		case spec.Name == nil:
			return path[strings.LastIndexByte(path, '/')+1:]
		case spec.Name.Name != "_" && spec.Name.Name != ".":
			return spec.Name.Name
		}
	}
	return ""
}

// edit replaces source[from:to].
type edit struct {
	from, to int
	text     string
}

func applyEdits(source []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(source[last:e.from])
		out.WriteString(e.text)
		last = e.to
	}
	out.Write(source[last:])
	return out.Bytes()
}

// isBelow reports whether path is in dir.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
