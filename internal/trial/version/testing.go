package version

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// memString prints counts with their fractions, which package testing cuts off. It reads exported
// fields only.
const memString = `{
	return fmt.Sprintf("%.6f B/op\t%.6f allocs/op", float64(r.MemBytes)/float64(r.N), float64(r.MemAllocs)/float64(r.N))
}`

// AfterHook is the variable of package testing, as test binaries have it, that is called when all
// tests and benchmarks have run.
const AfterHook = "HeaptrimAfter"

// after calls the hook before the rest of the body that it is put in front of.
const after = `{
	if f := ` + AfterHook + `; f != nil {
		` + AfterHook + ` = nil
		f()
	}
`

// EmptyPools is the environment variable with which a benchmark's run of one operation begins with
// empty pools: a pool keeps what is in it over one collection, and not over two.
const EmptyPools = "HEAPTRIM_EMPTY_POOLS"

const emptyPools = `{
	if n == 1 && os.Getenv("` + EmptyPools + `") != "" {
		runtime.GC()
	}
`

// change puts text in the place of the body of a method of package testing, or in front of it.
type change struct {
	file, method string
	imports      string // that the text needs
	body         string
	front        bool
	more         string // at the end of the file
}

// ownTesting is OwnTesting, once, of a toolchain that overlays reach.
func (b *Builder) ownTesting(ctx context.Context) (Files, error) {
	if b.testing != nil {
		return b.testing, nil
	}
	tool, err := b.Tool.Overlayable(ctx)
	if err != nil {
		return nil, err
	}
	b.Tool = tool
	b.testing, err = OwnTesting(ctx, tool)
	return b.testing, err
}

// OwnTesting is package testing as test binaries have it, by the names of the files that it
// replaces: its counts are exact, and it has a hook. What is not as expected is left as it is, and
// all of it where no overlay reaches the toolchain.
func OwnTesting(ctx context.Context, tool gocmd.Tool) (Files, error) {
	set, err := tool.Settings(ctx, "GOROOT", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	root, files := set["GOROOT"], Files{}
	if rel, err := filepath.Rel(set["GOMODCACHE"], root); err == nil && filepath.IsLocal(rel) {
		return files, nil
	}
	for _, c := range []change{
		{file: "benchmark.go", method: "MemString", imports: "\"fmt\"", body: memString},
		{file: "benchmark.go", method: "runN", imports: "\"os\"", body: emptyPools, front: true},
		{file: "testing.go", method: "after", body: after, front: true, more: "\n// " + AfterHook + " is called at the end.\nvar " + AfterHook + " func()\n"},
	} {
		name := filepath.Join(root, "src", "testing", c.file)
		text, ok := files[name]
		if !ok {
			if text, err = os.ReadFile(name); err != nil {
				continue
			}
		}
		if text := c.apply(name, text); text != nil {
			files[name] = text
		}
	}
	return files, nil
}

// Hooked reports whether test binaries have the hook.
func (b *Builder) Hooked(ctx context.Context) bool {
	files, err := b.ownTesting(ctx)
	if err != nil {
		return false
	}
	for name := range files {
		if filepath.Base(name) == "testing.go" {
			return true
		}
	}
	return false
}

// apply makes the change in a file; nil if the method is not there.
func (c change) apply(name string, text []byte) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil || !bytes.Contains(text, []byte(c.imports)) {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != c.method || fn.Recv == nil || fn.Body == nil {
			continue
		}
		from, to := fset.Position(fn.Body.Pos()).Offset, fset.Position(fn.Body.End()).Offset
		if c.front {
			to = from + 1
		}
		return fmt.Appendf(nil, "%s%s%s%s", text[:from], c.body, text[to:], c.more)
	}
	return nil
}
