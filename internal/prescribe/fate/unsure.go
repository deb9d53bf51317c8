package fate

import "fmt"

// Unsure says why a cure that fits is not named: advice by its rule was right in a share of places, 0 to 1, which is less
// than half, or the code that could speak against it was not type-checked. Of an edit that was not tried it says why no rule
// fits, as it would without the edit.
func Unsure(code string, right float64, edit, read bool, without string) string {
	switch {
	case edit:
		return "no cure of the catalogue fits: " + without
	case !read:
		return fmt.Sprintf("the code of this line was not type-checked, so what speaks against %s is not known; run heaptrim in the module's folder", code)
	}
	return fmt.Sprintf("no cure is sure enough to name: %s would fit, and such advice was right in %.0f %% of the places, less than half", code, 100*right)
}
