package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// TestCheck: a change that compiles here can be wrong for another platform, another tag, or small
// integers; what is wrong there before is not its fault.
func TestCheck(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":       "module example.com/p\n\ngo 1.24\n",
		"p.go":         "package p\n\nfunc F() string { return name() + other() }\n\nfunc other() string { return \"\" }\n",
		"p_linux.go":   "package p\n\nfunc name() string { return \"linux\" }\n",
		"p_plan9.go":   "package p\n\nvar pool = 1\n\nfunc name() string { return \"plan9\" + missing }\n",
		"p_windows.go": "package p\n\nfunc name() string { return other() }\n",
		"tagged.go":    "//go:build special\n\npackage p\n\nvar table = 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := gocmd.Tool{Dir: dir}
	list, err := tool.Packages(t.Context(), []string{"."})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f := func(text, want string) {
		t.Helper()
		got, err := Check(t.Context(), tool, list[0], version.Files{filepath.Join(dir, "p.go"): []byte(text)})
		if err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	const head, tail = "package p\n\n", "\n\nfunc F() string { return name() + other() }\n\nfunc other() string { return \"\" }\n"
	f(head+"var buffer = 1"+tail, "")
	f(head+"import \"strings\"\n\nvar upper = strings.ToUpper"+tail, "")
	f(head+"var pool = 1"+tail, "plan9")
	f(head+"var table = 1"+tail, "-tags=special")
	f(head+"var large int = 1 << 40"+tail, "386")
	f(head+"func F() string { return name() + others() }\n\nfunc others() string { return \"\" }\n", "windows")
}
