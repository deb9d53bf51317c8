// Package rt_test holds what users of the libraries rely on: they bring nothing
// along.
package rt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestNothingComesAlong: the module requires no other, tests included, and arena,
// pool and ballast do not import each other; only a package below one imports it.
func TestNothingComesAlong(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "require") {
		t.Errorf("go.mod requires another module:\n%s", mod)
	}
	for _, tags := range []string{"", "heaptrimcheck"} {
		cmd := exec.Command("go", "list", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		packages := 0
		for d := json.NewDecoder(bytes.NewReader(out)); ; packages++ {
			var p struct {
				ImportPath                         string
				Imports, TestImports, XTestImports []string
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for _, path := range append(append(p.Imports, p.TestImports...), p.XTestImports...) {
				checkImport(t, p.ImportPath, path)
			}
		}
		if packages < 4 {
			t.Errorf("%d packages listed, want arena, pool, ballast and ballast/auto", packages)
		}
	}
}

func checkImport(t *testing.T, from, path string) {
	t.Helper()
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return // of the standard library
	}
	if path == from || strings.HasPrefix(from, path+"/") {
		return
	}
	t.Errorf("%s imports %s: a library that a service links brings nothing along, not even one of its sisters",
		from, path)
}
