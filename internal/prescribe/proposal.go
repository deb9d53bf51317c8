package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
)

// proposal is a cure that fits one part of what a site allocates.
type proposal struct {
	Rule string  // its name; empty for an edit that only a trial knows
	Text string  // what to do here
	Why  string  // the evidence for it
	Fit  float64 // how often the rule is right, from 0 to 1

	// At is where the change goes; zero for the line that allocates.
	At evidence.Site

	// What the cure removes, as shares of the part, and the cost it adds.
	Objects, Bytes, Live float64
	Cost                 addedCost
}

// all is a proposal that removes the whole part.
func all(fit float64, text, why string) proposal {
	return proposal{Text: text, Why: why, Fit: fit, Objects: 1, Bytes: 1, Live: 1}
}

// remedyOf is a proposal of a cure as the finding's remedy.
func remedyOf(c cures.Cure, p proposal, saves finding.Prediction) finding.Remedy {
	return finding.Remedy{Code: c.Code, Safety: string(c.Safety), Text: p.Text, Why: p.Why, Rule: p.Rule, Fit: p.Fit, Saves: saves}
}
