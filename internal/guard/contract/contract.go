// Package contract reads promises about memory from comments in the source, and says whether they
// hold: //heaptrim:noalloc and //heaptrim:allocs<=N on functions, //heaptrim:nogrow on types.
package contract

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/version"
	"strconv"
	"strings"
)

// Prefix begins every directive.
const Prefix = "//heaptrim:"

// State is what is known of a contract.
type State string

// The states.
const (
	Proven     State = "proven"      // by the compiler's output: nothing there is on the heap
	Tested     State = "tested"      // by what tests and benchmarks that reach it allocate
	NotReached State = "not reached" // by none of them
	Broken     State = "broken"
	Later      State = "later" // it is of a later Go release than the one that builds
)

// Place is a line of a file, relative to the module.
type Place struct {
	File string
	Line int
}

// String is file:line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Contract is a promise of a function or a type.
type Contract struct {
	Package   string // import path
	Folder    string // as the budget file names it
	Name      string // F, T.M or (*T).M; or a type
	Directive string // noalloc, allocs<=N or nogrow
	Max       float64
	Since     string // Go release from which it holds, such as go1.27; "" for all
	Place     Place  // of the directive
	First     int    // lines of the declaration
	Last      int
}

// Result is a contract and what is known of it.
type Result struct {
	Contract
	State     State
	Inherited bool   // it fails in the version that is compared with, too
	Why       string // what breaks it, or why it is not proven
	At        Place  // that
}

// Fails reports whether the contract does not hold, or nobody looked.
func (r Result) Fails() bool { return r.State == Broken || r.State == NotReached }

// SyntaxError is a directive that makes no sense.
type SyntaxError struct {
	Place
	Msg string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return e.Place.String() + ": " + e.Msg }

// Parse reads the contracts of a file. name is for messages and places.
func Parse(name string, text []byte) ([]Contract, []error) {
	if !strings.Contains(string(text), Prefix) {
		return nil, nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, []error{err}
	}
	p := fileParser{name: name, set: set, used: map[token.Pos]bool{}}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.directives(d.Doc, d, Function(d), false)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				t, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				p.directives(t.Doc, t, t.Name.Name, true)
				if len(d.Specs) == 1 {
					p.directives(d.Doc, t, t.Name.Name, true)
				}
			}
		}
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, Prefix) && !p.used[c.Pos()] {
				p.fail(c.Pos(), "%s is not in the comment of a function or type", strings.TrimSpace(c.Text))
			}
		}
	}
	return p.found, p.errs
}

type fileParser struct {
	name  string
	set   *token.FileSet
	used  map[token.Pos]bool
	found []Contract
	errs  []error
}

func (p *fileParser) place(at token.Pos) Place { return Place{p.name, p.set.Position(at).Line} }

func (p *fileParser) fail(at token.Pos, format string, args ...any) {
	p.errs = append(p.errs, &SyntaxError{p.place(at), fmt.Sprintf(format, args...)})
}

// directives reads those of the comment of a declaration.
func (p *fileParser) directives(doc *ast.CommentGroup, n ast.Node, name string, isType bool) {
	if doc == nil {
		return
	}
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(c.Text, Prefix)
		if !ok || p.used[c.Pos()] {
			continue
		}
		p.used[c.Pos()] = true
		word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		k := Contract{Name: name, Since: since(rest), Directive: word, Place: p.place(c.Pos()), First: p.set.Position(n.Pos()).Line, Last: p.set.Position(n.End()).Line}
		limit, limited := strings.CutPrefix(word, "allocs<=")
		var err error
		if limited {
			k.Max, err = strconv.ParseFloat(limit, 64)
		}
		switch {
		case isType != (word == "nogrow"):
			p.fail(c.Pos(), "%s%s: want noalloc or allocs<=N on a function, nogrow on a type", Prefix, word)
		case !isType && word != "noalloc" && !limited, err != nil, !(k.Max >= 0):
			p.fail(c.Pos(), "%s%s: want noalloc, allocs<=N or nogrow", Prefix, word)
		case k.Since != "" && version.Lang(k.Since) != k.Since:
			p.fail(c.Pos(), "%s%s %s: want a Go release such as go1.27", Prefix, word, k.Since)
		default:
			p.found = append(p.found, k)
		}
	}
}

// since is the Go release that begins the words behind a directive; the others are for people.
func since(words string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	if strings.HasPrefix(word, "go1") {
		return word
	}
	return ""
}

// Of reports whether a contract is one of a Go release: what the compiler keeps on the stack, and
// what the standard library allocates, changes between them.
func (c Contract) Of(release string) bool {
	return c.Since == "" || version.Compare(version.Lang(release), c.Since) >= 0
}

// Function is how the compiler and profiles name a function, without its package.
func Function(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t, pointer := d.Recv.List[0].Type, false
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, pointer = x.X, true
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			if pointer {
				return "(*" + x.Name + ")." + d.Name.Name
			}
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}
