// Command gen writes the workloads once for each allocator, with direct calls of
// it, so that no call through an interface or a closure is measured that a user
// would not make. Run it in the folder above, by go generate.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"strings"
	"text/template"
)

//go:embed candidate.go.tmpl
var source string

// candidate is an allocator. In the calls, T stands for the type, F for the name
// of its field in slabs, flats and typeds, and N, S, X and B for the arguments.
type candidate struct {
	Name, ID string
	Build    string // build constraint
	Imports  []string
	Type     string // of the allocator, which is called a
	Setup    string // makes a before the loop
	Begin    string // makes a in each operation
	End      string // of each operation
	New      string
	Slice    string
	Append   string
	String   string
}

func candidates() []candidate {
	const (
		ours      = "github.com/heaptrim/heaptrim/rt/arena"
		ristretto = "github.com/dgraph-io/ristretto/v2/z"
		modernc   = "modernc.org/memory"
	)
	oneArena := candidate{Imports: []string{ours}, Type: "*arena.Arena", End: "a.Reset()", New: "arena.New[T](a)",
		Slice: "arena.MakeSlice[T](a, N, N)", Append: "arena.Append(a, S, X)", String: "arena.String(a, B)"}
	slabs := candidate{Type: "*slabs", End: "a.arena.Reset()", New: "a.F.New()", Slice: "a.F.MakeSlice(N, N)",
		Append: "a.F.Append(S, X)", String: "arena.String(a.arena, B)", Imports: []string{ours}}
	z := candidate{Imports: []string{ristretto}, Type: "*z.Allocator", New: "zNew[T](a)", Slice: "zSlice[T](a, N)",
		Append: "zAppend(a, S, X)", String: "zString(a, B)"}
	bump := candidate{Type: "bumper", Setup: "a := newBump()", New: "bumpNew[T](a)", Slice: "bumpSlice[T](a, N)",
		Append: "bumpAppend(a, S, X)", String: "bumpString(a, B)"}
	typed := candidate{Type: "*typeds", New: "a.F.new(a.from)", Slice: "a.F.slice(a.from, N)", Append: "a.F.append(a.from, S, X)",
		String: "a.string(B)"}
	return []candidate{
		{Name: "new", ID: "plain", Type: "heap", Setup: "var a heap", New: "new(T)", Slice: "make([]T, N)", Append: "append(S, X)", String: "string(B)"},
		{Name: "floor", ID: "flat", Type: "*flats", Setup: "a := newFlats()", End: "a.reset()", New: "a.F.new()",
			Slice: "a.F.slice(N)", Append: "a.F.append(S, X)", String: "a.string(B)"},
		oneArena.as("arena_drop", "drop", "a := new(arena.Arena)", oneArena.End),
		oneArena.as("arena_reuse", "reuse", "a := arena.Make(arena.Options{Reuse: true})", oneArena.End),
		slabs.as("slab_drop", "slabDrop", "a := newSlabs(false)", slabs.End),
		slabs.as("slab_reuse", "slabReuse", "a := newSlabs(true)", slabs.End),
		{Name: "experiment", ID: "experiment", Build: "goexperiment.arenas", Imports: []string{"arena"}, Type: "*arena.Arena",
			Begin: "a := arena.NewArena()", End: "a.Free()", New: "arena.New[T](a)", Slice: "arena.MakeSlice[T](a, N, N)",
			Append: "experimentAppend(a, S, X)", String: "experimentString(a, B)"},
		z.as("ristretto_reset", "zReset", `a := z.NewAllocator(64<<10, "lab")`, "a.Reset()"),
		z.with("ristretto_release", "zRelease", `a := z.NewAllocator(64<<10, "lab")`, "a.Release()"),
		bump.as("bump_reset", "bumpReset", bump.Setup, "a.reset(false)"),
		bump.as("bump_release", "bumpRelease", bump.Setup, "a.reset(true)"),
		typed.as("typed_free", "typed", "a := newTypeds()", "a.free()"),
		{Name: "modernc", ID: "modernc", Imports: []string{modernc}, Type: "*memory.Allocator", Begin: "a := new(memory.Allocator)",
			End: "a.Close()", New: "cNew[T](a)", Slice: "cSlice[T](a, N)", Append: "cAppend(a, S, X)", String: "cString(a, B)"},
	}
}

// as is c with an allocator that lasts for the whole run.
func (c candidate) as(name, id, setup, end string) candidate {
	c.Name, c.ID, c.Setup, c.End = name, id, setup, end
	return c
}

// with is c with an allocator for each operation.
func (c candidate) with(name, id, begin, end string) candidate {
	c.Name, c.ID, c.Begin, c.End = name, id, begin, end
	return c
}

func (c candidate) call(pattern, typ string, args ...string) string {
	field := strings.TrimPrefix(typ, "*")
	if field != typ {
		field += "Ptrs"
	} else if field == "string" || field == "int64" {
		field += "s"
	} else {
		field += "Slab"
	}
	return strings.NewReplacer(append([]string{"[T]", "[" + typ + "]", "(T)", "(" + typ + ")", "[]T", "[]" + typ, ".F.", "." + field + "."}, args...)...).Replace(pattern)
}

func (c candidate) source() ([]byte, error) {
	t, err := template.New("candidate").Funcs(template.FuncMap{
		"new":    func(typ string) string { return c.call(c.New, typ) },
		"slice":  func(typ, n string) string { return c.call(c.Slice, typ, "N", n) },
		"append": func(typ, s, x string) string { return c.call(c.Append, typ, "S, X", s+", "+x) },
		"str":    func(b string) string { return c.call(c.String, "", "B)", b+")") },
	}).Parse(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, c); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

func run() error {
	for _, c := range candidates() {
		src, err := c.source()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := os.WriteFile("zz_"+c.Name+"_test.go", src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
