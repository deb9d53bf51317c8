package callees_test

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/prescribe/callees"
)

// TestAffordable: what many packages import takes all of these with it, and is not read.
func TestAffordable(t *testing.T) {
	pkg := func(path string, imports ...*packages.Package) *packages.Package {
		p := &packages.Package{PkgPath: path, Imports: map[string]*packages.Package{}}
		for _, i := range imports {
			p.Imports[i.PkgPath] = i
		}
		return p
	}
	time, leaf, above := pkg("time"), pkg("leaf"), []*packages.Package{}
	for i := range 150 {
		above = append(above, pkg(fmt.Sprintf("above%03d", i), time))
	}
	own := pkg("own", append(above, leaf, pkg("middle", leaf))...)
	read := []*packages.Package{own}
	if got := callees.Affordable(read, []string{"time", "middle", "leaf"}); !slices.Equal(got, []string{"middle", "leaf"}) {
		t.Errorf("%v is read, want middle and leaf", got)
	}
	// What is read already, and its importers, costs nothing more.
	read = append(read, time)
	if got := callees.Affordable(read, []string{"time", "leaf"}); !slices.Equal(got, []string{"time", "leaf"}) {
		t.Errorf("%v is read, want time and leaf", got)
	}
}
