package finding

import "testing"

func TestPointersOf(t *testing.T) {
	for _, c := range []struct {
		parts []Tri
		want  Tri
	}{
		{nil, Unknown}, {[]Tri{Yes}, Yes}, {[]Tri{No, No}, No}, {[]Tri{No, Yes}, Unknown}, {[]Tri{Yes, Unknown}, Unknown}, {[]Tri{Unknown, No}, Unknown},
	} {
		var mix []Mix
		for _, p := range c.parts {
			mix = append(mix, Mix{Pointers: p})
		}
		if got := PointersOf(mix); got != c.want {
			t.Errorf("%v: %v, want %v", c.parts, got, c.want)
		}
	}
}
