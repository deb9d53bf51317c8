package command

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
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// requestOverlay writes a net/http into dir that makes each request it serves a task
// of the execution trace. It returns the file to overlay and its replacement. The go
// command then rebuilds net/http and everything that depends on it, once for each
// toolchain and set of flags.
func requestOverlay(ctx context.Context, dir string, tool gocmd.Tool) (map[string]string, error) {
	env, err := tool.Settings(ctx, "GOROOT")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(env["GOROOT"], "src", "net", "http")
	name := filepath.Join(folder, "server.go")
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("make requests tasks: %w", err)
	}
	if source, err = hookServer(name, source); err != nil {
		return nil, fmt.Errorf("make requests tasks: %w", err)
	}
	server, task := filepath.Join(dir, "http_server.go"), filepath.Join(dir, "http_task.go")
	if err := os.WriteFile(server, source, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(task, recorder.RequestTasks(), 0o600); err != nil {
		return nil, err
	}
	return map[string]string{name: server, filepath.Join(folder, "0heaptrim_task.go"): task}, nil
}

// hookServer adds the task to the method of net/http that handles every HTTP/1 and
// HTTP/2 request. No line moves.
func hookServer(name string, source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "ServeHTTP" || fn.Body == nil || receiver(fn) != "sh serverHandler" ||
			!takes(fn, "rw", "req") {
			continue
		}
		at := fset.File(fn.Pos()).Offset(fn.Body.Lbrace) + 1
		hook := " defer " + recorder.TaskFunc + "(sh.srv, &req)();"
		return bytes.Join([][]byte{source[:at], []byte(hook), source[at:]}, nil), nil
	}
	return nil, fmt.Errorf("%s: no method serverHandler.ServeHTTP(rw, req): this Go release is not known", name)
}

// receiver returns the receiver of a method as written in the source.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) != 1 || len(fn.Recv.List[0].Names) != 1 {
		return ""
	}
	kind, ok := fn.Recv.List[0].Type.(*ast.Ident)
	if !ok {
		return ""
	}
	return fn.Recv.List[0].Names[0].Name + " " + kind.Name
}

// takes reports whether a function has exactly the named parameters.
func takes(fn *ast.FuncDecl, names ...string) bool {
	var have []string
	for _, p := range fn.Type.Params.List {
		for _, n := range p.Names {
			have = append(have, n.Name)
		}
	}
	if len(have) != len(names) {
		return false
	}
	for i, n := range names {
		if have[i] != n {
			return false
		}
	}
	return true
}
