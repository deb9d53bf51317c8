package flow

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// GivesBack is the number of the parameter, the receiver being one, whose memory a function gives back as one of its
// results: grown, or put in its place where it was too small, or nil. It is -1 for none. cut says that the function uses the
// memory from its beginning, whatever it held; else it goes on behind its end.
func GivesBack(fn *ssa.Function, result int) (param int, cut bool) {
	param = -1
	for v := range returnedValues(fn, result) {
		i, ok := givenBack(fn, v, map[ssa.Value]bool{})
		if !ok || param >= 0 && i >= 0 && i != param {
			return -1, false
		}
		param = max(param, i)
	}
	if param < 0 {
		return -1, false
	}
	for in := range Instructions(fn) {
		switch in := in.(type) {
		case *ssa.Slice:
			cut = cut || in.Low == nil && in.High != nil && mayBe(in.X, fn.Params[param], map[ssa.Value]bool{})
		case *ssa.Call:
			if IsBuiltin(in, "append") && in.Call.Args[0] == ssa.Value(fn.Params[param]) {
				return param, false
			}
		}
	}
	return param, cut
}

// mayBe reports whether a value is a parameter on some way.
func mayBe(v ssa.Value, p *ssa.Parameter, seen map[ssa.Value]bool) bool {
	phi, ok := v.(*ssa.Phi)
	if !ok || seen[v] {
		return v == ssa.Value(p)
	}
	seen[v] = true
	return slices.ContainsFunc(phi.Edges, func(e ssa.Value) bool { return mayBe(e, p, seen) })
}

// returnedValues are what a function returns as one of its results.
func returnedValues(fn *ssa.Function, result int) func(yield func(ssa.Value) bool) {
	return func(yield func(ssa.Value) bool) {
		for _, b := range fn.Blocks {
			ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			if ok && result < len(ret.Results) && !yield(ret.Results[result]) {
				return
			}
		}
	}
}

// givenBack is the number of the parameter whose memory a slice has; -1 if it has memory of its own, or none. It is false
// for memory from elsewhere.
func givenBack(fn *ssa.Function, v ssa.Value, seen map[ssa.Value]bool) (param int, ok bool) {
	if seen[v] {
		return -1, true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Const:
		return -1, v.IsNil()
	case *ssa.MakeSlice:
		return -1, true
	case *ssa.Phi:
		param, ok = -1, true
		for _, e := range v.Edges {
			i, of := givenBack(fn, e, seen)
			ok = ok && of && (param < 0 || i < 0 || i == param)
			param = max(param, i)
		}
		return param, ok
	case *ssa.Slice:
		if _, array := v.X.Type().Underlying().(*types.Pointer); array {
			return -1, false
		}
		return givenBack(fn, v.X, seen)
	}
	i := grownFrom(fn, v, map[ssa.Value]bool{}, 3)
	if i >= 0 {
		return i, true
	}
	if c, call := v.(*ssa.Call); call && len(c.Call.Args) > 0 && IsBuiltin(c, "append") {
		return givenBack(fn, c.Call.Args[0], seen)
	}
	return -1, false
}

// Reuses is the number of the parameter that a function returns as one of its results on some ways, perhaps as another
// type: a pointer or an interface value. It is -1 for none.
func Reuses(fn *ssa.Function, result int) int {
	for v := range returnedValues(fn, result) {
		if i := sameObject(fn, v, map[ssa.Value]bool{}); i >= 0 {
			return i
		}
	}
	return -1
}

// sameObject is the number of the parameter that a value may be; -1 for none.
func sameObject(fn *ssa.Function, v ssa.Value, seen map[ssa.Value]bool) int {
	if seen[v] {
		return -1
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range fn.Params {
			if p == v {
				return i
			}
		}
	case *ssa.Phi:
		for _, e := range v.Edges {
			if i := sameObject(fn, e, seen); i >= 0 {
				return i
			}
		}
	case *ssa.ChangeType:
		return sameObject(fn, v.X, seen)
	case *ssa.ChangeInterface:
		return sameObject(fn, v.X, seen)
	case *ssa.MakeInterface:
		return sameObject(fn, v.X, seen)
	case *ssa.TypeAssert:
		return sameObject(fn, v.X, seen)
	case *ssa.Extract:
		return sameObject(fn, v.Tuple, seen)
	}
	return -1
}

// Makes reports whether a function returns a new variable of its own on each way, and nothing else but nil, as its first
// result.
func Makes(fn *ssa.Function) bool {
	made := false
	for v := range returnedValues(fn, 0) {
		if c, ok := v.(*ssa.Const); ok && c.IsNil() {
			continue
		}
		if m, ok := v.(*ssa.MakeInterface); ok {
			v = m.X
		}
		a, ok := v.(*ssa.Alloc)
		if !ok || !a.Heap {
			return false
		}
		made = true
	}
	return made
}
