package fate

import (
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
