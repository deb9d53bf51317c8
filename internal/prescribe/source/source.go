// Package source reads what the code at a hot line is: which expressions
// allocate there, of what type and size, in which loop, and what becomes of
// the result. It answers from typed syntax and from SSA form, for the packages
// it is asked about only; what they import is read from export data.
package source

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/heaptrim/heaptrim/internal/prescribe/layout"
	"github.com/heaptrim/heaptrim/internal/sourcefile"
)

// Request says which code to read.
type Request struct {
	Dir        string   // where the go command runs
	Packages   []string // import paths
	BuildFlags []string // handed on to the go command
}

// Program is the code that was read. It is not safe for concurrent use.
type Program struct {
	Read     []*packages.Package // the packages that were read
	dir      string              // where names that lead out of it begin
	fset     *token.FileSet
	files    map[string][]*file // by base name
	directed []*directed
	funcs    map[*types.Func]*ssa.Function
	lits     map[*ast.FuncLit]*ssa.Function
	inits    []*ssa.Function // what sets the variables of packages
	named    []*types.Named  // types of the packages that were read

	sizes  types.Sizes
	resets map[string][]Reset // by the field's declaration; nil before somebody asks
	fronts map[string]bool    // fields that are cut at the front
}

type file struct {
	name   string // absolute
	syntax *ast.File
	pkg    *packages.Package
}

// Load reads the packages. Those that do not compile are left out and
// reported; an error means that the go command could not be asked.
func Load(ctx context.Context, r Request) (*Program, []error, error) {
	p := &Program{dir: r.Dir, fset: token.NewFileSet(), files: map[string][]*file{}, funcs: map[*types.Func]*ssa.Function{}, lits: map[*ast.FuncLit]*ssa.Function{}}
	if len(r.Packages) == 0 {
		return p, nil, nil
	}
	cfg := &packages.Config{
		Context: ctx, Dir: r.Dir, Fset: p.fset, BuildFlags: r.BuildFlags,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
	}
	loaded, err := packages.Load(cfg, r.Packages...)
	if err != nil {
		return nil, nil, fmt.Errorf("load the packages of the hot lines: %w", err)
	}
	var problems []error
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 || pkg.IllTyped || pkg.Types == nil {
			problems = append(problems, problemOf(pkg))
			continue
		}
		p.Read = append(p.Read, pkg)
		p.sizes = pkg.TypesSizes
		p.addFiles(pkg)
	}
	if err := p.build(p.Read); err != nil {
		problems = append(problems, err)
	}
	return p, problems, nil
}

func problemOf(pkg *packages.Package) error {
	if len(pkg.Errors) > 0 {
		return fmt.Errorf("read the source of %s: %w", pkg.PkgPath, pkg.Errors[0])
	}
	return fmt.Errorf("read the source of %s: it does not type-check", pkg.PkgPath)
}

func (p *Program) addFiles(pkg *packages.Package) {
	for _, syntax := range pkg.Syntax {
		name := p.fset.Position(syntax.FileStart).Filename
		base := filepath.Base(name)
		f := &file{name, syntax, pkg}
		p.files[base] = append(p.files[base], f)
		p.addDirected(f)
	}
}

// directed is a file that //line directives name, in place of the one that was read: profiles name that, too.
type directed struct {
	file  *file
	name  string
	lines map[int]int // of the file that was read, the first for each
}

// addDirected notes the files that directives in a file name, such as the grammar that a parser was made of.
func (p *Program) addDirected(f *file) {
	directs := func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//line ") || strings.HasPrefix(c.Text, "/*line ")
	}
	if !slices.ContainsFunc(f.syntax.Comments, func(g *ast.CommentGroup) bool { return slices.ContainsFunc(g.List, directs) }) {
		return
	}
	read := p.fset.File(f.syntax.FileStart)
	others := map[string]*directed{}
	for i := 1; i <= read.LineCount(); i++ {
		at := p.fset.Position(read.LineStart(i))
		if others[at.Filename] == nil && at.Filename != f.name {
			others[at.Filename] = &directed{f, at.Filename, map[int]int{}}
			p.directed = append(p.directed, others[at.Filename])
		}
		if d := others[at.Filename]; d != nil && d.lines[at.Line] == 0 {
			d.lines[at.Line] = i
		}
	}
}

// build makes the SSA form. It is a bonus: code that the SSA builder does not
// understand must not take the rest of the answer with it.
func (p *Program) build(pkgs []*packages.Package) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("build the SSA form: %v", r)
		}
	}()
	prog, built := ssautil.Packages(pkgs, ssa.InstantiateGenerics|ssa.GlobalDebug)
	for _, pkg := range built {
		if pkg != nil {
			pkg.Build()
		}
	}
	for _, pkg := range built {
		if pkg == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(pkg.Members)) {
			if t, ok := pkg.Members[name].(*ssa.Type); ok {
				if n, ok := t.Type().(*types.Named); ok && n.TypeParams().Len() == 0 && !types.IsInterface(n) {
					p.named = append(p.named, n)
				}
			}
		}
	}
	for fn := range ssautil.AllFunctions(prog) {
		p.know(fn)
	}
	// AllFunctions lacks methods of unexported types that only tests call.
	for _, pkg := range pkgs {
		for _, obj := range pkg.TypesInfo.Defs {
			if f, ok := obj.(*types.Func); ok && p.funcs[f] == nil {
				if fn := prog.FuncValue(f); fn != nil {
					p.know(fn)
				}
			}
		}
	}
	return nil
}

// find is the file that a profile or report names, and the line there; nil for one that was not read.
func (p *Program) find(name string, line int) (*file, int) {
	if f, ok := sourcefile.Find(p.files[filepath.Base(name)], func(f *file) string { return f.name }, p.dir, name); ok {
		return f, line
	}
	for _, d := range p.directed {
		if _, ok := sourcefile.Find([]*directed{d}, func(d *directed) string { return d.name }, p.dir, name); ok && d.lines[line] > 0 {
			return d.file, d.lines[line]
		}
	}
	return nil, line
}

// At returns what stands on a line, or nil when the file was not read or the
// line is in no function.
func (p *Program) At(name string, line int) *Line {
	f, line := p.find(name, line)
	if f == nil {
		return nil
	}
	l := &Line{Number: line, file: f, program: p}
	l.path = l.enclosing(false)
	if l.Func = l.function(); l.Func == nil {
		return nil
	}
	l.collect()
	return l
}

// Generated reports whether a file says that it is generated.
func (p *Program) Generated(name string) bool {
	f, _ := p.find(name, 1)
	for _, d := range p.directed {
		if f == nil && filepath.Base(d.name) == filepath.Base(name) {
			f = d.file
		}
	}
	return f != nil && ast.IsGenerated(f.syntax)
}

// literalName matches the names that the compiler gives to function literals.
var literalName = regexp.MustCompile(`\.func\d+(\.\d+)*(-range\d+)?$`)

// Function is the SSA form of the function or function literal of a frame; nil when it was
// not read.
func (p *Program) Function(file string, line int, function string) *ssa.Function {
	f, line := p.find(file, line)
	if f == nil {
		return nil
	}
	l := &Line{Number: line, file: f, program: p}
	l.path = l.enclosing(literalName.MatchString(function))
	if l.Func = l.function(); l.Func == nil {
		return nil
	}
	return l.Func.fn
}

// know notes a function and its literals.
func (p *Program) know(fn *ssa.Function) {
	if fn.Synthetic == "package initializer" {
		p.inits = append(p.inits, fn)
	}
	if fn.Synthetic != "" || fn.Origin() != nil {
		return // a wrapper has the object of what it wraps
	}
	if obj, ok := fn.Object().(*types.Func); ok {
		p.funcs[obj] = fn
	}
	if lit, ok := fn.Syntax().(*ast.FuncLit); ok {
		p.lits[lit] = fn
	}
	for _, lit := range fn.AnonFuncs {
		p.know(lit)
	}
}

// MethodOf is the body of a type's method that an interface's method leads to; nil where it was not read.
func (p *Program) MethodOf(t types.Type, m *types.Func) []*ssa.Function {
	obj, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
	if fn, ok := obj.(*types.Func); ok && p.funcs[fn] != nil && p.funcs[fn].Blocks != nil {
		return []*ssa.Function{p.funcs[fn]}
	}
	return nil
}

// Implementations are the bodies of an interface's method, if the packages that were read hold
// all of them: the interface or the method cannot be named elsewhere. Else it returns nil.
func (p *Program) Implementations(iface types.Type, m *types.Func) []*ssa.Function {
	name, ok := iface.(*types.Named)
	under, isIface := iface.Underlying().(*types.Interface)
	if !isIface || m.Exported() && (!ok || name.Obj().Exported()) {
		return nil
	}
	var out []*ssa.Function
	for _, n := range p.named {
		for _, t := range []types.Type{n, types.NewPointer(n)} {
			if !types.Implements(t, under) {
				continue
			}
			obj, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
			fn, ok := obj.(*types.Func)
			if fn == m {
				break // of an embedded value of the interface, which is one of the others
			}
			if !ok || p.funcs[fn] == nil {
				return nil // promoted from a type that was not read
			}
			out = append(out, p.funcs[fn])
			break
		}
	}
	return out
}

// SizeOf is the size of a type in bytes; 0 for one that depends on type parameters.
func (p *Program) SizeOf(t types.Type) int64 { return layout.SizeOf(p.sizes, t) }

// Functions are those that were read, with their literals and what sets the variables of packages.
func (p *Program) Functions() iter.Seq[*ssa.Function] {
	return func(yield func(*ssa.Function) bool) {
		for _, fn := range p.funcs {
			if !yield(fn) {
				return
			}
		}
		for _, fn := range p.lits {
			if !yield(fn) {
				return
			}
		}
		for _, fn := range p.inits {
			if !yield(fn) {
				return
			}
		}
	}
}

// FileOf is the absolute name of a position's file.
func (p *Program) FileOf(pos token.Pos) string { return p.fset.PositionFor(pos, true).Filename }

// PlaceOf names a position, to tell it from others.
func (p *Program) PlaceOf(pos token.Pos) string { return p.fset.Position(pos).String() }

// IsAt reports whether PlaceOf a position is a place, without making its text for each of another file.
func (p *Program) IsAt(place string, pos token.Pos) bool {
	at := p.fset.Position(pos)
	return strings.HasPrefix(place, at.Filename) && place == at.String()
}

// LineOf is the line of a position, as profiles count; 0 for none.
func (p *Program) LineOf(pos token.Pos) int { return p.fset.PositionFor(pos, true).Line }
