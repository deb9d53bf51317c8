package once

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// AskedOnce reports whether a function makes one map, fills it with the elements of a list, and asks it once, or returns it
// to a caller that asks it once on a line: the list itself could be searched for as little.
func AskedOnce(maker, caller *ssa.Function, on func(ssa.Instruction) bool) bool {
	m := onlyMap(maker)
	if m == nil || !isSet(m.Type()) {
		return false
	}
	filled, returned, asked := false, false, 0
	for _, in := range *m.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.MapUpdate:
			if in.Map != ssa.Value(m) || !isElement(in.Key) {
				return false
			}
			filled = true
		case *ssa.ChangeType:
			if !onlyReturned(in) {
				return false
			}
			returned = true
		case *ssa.Return:
			returned = true
		default:
			n := asks(in, m)
			if n < 0 {
				return false
			}
			asked += n
		}
	}
	if !filled || asked > 1 || returned == (asked == 1) {
		return false
	}
	return asked == 1 || caller != nil && callerAsksOnce(maker, caller, on)
}

// onlyMap is the map that a function makes; nil for none or several.
func onlyMap(fn *ssa.Function) (m *ssa.MakeMap) {
	if fn == nil {
		return nil
	}
	for in := range flow.Instructions(fn) {
		if made, ok := in.(*ssa.MakeMap); ok {
			if m != nil {
				return nil
			}
			m = made
		}
	}
	return m
}

// isSet reports whether the values of a map say no more than that there is a key.
func isSet(t types.Type) bool {
	switch u := t.Underlying().(*types.Map).Elem().Underlying().(type) {
	case *types.Struct:
		return u.NumFields() == 0
	case *types.Basic:
		return u.Kind() == types.Bool
	}
	return false
}

// isElement reports whether a value is an element of a slice.
func isElement(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	_, ok = load.X.(*ssa.IndexAddr)
	return ok
}

func onlyReturned(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in.(type) {
		case *ssa.DebugRef, *ssa.Return:
			return false
		}
		return true
	})
}

// asks is how often an instruction asks a map for a key, outside loops; -1 where it does anything else, or asks in a loop.
func asks(in ssa.Instruction, m ssa.Value) int {
	if flow.Repeats(in) {
		return -1
	}
	switch in := in.(type) {
	case *ssa.DebugRef:
		return 0
	case *ssa.Lookup:
		if in.X == m {
			return 1
		}
	case *ssa.Call:
		callee := in.Call.StaticCallee()
		i := slices.Index(in.Call.Args, m)
		if callee == nil || callee.Blocks == nil || i < 0 {
			return -1
		}
		n := 0
		for _, use := range *callee.Params[i].Referrers() {
			lookup, ok := use.(*ssa.Lookup)
			if _, debug := use.(*ssa.DebugRef); debug {
				continue
			}
			if !ok || lookup.X != ssa.Value(callee.Params[i]) || flow.Repeats(use) {
				return -1
			}
			n++
		}
		return n
	}
	return -1
}

// callerAsksOnce reports whether a function asks the map that a call on a line gives it once.
func callerAsksOnce(maker, caller *ssa.Function, on func(ssa.Instruction) bool) bool {
	found := false
	for in := range flow.Instructions(caller) {
		call, ok := in.(*ssa.Call)
		if !ok || !on(in) || call.Call.StaticCallee() == nil || flow.Origin(call.Call.StaticCallee()) != flow.Origin(maker) {
			continue
		}
		asked := 0
		for _, use := range *call.Referrers() {
			n := asks(use, call)
			if n < 0 {
				return false
			}
			asked += n
		}
		if asked != 1 {
			return false
		}
		found = true
	}
	return found
}
