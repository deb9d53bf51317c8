package detect

import (
	"strings"
	"testing"
)

func TestStackAdvice(t *testing.T) {
	f := func(stack, all float64, much bool) {
		t.Helper()
		title, text := stackAdvice(stack, all)
		if strings.Contains(title, "much of") != much || strings.Contains(text, "fewer goroutines") != much {
			t.Errorf("%v of %v bytes: %q, %q; much: want %v", stack, all, title, text, much)
		}
		if !strings.Contains(text, "ewer cycles") {
			t.Errorf("%v of %v bytes: %q says nothing of cycles", stack, all, text)
		}
	}
	f(16<<10, 1200<<10, false)
	f(800<<10, 1200<<10, true)
	f(0, 0, true) // not known
}
