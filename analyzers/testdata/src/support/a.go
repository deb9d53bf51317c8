// Package support helps tests: what it costs is nobody's concern.
package support

import (
	"fmt"
	"regexp"
	"testing"
)

func name(t testing.TB, n int) string {
	if !regexp.MustCompile(`x`).MatchString(t.Name()) {
		t.Fatal(n)
	}
	return fmt.Sprintf("%d", n)
}
