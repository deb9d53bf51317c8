package corpus

import "testing"

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		c          Case
		repository string
	}{
		{Case{Module: "github.com/a/b"}, "github.com/a/b"},
		{Case{Module: "github.com/a/b/v5"}, "github.com/a/b"},
		{Case{Module: "github.com/a/b/sub/v2"}, "github.com/a/b"},
		{Case{Module: "go.uber.org/zap"}, "go.uber.org/zap"},
		{Case{Module: "go.example.org/many/one/v2", Root: "go.example.org/many"}, "go.example.org/many"},
	} {
		if got := c.c.Repository(); got != c.repository {
			t.Errorf("%s is of %s, want %s", c.c.Module, got, c.repository)
		}
	}
	// All versions and modules of a repository are of one split.
	for _, m := range []string{"github.com/rs/zerolog", "github.com/klauspost/compress", "github.com/labstack/echo"} {
		if a, b := (Case{Module: m}), (Case{Module: m + "/v9"}); a.Validation() != b.Validation() {
			t.Errorf("%s and its ninth version are of two splits", m)
		}
	}
	validation, read := 0, 0
	for i := range 1000 {
		c := Case{Module: "example.com/" + string(rune('a'+i%26)) + string(rune('a'+i/26))}
		if c.Validation() {
			validation++
			if c.HashedPart() == "read" {
				read++
			}
		}
	}
	if validation < 330 || validation > 470 {
		t.Errorf("%d of 1000 names are validation, want some 400", validation)
	}
	if share := float64(read) / float64(validation); share < 0.4 || share > 0.6 {
		t.Errorf("%d of %d names of validation are read, want half", read, validation)
	}
	if !(Case{Module: "m", Split: "validation"}).Validation() || (Case{Module: "m", Split: "train"}).Validation() {
		t.Error("a split that is given does not count")
	}
}

func TestJudge(t *testing.T) {
	c := Case{Functions: []string{"m/p.F"}, Sites: []Site{{File: "p/x.go", Line: 20}}, Cure: "pool", CureOK: []string{"prealloc"}}
	for _, f := range []struct {
		at  Named
		hit bool
	}{
		{Named{Function: "m/p.F", File: "p/y.go", Line: 1}, true},
		{Named{Function: "m/p.G", File: "p/x.go", Line: 23}, true},
		{Named{Function: "m/p.G", File: "p/x.go", Line: 24}, false},
		{Named{Function: "m/p.G", File: "q/x.go", Line: 20}, false},
	} {
		if c.Hit(f.at) != f.hit {
			t.Errorf("%+v is hit: %v, want %v", f.at, !f.hit, f.hit)
		}
	}
	for code, right := range map[string]bool{"pool-object": true, "reuse-buffer": true, "presize-map": true, "keep-on-stack": false, "leave-it": false} {
		if c.Right(code) != right {
			t.Errorf("%s is right: %v, want %v", code, !right, right)
		}
	}
	if c.Control() || !(Case{Version: "v1.0.0"}).Control() {
		t.Error("a case without a cure is a control, others are not")
	}
}
