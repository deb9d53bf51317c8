package equal

import (
	"fmt"
	"go/types"
	"strings"
)

// webPackage is the package whose standard client asks the session in place of servers.
const webPackage = "net/http"

// webSource is put into packages that import it.
const webSource = `
type heaptrimTransport struct{}

func (heaptrimTransport) RoundTrip(r *HTTP.Request) (*HTTP.Response, error) {
	request := r.Method + " " + r.URL.String()
	if r.Body != nil {
		var some [1024]byte
		for n := 0; n < 64; n++ {
			k, err := r.Body.Read(some[:])
			request += string(some[:k])
			if err != nil {
				break
			}
		}
		r.Body.Close()
	}
	status, fields, body := SESSION.Answer(request)
	header := HTTP.Header{}
	for name, value := range fields {
		header.Set(name, value)
	}
	return &HTTP.Response{StatusCode: status, Status: HTTP.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Request: r}, nil
}

func heaptrimWeb() {
	HTTP.DefaultTransport, HTTP.DefaultClient = heaptrimTransport{}, &HTTP.Client{}
}
`

// glue is the file that registers what a package has with its session. Functions that a version does
// not have, or has with another signature, are left out.
func (p *prepared) glue(now *source, v *instrumented, importPath string) string {
	g, old := p.graph, p.source
	var b strings.Builder
	stubs := newStubs(g)
	web := ""
	if g.pkg.Imports[webPackage] != nil {
		web = strings.NewReplacer("SESSION", sessionName, "HTTP", stubs.name(webPackage)).Replace(webSource)
	}
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
		if appends(f.obj) {
			for _, name := range append([]string{f.name}, f.calls...) {
				fmt.Fprintf(&b, "\t%s.Appends(%q)\n", sessionName, name)
			}
		}
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
	b.WriteString(stubs.register.String())
	if web != "" {
		fmt.Fprintf(&b, "\t%s.Web(heaptrimWeb)\n", sessionName)
	}
	b.WriteString("}\n" + web)
	return b.String()
}
