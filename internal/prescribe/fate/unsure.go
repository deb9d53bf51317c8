package fate

import "fmt"

// Doubt is a cure that fits and is not sure enough to name.
type Doubt struct {
	Code string
	Edit bool // it is an edit that was not tried, of no rule
	Read bool // the code that could speak against it was type-checked
}

// Text says why the cure is not named. Of an edit that is why no rule fits, as it would be without the edit.
func (d Doubt) Text(without string) string {
	switch {
	case d.Edit:
		return "no cure of the catalogue fits: " + without
	case !d.Read:
		return fmt.Sprintf("the code of this line was not type-checked, so what speaks against %s is not known; run heaptrim in the module's folder", d.Code)
	}
	return fmt.Sprintf("no cure is sure enough to name: %s would fit, and such advice was right in less than half of the places", d.Code)
}
