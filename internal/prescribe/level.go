package prescribe

// A level says how surely the evidence points at a cure: of the cures that fit a
// line, the one is named whose level times its saving is the largest, and what is
// below least is not even told as another way.
//
// The figures are judgement, not measured frequencies: only their order and their
// ratios matter. They stand until a cure is chosen from the life of the objects.
// Pick the first whose sentence is true.
const (
	certain  = 0.95 // the compiler's own words, or a constant, name the change
	evident  = 0.9  // the expression on the line is what the cure replaces, and all of it
	strong   = 0.85 // as that, but the change takes an edit elsewhere, or the size speaks for it
	good     = 0.8  // the shape of the code is the one that the cure is for
	fair     = 0.75 // the shape is right; one condition is not seen
	likely   = 0.7  // the callee is known for it
	probable = 0.65 // the owner is known, how it is used is not
	possible = 0.6  // the kind of allocation is right, and its rate
	open     = 0.55 // the kind is right, the maker is not known
	even     = 0.5  // for as much as against
	weak     = 0.4  // a general way that may not apply
	faint    = 0.35 // the caller would have to change
	least    = 0.3  // a last resort; the floor for being told at all
)
