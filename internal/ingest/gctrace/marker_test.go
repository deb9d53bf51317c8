package gctrace

import (
	"strings"
	"testing"
)

// TestFirstBytes: a marker whose first byte is not listed would never be found.
func TestFirstBytes(t *testing.T) {
	for _, p := range patterns() {
		if strings.IndexByte(firstBytes, p.text[0]) < 0 {
			t.Errorf("%q does not begin with one of %q", p.text, firstBytes)
		}
		if anywhere := p.text[0] == 'g' || p.text[0] == 'p'; !p.lineStart && !anywhere {
			t.Errorf("findMarker looks for no marker that begins like %q", p.text)
		}
	}
}
