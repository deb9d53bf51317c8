package command

import (
	"context"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

func TestHookExits(t *testing.T) {
	f := func(in, want string, main bool) {
		t.Helper()
		h, err := hookExits("x.go", []byte("package main\n"+in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			return
		}
		got := strings.TrimPrefix(string(h.source), "package main\n")
		if got != want || h.main != main || h.changed != (in != want) {
			t.Errorf("%q: got %q, changed %v, main %v; want %q", in, got, h.changed, h.main, want)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "x.go", h.source, 0); err != nil {
			t.Errorf("%q: the result does not parse: %v", in, err)
		}
	}
	const last = "\nvar _ = os.Exit\n"
	f("func main() {\n\twork()\n}\n", "func main() { defer htrim7qFlush();\n\twork()\n}\n", true)
	f("func main() {}\n", "func main() { defer htrim7qFlush();}\n", true)
	f("func main() { // comment\n}\n", "func main() { defer htrim7qFlush(); // comment\n}\n", true)
	f("func main()\n", "func main()\n", false)
	f("type t int\nfunc (t) main() {}\n", "type t int\nfunc (t) main() {}\n", false)
	f("import \"os\"\nfunc f() { os.Exit(1) }\n", "import \"os\"\nfunc f() { htrim7qExit(1) }\n"+last, false)
	f("import \"os\"\nfunc f() { defer os.Exit(1); g(os.Exit); os.Getpid() }",
		"import \"os\"\nfunc f() { defer htrim7qExit(1); g(htrim7qExit); os.Getpid() }"+last, false)
	f("import sys \"os\"\nfunc f() { sys.Exit(1) }\n",
		"import sys \"os\"\nfunc f() { htrim7qExit(1) }\n\nvar _ = sys.Exit\n", false)
	// A variable with the package's name, another package with that name, and no name.
	f("import \"os\"\nfunc f(os t) { os.Exit(1) }\nvar p = os.Getpid\n",
		"import \"os\"\nfunc f(os t) { os.Exit(1) }\nvar p = os.Getpid\n", false)
	f("import \"os\"\nfunc f() { if os := g(); true { os.Exit(1) }; os.Exit(2) }\n",
		"import \"os\"\nfunc f() { if os := g(); true { os.Exit(1) }; htrim7qExit(2) }\n"+last, false)
	f("import \"example.com/os\"\nfunc f() { os.Exit(1) }\n", "import \"example.com/os\"\nfunc f() { os.Exit(1) }\n",
		false)
	f("import . \"os\"\nfunc f() { Exit(1) }\n", "import . \"os\"\nfunc f() { Exit(1) }\n", false)
	f("import _ \"os\"\n", "import _ \"os\"\n", false)
	// A line directive moves positions, not offsets.
	f("import \"os\"\n//line other.y:700\nfunc f() { os.Exit(1) }\n",
		"import \"os\"\n//line other.y:700\nfunc f() { htrim7qExit(1) }\n"+last, false)
}

func TestHookExitsRefuses(t *testing.T) {
	if _, err := hookExits("x.go", []byte("package main\nfunc {")); err == nil ||
		!strings.Contains(err.Error(), "x.go:2") {
		t.Errorf("got %v, want an error at x.go:2", err)
	}
}

// buildOverlay builds the main package in dir with the recorder.
func buildOverlay(t *testing.T, dir string, flags ...string) (bin string, notes []string) {
	t.Helper()
	tool := gocmd.Tool{Dir: dir, Flags: flags}
	p, err := tool.MainPackage(context.Background(), ".")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	overlay, notes, err := commandOverlay(tmp, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	bin = filepath.Join(tmp, "x.exe")
	if _, err := tool.Output(context.Background(), "build", "-overlay", overlay, "-o", bin, "."); err != nil {
		t.Fatal(err)
	}
	return bin, notes
}

// TestOverlayKeepsLines compares the line numbers that a program reports with and
// without the overlay, and under a build tag.
func TestOverlayKeepsLines(t *testing.T) {
	dir := recordtest.WriteTree(t,
		"go.mod", "module example.com/lines\n\ngo 1.20\n",
		"main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime\"\n)\n\nfunc main() {\n\t_, f, l, _ := "+
			"runtime.Caller(0)\n\tfmt.Println(f, l)\n\tleave()\n}\n",
		"leave.go", "//go:build !quiet\n\npackage main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"runtime\"\n)\n\nfunc "+
			"leave() {\n\t_, f, l, _ := runtime.Caller(0)\n\tfmt.Println(f, l)\n\tos.Exit(4)\n}\n",
		"quiet.go", "//go:build quiet\n\npackage main\n\nimport \"os\"\n\nfunc leave() { os.Exit(5) }\n",
	)
	for flag, code := range map[string]int{"": 4, "-tags=quiet": 5} {
		var flags []string
		if flag != "" {
			flags = []string{flag}
		}
		bin, notes := buildOverlay(t, dir, flags...)
		if len(notes) > 0 {
			t.Errorf("notes: %q", notes)
		}
		with := exec.Command(bin)
		got, _ := with.Output()
		plain := filepath.Join(t.TempDir(), "plain.exe")
		if _, err := (gocmd.Tool{Dir: dir, Flags: flags}).Output(context.Background(), "build", "-o", plain,
			"."); err != nil {
			t.Fatal(err)
		}
		want, _ := exec.Command(plain).Output()
		if string(got) != string(want) || len(want) == 0 {
			t.Errorf("%s: got %q, want %q", flag, got, want)
		}
		if got := with.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d, want %d", flag, got, code)
		}
	}
}

func TestOverlayOfCgo(t *testing.T) {
	if env, err := (gocmd.Tool{}).Settings(context.Background(), "CGO_ENABLED", "CC"); err != nil ||
		env["CGO_ENABLED"] != "1" {
		t.Skip("cgo is off")
	} else if _, err := exec.LookPath(strings.Fields(env["CC"])[0]); err != nil {
		t.Skip("no C compiler")
	}
	dir := recordtest.WriteTree(t,
		"go.mod", "module example.com/c\n\ngo 1.20\n",
		"main.go", "package main\n\n// static int three(void) { return 3; }\nimport \"C\"\n\nimport \"os\"\n\nfunc "+
			"main() {\n\tdefer os.Exit(int(C.three()))\n}\n",
	)
	bin, notes := buildOverlay(t, dir)
	if len(notes) != 1 || !strings.Contains(notes[0], "func main") {
		t.Errorf("notes = %q", notes)
	}
	cmd := exec.Command(bin)
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 3 {
		t.Errorf("exit code %d, want 3", got)
	}
}

func TestOverlayNeedsMain(t *testing.T) {
	if _, _, err := commandOverlay(t.TempDir(), gocmd.Package{ImportPath: "fmt", Name: "fmt"}, nil); err == nil {
		t.Error("no error for a package that is not main")
	}
}
