package equal

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// acts are functions, variables and types of the standard library by which a program acts on what
// is outside of it: code that names one is not called with arguments that nobody chose. A name that
// ends in * stands for all that begin so.
func acts() map[string][]string {
	return map[string][]string{
		"os": {"Create", "OpenFile", "WriteFile", "Remove*", "Rename", "Mkdir", "MkdirAll", "Ch*", "Lchown", "Link", "Symlink", "Truncate",
			"Exit", "Setenv", "Unsetenv", "Clearenv", "StartProcess", "FindProcess", "CopyFS", "NewFile", "OpenRoot", "OpenInRoot",
			"File.Truncate", "File.Chmod", "File.Chown", "File.Chdir", "Process.*", "Root.*"},
		"os/exec":       {"*"},
		"os/signal":     {"*"},
		"os/user":       {},
		"syscall":       {"Exec", "Kill", "Fork*", "Open", "Unlink*", "Rmdir", "Rename*", "Mkdir*", "Mount", "Raw*", "Syscall*", "Socket*", "Connect", "Exit", "Write", "Set*", "Ptrace*", "Reboot", "Mmap", "Munmap"},
		"io/ioutil":     {"WriteFile"},
		"net":           {"Dial*", "Listen*", "Lookup*", "Dialer", "Dialer.*", "ListenConfig", "Resolver", "DefaultResolver", "Resolver.*", "File*"},
		"net/http":      {"Client", "Client.*", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "ListenAndServe*", "Serve", "ServeTLS", "Server", "Server.*", "Transport", "Transport.*"},
		"net/smtp":      {"*"},
		"net/rpc":       {"*"},
		"log":           {"Fatal*", "Logger.Fatal*"},
		"log/syslog":    {"*"},
		"plugin":        {"*"},
		"runtime":       {"Goexit", "Breakpoint"},
		"runtime/debug": {"Set*", "FreeOSMemory"},
		"database/sql":  {"Open", "OpenDB"},
		"testing":       {},
	}
}

// safety answers whether code may be called with any arguments.
type safety struct {
	acts map[string][]string
	// own is there in place of acts for the package itself: its standard client asks the session, and a
	// scenario that ends the process is left out.
	own      map[string][]string
	packages map[string]gocmd.Package
	parsed   map[string]map[string][]body // by package and name
	known    map[outside]string
}

// body is what the functions of one name mention.
type body struct {
	calls []outside
	bad   string
}

// learn asks the go command where the packages are that a package needs.
func learn(ctx context.Context, tool gocmd.Tool, path string) (*safety, error) {
	list, err := tool.Packages(ctx, []string{path}, "-deps")
	if err != nil {
		return nil, err
	}
	s := &safety{acts: acts(), packages: map[string]gocmd.Package{}, parsed: map[string]map[string][]body{}, known: map[outside]string{}}
	for _, p := range list {
		s.packages[p.ImportPath] = p
	}
	s.own = map[string][]string{"log": nil, "os": slices.DeleteFunc(slices.Clone(s.acts["os"]), func(name string) bool { return name == "Exit" })}
	if slices.Contains(s.packages[path].Imports, webPackage) {
		s.own[webPackage] = []string{"ListenAndServe*", "Serve", "ServeTLS", "Server", "Server.*", "Transport", "Transport.*"}
	}
	return s, nil
}

// judge says for all functions of a package what they do that forbids to call them; those that call
// such a one are forbidden, too.
func (s *safety) judge(g *graph) {
	for _, f := range g.funcs {
		for _, o := range f.others {
			switch patterns, ok := s.own[o.path]; {
			case f.bad != "":
			case ok:
				f.bad = acting(patterns, o)
			default:
				f.bad = s.why(o)
			}
		}
	}
	for grew := true; grew; {
		grew = false
		for _, f := range g.funcs {
			if f.bad == "" {
				continue
			}
			for _, u := range f.users {
				if u.bad == "" {
					u.bad, grew = f.bad, true
				}
			}
		}
	}
}

// why names what a function of another package does that forbids to call it; "" for nothing.
func (s *safety) why(o outside) string {
	if why, ok := s.known[o]; ok {
		return why
	}
	s.known[o] = "" // while it is looked at
	why := s.look(o)
	s.known[o] = why
	return why
}

func (s *safety) look(o outside) string {
	p, ok := s.packages[o.path]
	if !ok || p.Standard || o.path == "unsafe" {
		return acting(s.acts[o.path], o)
	}
	if len(p.CgoFiles) > 0 {
		return "it calls " + o.path + ", which calls C"
	}
	for _, b := range s.bodies(p)[o.name] {
		if b.bad != "" {
			return b.bad
		}
		for _, c := range b.calls {
			if why := s.why(c); why != "" {
				return why
			}
		}
	}
	return ""
}

// acting says that something is among those that act on what is outside; "" if it is not.
func acting(patterns []string, o outside) string {
	if slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, o.name) }) {
		return "it calls " + o.path + "." + o.name
	}
	return ""
}

// fits reports whether a name is meant by a pattern.
func fits(pattern, name string) bool {
	head, star := strings.CutSuffix(pattern, "*")
	return pattern == name || star && strings.HasPrefix(name, head) && (strings.Contains(head, ".") || !strings.Contains(name, "."))
}

// bodies are the functions of a package by name, and by the name of their receiver's type and their own.
func (s *safety) bodies(p gocmd.Package) map[string][]body {
	if have, ok := s.parsed[p.ImportPath]; ok {
		return have
	}
	out := map[string][]body{}
	s.parsed[p.ImportPath] = out
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		imports := importsOf(f)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			b := s.bodyOf(p.ImportPath, fn, imports)
			out[fn.Name.Name] = append(out[fn.Name.Name], b)
			if fn.Recv != nil {
				typed := strings.NewReplacer("(*", "", ")", "").Replace(nameOf(fn))
				out[typed] = append(out[typed], b)
			}
		}
	}
	return out
}

// importsOf are the packages of a file by the name that it has for them.
func importsOf(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = path
	}
	return out
}

// bodyOf is what a function mentions, by names alone: methods are those of its package that have the
// name, whatever the type.
func (s *safety) bodyOf(path string, fn *ast.FuncDecl, imports map[string]string) body {
	var b body
	if fn.Body == nil {
		return b
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && imports[id.Name] != "" {
				b.calls = append(b.calls, outside{imports[id.Name], n.Sel.Name})
				return false
			}
			b.calls = append(b.calls, outside{path, n.Sel.Name})
		case *ast.Ident:
			b.calls = append(b.calls, outside{path, n.Name})
		}
		return true
	})
	return b
}
