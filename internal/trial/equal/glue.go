package equal

import (
	"fmt"
	"go/types"
	"strings"
)

// glue is the file that registers what a package has with its session. Functions that a version does
// not have, or has with another signature, are left out.
func (p *prepared) glue(now *source, v *instrumented, importPath string) string {
	g, old := p.graph, p.source
	var b strings.Builder
	stubs := newStubs(g)
	fmt.Fprintf(&b, "package %s\n\nimport (\n\theaptrimos \"os\"\n\n\theaptrimwatch %q\n%s)\n\n%s", g.pkg.Name, importPath, stubs.imports(), stubs.types.String())
	fmt.Fprintf(&b, "var %s [%d]uint8\n\nvar %s [%d]bool\n\n", hitName, len(v.blocks)+1, onName, len(v.wrappers)+1)
	fmt.Fprintf(&b, "var %s = heaptrimwatch.Open(%s[:], %s[:], heaptrimos.Exit)\n\nfunc init() {\n", sessionName, hitName, onName)
	for i, name := range v.wrappers {
		fmt.Fprintf(&b, "\t%s.Wrapper(%d, %q)\n", sessionName, i, name)
	}
	for _, n := range g.named {
		name := n.Obj().Name()
		args := []string{""}
		if n.TypeParams().Len() > 0 {
			args = arguments(n, n.TypeParams())
		}
		if types.IsInterface(n) || !now.hasType(name) {
			continue
		}
		for _, a := range args {
			fmt.Fprintf(&b, "\t%s.Type((*%s)(nil))\n", sessionName, name+a)
		}
	}
	for _, f := range g.funcs {
		if d := now.decls[f.name]; d == nil || old.signature(f.decl) != now.signature(d) {
			continue
		}
		for _, c := range f.calls {
			fmt.Fprintf(&b, "\t%s.Func(%q, %d, %s)\n", sessionName, c, kindOf(g, f), c)
		}
	}
	scope := g.pkg.Types.Scope()
	for _, name := range scope.Names() {
		if v, ok := scope.Lookup(name).(*types.Var); ok && types.Identical(v.Type(), types.Universe.Lookup("error").Type()) && now.hasVar(name) {
			fmt.Fprintf(&b, "\t%s.Error(%q, &%s)\n", sessionName, name, name)
		}
	}
	b.WriteString(stubs.register.String() + "}\n")
	return b.String()
}
