package fate

import "fmt"

// Unsure says why a cure that fits is not named: advice by its rule was right in a share of places, 0 to 1, which is too
// little, or the code that could speak against it was not type-checked. An edit that was not tried has to be surer.
func Unsure(code string, right float64, edit, read bool) string {
	if !read {
		return fmt.Sprintf("the code of this line was not type-checked, so what speaks against %s is not known; run heaptrim in the module's folder", code)
	}
	text := fmt.Sprintf("no cure is sure enough to name: %s would fit, and such advice was right in %.0f of 10 places", code, 10*right)
	if edit {
		text += ", too few for an edit that was not tried"
	}
	return text
}
