package equal

import (
	"go/types"
	"regexp"

	"github.com/heaptrim/heaptrim/internal/trial/equal/watch"
)

// kindOf says what a function may be used for in the calls of a session.
func kindOf(g *graph, f *fn) watch.Kind {
	if f.bad != "" || len(f.calls) == 0 {
		return 0
	}
	var k watch.Kind
	sig := f.obj.Signature()
	if f.public {
		k |= watch.Callable
	}
	if f.public && sig.Recv() != nil && sig.Params().Len() == 0 && sig.Results().Len() > 0 {
		k |= watch.Getter
	}
	if makes(g, sig) && (f.public || !g.hasPublicMaker(sig.Results().At(0).Type())) {
		k |= watch.Maker
	}
	return k
}

// makes reports whether a function returns a value of a type of the package, alone or with an error.
func makes(g *graph, sig *types.Signature) bool {
	n := sig.Results().Len()
	if n == 0 || n > 2 || n == 2 && !types.Identical(sig.Results().At(1).Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	t := sig.Results().At(0).Type()
	if recv := sig.Recv(); recv != nil && types.Identical(recv.Type(), t) {
		return false
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() == g.pkg.Types
}

// hasPublicMaker reports whether callers of the package have a function that makes values of a type.
func (g *graph) hasPublicMaker(t types.Type) bool {
	for _, f := range g.funcs {
		sig := f.obj.Signature()
		if f.public && f.bad == "" && makes(g, sig) && types.Identical(sig.Results().At(0).Type(), t) {
			return true
		}
	}
	return false
}

var appendName = regexp.MustCompile(`^[Aa]ppend([^a-z]|$)`) // and not appendix

// appends reports whether a function has the contract of append: it may write into the slice that is its first argument,
// and who calls it goes on with its first result, of the same type. Its name begins with Append, or the argument's name is
// dst, as it is in the standard library and most codecs.
func appends(f *types.Func) bool {
	in, out := f.Signature().Params(), f.Signature().Results()
	if in.Len() == 0 || out.Len() == 0 || !types.Identical(in.At(0).Type(), out.At(0).Type()) {
		return false
	}
	_, slice := in.At(0).Type().Underlying().(*types.Slice)
	return slice && (appendName.MatchString(f.Name()) || in.At(0).Name() == "dst")
}
