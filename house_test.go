package heaptrim_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The limits of the house style; CONTRIBUTING.md says why.
const (
	maxFileLines    = 600
	maxPackageLines = 3000
	maxScriptLines  = 300 // of JavaScript
	maxFuncLines    = 80
	maxParams       = 4
	maxDepth        = 4 // nested control statements; this and maxParams not in tests
)

// goFile is a parsed Go file of any module of the repository.
type goFile struct {
	path   string // slash-separated, from the root
	test   bool
	fset   *token.FileSet
	syntax *ast.File
}

func (f goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// lines is the number of lines that n stands on.
func (f goFile) lines(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// walk calls visit with the slash-separated path of every file that belongs to
// the repository.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "bin"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() && strings.HasPrefix(p, "heaptrim-"): // a recording, as .gitignore has it
			return filepath.SkipDir
		case d.Name() == "heaptrim.html": // the page that the README's first command writes
		case d.Type().IsRegular():
			visit(filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goFiles parses the Go files of the repository but those that are test data.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	walk(t, func(p string) {
		if path.Ext(p) != ".go" || strings.Contains("/"+p, "/testdata/") {
			return
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		files = append(files, goFile{p, strings.HasSuffix(p, "_test.go"), fset, syntax})
	})
	if len(files) == 0 {
		t.Fatal("no Go files found")
	}
	return files
}

func TestFileSizes(t *testing.T) {
	walk(t, func(p string) {
		limit := map[string]int{".go": maxFileLines, ".js": maxScriptLines}[path.Ext(p)]
		if limit == 0 || strings.Contains("/"+p, "/testdata/") || strings.Contains(p, ".min.") {
			return
		}
		if n := strings.Count(read(t, p), "\n"); n > limit {
			t.Errorf("%s has %d lines, the limit is %d", p, n, limit)
		}
	})
}

// largePackages may have more lines than others, with the reason.
var largePackages = map[string]struct {
	lines int
	why   string
}{
	"internal/ingest/exectrace":  {4000, "one format, whose reader plays the scheduler: its parts share the state of that"},
	"internal/trial/equal/watch": {3300, "compiled into the test binaries of other modules as one package that imports the standard library only"},
}

// TestPackageSizes counts the lines of a package without its tests.
func TestPackageSizes(t *testing.T) {
	lines := map[string]int{}
	walk(t, func(p string) {
		if path.Ext(p) == ".go" && !strings.HasSuffix(p, "_test.go") && !strings.Contains("/"+p, "/testdata/") {
			lines[path.Dir(p)] += strings.Count(read(t, p), "\n")
		}
	})
	for folder, n := range lines {
		limit := max(maxPackageLines, largePackages[folder].lines)
		if n > limit {
			t.Errorf("%s has %d lines, the limit is %d: what can be named apart can stand apart", folder, n, limit)
		}
	}
	for folder := range largePackages {
		if lines[folder] <= maxPackageLines {
			t.Errorf("%s needs no limit of its own", folder)
		}
	}
}

func TestFunctions(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.lines(fn); n > maxFuncLines {
				t.Errorf("%s: %s has %d lines, the limit is %d", f.at(fn), fn.Name.Name, n, maxFuncLines)
			}
			if n := fn.Type.Params.NumFields(); n > maxParams && !f.test {
				t.Errorf("%s: %s has %d parameters, the limit is %d: make them a struct", f.at(fn), fn.Name.Name, n, maxParams)
			}
			if fn.Body == nil {
				continue
			}
			if n := depth(fn.Body); n > maxDepth && !f.test {
				t.Errorf("%s: %s nests control statements %d deep, the limit is %d", f.at(fn), fn.Name.Name, n, maxDepth)
			}
			// A blank import has no other way to act; these are nothing but that.
			if fn.Name.Name == "init" && fn.Recv == nil && path.Dir(f.path) != "rt/ballast/auto" && path.Dir(f.path) != "analyzers/golangci" {
				t.Errorf("%s: init runs unasked: let main, or a test, call it by name", f.at(fn))
			}
		}
	}
}

// depth is how many control statements stand inside one another below n. An
// "else if" counts as deep as its if, and a function literal starts anew.
func depth(n ast.Node) int {
	deepest := 0
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.IfStmt:
			inner := 1 + depth(c.Body)
			if c.Else != nil {
				inner = max(inner, depthOfElse(c.Else))
			}
			deepest = max(deepest, inner)
		case *ast.ForStmt:
			deepest = max(deepest, 1+depth(c.Body))
		case *ast.RangeStmt:
			deepest = max(deepest, 1+depth(c.Body))
		case *ast.SwitchStmt:
			deepest = max(deepest, 1+depth(c.Body))
		case *ast.TypeSwitchStmt:
			deepest = max(deepest, 1+depth(c.Body))
		case *ast.SelectStmt:
			deepest = max(deepest, 1+depth(c.Body))
		case *ast.FuncLit:
			deepest = max(deepest, depth(c.Body))
		default:
			return true
		}
		return false
	})
	return deepest
}

func depthOfElse(s ast.Stmt) int {
	if block, ok := s.(*ast.BlockStmt); ok {
		return 1 + depth(block)
	}
	return depth(s)
}

func TestPackageComments(t *testing.T) {
	documented := make(map[string]bool)
	packages := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		dir := path.Dir(f.path)
		packages[dir] = true
		if f.syntax.Doc != nil {
			if documented[dir] {
				t.Errorf("%s: a second package comment in %s", f.path, dir)
			}
			documented[dir] = true
		}
	}
	for dir := range packages {
		if !documented[dir] {
			t.Errorf("%s: the package has no comment", dir)
		}
	}
}

func TestDocumented(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || f.syntax.Name.Name == "main" {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && onExported(d) {
					t.Errorf("%s: %s is exported and has no comment", f.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				checkSpecs(t, f, d)
			}
		}
	}
}

// onExported reports whether fn is a function, or a method of an exported type.
func onExported(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	typ := fn.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// checkSpecs wants a comment on every exported type, and on every exported
// constant or variable or the group it stands in.
func checkSpecs(t *testing.T, f goFile, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && d.Doc == nil {
				t.Errorf("%s: type %s is exported and has no comment", f.at(spec), spec.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
					t.Errorf("%s: %s is exported and has no comment", f.at(spec), name.Name)
				}
			}
		}
	}
}

// TestOnlyMain keeps what belongs to a command – flags, and the decision to
// exit – out of packages that others call.
func TestOnlyMain(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		main := f.syntax.Name.Name == "main"
		for _, imp := range f.syntax.Imports {
			if imp.Path.Value == `"flag"` && !main {
				t.Errorf("%s: imports flag outside a command", f.at(imp))
			}
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if main && ok && fn.Name.Name == "main" && fn.Recv == nil {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && exits(call) {
					t.Errorf("%s: exits outside func main: return an error or a status", f.at(n))
				}
				return true
			})
		}
	}
}

func exits(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && (pkg.Name == "os" && sel.Sel.Name == "Exit" || pkg.Name == "log" && strings.HasPrefix(sel.Sel.Name, "Fatal"))
}

// TestNoMachinePaths keeps the directories of the machine that a file was made
// on out of the repository.
func TestNoMachinePaths(t *testing.T) {
	// Split, so that this file does not match itself.
	machine := regexp.MustCompile(`(^|[^\w.])(/` + `work/|/` + `root/|/` + `home/\w|/` + `Users/\w|[A-Z]:\\` + `Users)`)
	walk(t, func(p string) {
		text := read(t, p)
		if strings.Contains(text, "\x00") {
			return // binary
		}
		for i, line := range strings.Split(text, "\n") {
			if m := machine.FindString(line); m != "" {
				t.Errorf("%s:%d: %q is a path of somebody's machine", p, i+1, strings.TrimSpace(m))
			}
		}
	})
}

func TestFuzzCorpora(t *testing.T) {
	targets := make(map[string]bool) // dir/FuzzName
	for _, f := range goFiles(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Fuzz") {
				targets[path.Join(path.Dir(f.path), fn.Name.Name)] = true
			}
		}
	}
	walk(t, func(p string) {
		dir, rest, ok := strings.Cut(p, "/testdata/fuzz/")
		if !ok {
			return
		}
		name, _, _ := strings.Cut(rest, "/")
		if !targets[path.Join(dir, name)] {
			t.Errorf("%s: %s has no fuzz target %s any more", p, dir, name)
		}
	})
}

func TestMarkdownLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	walk(t, func(p string) {
		if path.Ext(p) != ".md" || strings.Contains("/"+p, "/testdata/") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, p), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := p
			if file != "" {
				target = path.Join(path.Dir(p), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: no such file", p, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: link to %s: no such heading", p, m[1])
			}
		}
	})
}

// anchors returns what the headings of a Markdown text can be linked by.
func anchors(text string) []string {
	var list []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading))
	}
	return list
}

func read(t *testing.T, p string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(p))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestArchitectureNamesPackages: who looks for a place finds each in ARCHITECTURE.md.
func TestArchitectureNamesPackages(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	for _, f := range goFiles(t) {
		folder := path.Dir(f.path)
		if f.test || folder == "." || strings.HasPrefix(folder, "lab/") || strings.HasPrefix(folder, "examples/") ||
			strings.HasPrefix(folder, "tools/") || strings.HasPrefix(folder, "rt/ballast/") {
			continue
		}
		if !strings.Contains(text, "`"+folder+"`") {
			t.Errorf("ARCHITECTURE.md does not name %s", folder)
		}
	}
}
