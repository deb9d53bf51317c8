package fate

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
)

func TestRefilled(t *testing.T) {
	for _, c := range []struct {
		kind finding.Kind
		via  string
		want bool
	}{
		{finding.KindMake, "", true},
		{finding.KindGrowth, "bytes.(*Buffer).grow", true},
		{finding.KindGrowth, "strconv.AppendInt", true},
		{finding.KindMake, "strings.Split", false},
		{finding.KindNew, "net/url.Parse", false},
		{finding.KindConcat, "", false},
		{finding.KindConversion, "", false},
		{finding.KindBoxing, "", false},
	} {
		if got := Refilled(c.kind, c.via); got != c.want {
			t.Errorf("%s through %q: %v, want %v", c.kind, c.via, got, c.want)
		}
	}
}

// TestDoubt: a row says the same with an edit that was not tried as without it.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		edit, read bool
		want       string
	}{
		{true, true, "no cure of the catalogue fits: it goes to another goroutine"},
		{false, true, "less than half"},
		{false, false, "not type-checked"},
	} {
		if got := (Doubt{"reuse-buffer", c.edit, c.read}).Text("it goes to another goroutine"); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
