// Package cures is the catalogue of cures: what each does, how it saves, and when it does not pay.
// It is data; which cure fits where, package prescribe decides.
package cures

// Codes that other packages name.
const (
	LeaveIt        = "leave-it"
	SkipWork       = "skip-work"
	UnboxInterface = "unbox-interface"
	UpgradeGo      = "upgrade-go"
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

// All lists every cure, in the order in which the documentation has them.
func All() []Cure {
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
	for _, c := range All() {
		if c.Code == code {
			return c, true
		}
	}
	return Cure{}, false
}

// Of is the cure of a code that the catalogue has.
func Of(code string) Cure {
	c, _ := Find(code)
	return c
}
