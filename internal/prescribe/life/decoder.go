package life

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// ofDecoder are the functions that make a decoder, or what it reads from.
var ofDecoder = map[string]bool{"encoding/json.NewDecoder": true, "bytes.NewReader": true, "bytes.NewBuffer": true, "bytes.NewBufferString": true, "strings.NewReader": true}

// decoder finds the json.NewDecoder that a value is: its result, or the reader that it alone gets. It returns the zero
// value unless that reads text or bytes that are in memory, and decodes one value of them.
func (t *Tracer) decoder(v ssa.Value, at evidence.Frame) finding.Maker {
	for {
		call, ok := v.(*ssa.Call)
		switch {
		case ok && calleeName(call.Common()) == "encoding/json.NewDecoder":
			if !fromMemory(call.Call.Args[0]) || !decodesOnce(call) {
				return finding.Maker{}
			}
			return finding.Maker{Whole: true, At: evidence.Site{File: at.File, Line: t.src.LineOf(call.Pos()), Function: at.Function}}
		case v.Referrers() == nil:
			return finding.Maker{}
		}
		var next ssa.Value
		for _, in := range *v.Referrers() {
			switch in := in.(type) {
			case *ssa.DebugRef:
			case *ssa.MakeInterface, *ssa.Call:
				if next != nil {
					return finding.Maker{}
				}
				next = in.(ssa.Value)
			default:
				return finding.Maker{}
			}
		}
		if next == nil {
			return finding.Maker{}
		}
		v = next
	}
}

// fromMemory reports whether a reader reads a text or bytes.
func fromMemory(v ssa.Value) bool {
	switch whole(v).Type().String() {
	case "*bytes.Reader", "*bytes.Buffer", "*strings.Reader":
		return true
	}
	return false
}

// decodesOnce reports whether all that is done with a decoder is to decode one value: no stream, and no option that is
// always set.
func decodesOnce(made *ssa.Call) bool {
	var decodes, options []*ssa.BasicBlock
	for _, in := range *made.Referrers() {
		call, ok := in.(*ssa.Call)
		switch {
		case isDebug(in):
		case !ok || flow.Argument(call.Common(), 0) != made:
			return false
		case strings.HasSuffix(calleeName(call.Common()), ").Decode"):
			decodes = append(decodes, call.Block())
		case strings.HasSuffix(calleeName(call.Common()), ").UseNumber"), strings.HasSuffix(calleeName(call.Common()), ").DisallowUnknownFields"):
			options = append(options, call.Block())
		default:
			return false
		}
	}
	for _, d := range decodes {
		if slices.ContainsFunc(options, func(o *ssa.BasicBlock) bool { return o.Dominates(d) }) {
			return false
		}
		// Another one, or the same again, without a new decoder.
		seen := map[*ssa.BasicBlock]bool{made.Block(): made.Block() != d}
		if slices.ContainsFunc(d.Succs, func(b *ssa.BasicBlock) bool { return reaches(b, decodes, seen) }) {
			return false
		}
	}
	return len(decodes) > 0
}

func isDebug(in ssa.Instruction) bool {
	_, ok := in.(*ssa.DebugRef)
	return ok
}

// reaches reports whether one of some blocks is on a way from a block, by blocks that were not seen.
func reaches(b *ssa.BasicBlock, ends []*ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	return slices.Contains(ends, b) || slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool { return reaches(next, ends, seen) })
}
