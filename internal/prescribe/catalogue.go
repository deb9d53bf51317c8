package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Safety says whether a cure may change anything but the cost.
type Safety string

// The values of Safety.
const (
	Safe   Safety = "safe"   // the program behaves the same
	Review Safety = "review" // correct if its conditions hold, which a person has to check
	Advice Safety = "advice" // a matter of design: the tool cannot name the change
)

// Cure is one entry of the catalogue. Entries are values without state; their
// texts are plain, in the field's own terms, and end without a line break.
type Cure struct {
	Code    string // stable; words with dashes
	Title   string // what to do, in a few words
	Why     string // how it saves
	Before  string // Go code
	After   string
	Safety  Safety
	Needs   string // the evidence it takes
	WhenNot string // when it does not pay or is wrong
}

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

// Catalogue lists every cure, in the order in which the documentation has them.
func Catalogue() []Cure {
	return []Cure{
		keepOnStack, unboxInterface, hoistClosure,
		presizeSlice, presizeMap, presizeBuilder,
		avoidConversion, cacheCompiled, internString,
		reuseBuffer, poolBuffer, poolObject, poolMisuse,
		batchArena, shrinkLayout, skipWork,
		goroutineStacks, finalizerCost,
		gcHeadroom, upgradeGo, numaBind, hugePages,
		leaveIt,
	}
}

// Find returns the cure with a code.
func Find(code string) (Cure, bool) {
	for _, c := range Catalogue() {
		if c.Code == code {
			return c, true
		}
	}
	return Cure{}, false
}

// remedy is a proposal as the finding's remedy.
func (c Cure) remedy(p proposal, saves finding.Prediction) finding.Remedy {
	return finding.Remedy{Code: c.Code, Safety: string(c.Safety), Text: p.Text, Why: p.Why, Rule: p.Rule, Fit: p.Fit, Saves: saves}
}
