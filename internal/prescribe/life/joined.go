package life

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Way is the user's frames of a stack, from the line that allocates outwards, with its share of the cost.
type Way struct {
	Frames []evidence.Frame
	Share  float64
}

// mostOf is the share of the cost from which ways with one end decide.
const mostOf = 0.2

// Decisive are the ends of a life that rule cures out, the strongest first.
var Decisive = []finding.End{finding.EndShared, finding.EndStored, finding.EndResult, finding.EndUnknown}

// Joined follows an object along several ways, and joins what they say: one end that hands the object out decides, then
// one that is not known. The place of its last use is as the frames name it.
func (t *Tracer) Joined(b Birth, ways []Way) finding.Life {
	all := 0.0
	ends := map[finding.End]float64{}
	lives := map[finding.End]finding.Life{}
	makers := map[finding.Maker]bool{}
	for _, w := range ways {
		l := t.Trace(b, w.Frames)
		if l.At.Line == 0 {
			f := w.Frames[l.Frame]
			l.At = evidence.Site{File: f.File, Line: f.Line, Function: f.Function}
		}
		makers[l.Maker] = true
		if len(makers) > 1 {
			l.Maker = finding.Maker{}
		}
		if had, ok := lives[l.End]; !ok || l.Frame > had.Frame {
			lives[l.End] = l
		}
		ends[l.End] += w.Share
		all += w.Share
	}
	for _, e := range Decisive {
		if ends[e] > mostOf*all {
			return lives[e]
		}
	}
	return lives[finding.EndFrame]
}
