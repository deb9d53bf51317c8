package vet_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heaptrim/heaptrim/internal/vet"
)

const program = `
-- go.mod --
module example.com/shop

go 1.25
-- shop.go --
// Package shop sells.
package shop

import "strings"

func host(addr string) string {
	return strings.Split(addr, ":")[0]
}

type order struct {
	open  bool
	start int64
	done  bool
	end   int64
	kind  bool
}

func newOrder() *order {
	return &order{}
}
-- shop_test.go --
package shop

import "strings"

func port(addr string) string { return strings.Split(addr, ":")[0] }
-- broken/broken.go --
// Package broken does not compile.
package broken

func f() int { return "" }
`

// unpack writes the program into a new folder.
func unpack(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(program)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	dir := unpack(t)
	found, err := vet.Run(t.Context(), dir, []string{"."}, vet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 {
		t.Fatalf("got %d diagnostics, want 2: %+v", len(found), found)
	}
	file := filepath.Join(dir, "shop.go")
	split, layout := found[0], found[1]
	if split.Code != "avoid-conversion" || split.File != file || split.Line != 7 || split.Col != 9 || split.EndLine != 7 {
		t.Errorf("got %+v, want avoid-conversion at %s:7:9", split, file)
	}
	if layout.Code != "shrink-layout" || layout.Line != 10 {
		t.Errorf("got %+v, want shrink-layout at line 10", layout)
	}
	if want := []vet.Place{{File: file, Line: 19}}; !slices.Equal(layout.Related, want) {
		t.Errorf("the layout acts at %+v, want %+v", layout.Related, want)
	}
}

func TestRunSomeCodes(t *testing.T) {
	dir := unpack(t)
	found, err := vet.Run(t.Context(), dir, []string{"."}, vet.Options{Codes: []string{"shrink-layout"}})
	if err != nil || len(found) != 1 || found[0].Code != "shrink-layout" {
		t.Errorf("got %+v, %v, want shrink-layout alone", found, err)
	}
	if _, err := vet.Run(t.Context(), dir, []string{"."}, vet.Options{Codes: []string{"no-such"}}); err == nil || !strings.Contains(err.Error(), `"no-such"`) {
		t.Errorf("an unknown code: got error %v, want one that names it", err)
	}
}

// TestRunBrokenPackage wants the findings of the sound packages beside an error
// for the other.
func TestRunBrokenPackage(t *testing.T) {
	found, err := vet.Run(t.Context(), unpack(t), []string{"./..."}, vet.Options{})
	if err == nil || !strings.Contains(err.Error(), "example.com/shop/broken") {
		t.Errorf("got error %v, want one that names the broken package", err)
	}
	if len(found) != 2 {
		t.Errorf("got %d diagnostics, want the 2 of the sound package", len(found))
	}
}

func TestRunBadInput(t *testing.T) {
	if _, err := vet.Run(t.Context(), filepath.Join(t.TempDir(), "missing"), []string{"."}, vet.Options{}); err == nil {
		t.Error("a folder that is not there: got no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := vet.Run(ctx, unpack(t), []string{"."}, vet.Options{}); err == nil {
		t.Errorf("a cancelled context: got error %v", err)
	}
}

// TestRunOnThisModule runs the rules over code that was not written for them.
func TestRunOnThisModule(t *testing.T) {
	if testing.Short() {
		t.Skip("loads a whole module")
	}
	if _, err := vet.Run(t.Context(), "../..", []string{"./internal/unit", "./internal/evidence"}, vet.Options{}); err != nil {
		t.Error(err)
	}
}
