package once

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// anew are packages, and functions of others, that answer in another way from call to call: by who calls, by the clock, by
// chance, or by what the system holds.
var anew = map[string]bool{
	"runtime": true, "runtime/debug": true, "math/rand": true, "math/rand/v2": true, "crypto/rand": true, "os": true, "syscall": true,
	"sync/atomic": true, "time.Now": true, "time.Since": true, "time.Until": true, "net.Interfaces": true, "net.InterfaceAddrs": true,
}

// asksAnew reports whether a function of the package, or one of the package that it calls, calls one of these.
func (s *site) asksAnew(fn *types.Func, seen map[*types.Func]bool) (yes bool) {
	if seen[fn] {
		return false
	}
	seen[fn] = true
	_, decl := s.FuncOf(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || yes {
			return !yes
		}
		if f, ok := typeutil.Callee(s.Info(), call).(*types.Func); ok && f.Pkg() != nil {
			path := f.Pkg().Path()
			yes = anew[path] || anew[path+"."+f.Name()] || f.Pkg() == s.Pkg.Types && s.asksAnew(f, seen)
		}
		return !yes
	})
	return yes
}
