package arena_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const misuseSource = "testdata/misuse/main.go"

var (
	// rawUses go past the package: only the race detector sees the place.
	rawUses = []string{"read-field", "write-field", "write-pointer", "read-slice", "write-big", "copy-text", "print-text",
		"copy-array", "other-goroutine"}
	// rawWrites are those of them that a later Free finds without it.
	rawWrites = []string{"write-field", "write-pointer", "write-big"}
	seenUses  = []string{"append", "append-slice", "clone", "string", "clone-string", "slab-append", "slab-grow", "tail"}
	freedUses = []string{"new", "make-slice", "slab-new", "reset-freed"}
	modes     = []string{"drop", "reuse"}
)

// mistake is one run of testdata/misuse. The report must name the line marked
// with use, if there is one, and that marked with back.
type mistake struct{ end, use, mode, useMark, backMark string }

func mistakes(race bool) []mistake {
	var list []mistake
	for _, mode := range modes {
		for _, end := range []string{"reset", "free", "fork-reset", "fork-free"} {
			uses := seenUses
			if race {
				uses = append(uses[:len(uses):len(uses)], rawUses...)
			}
			if strings.HasSuffix(end, "free") {
				uses = append(uses[:len(uses):len(uses)], freedUses...)
			}
			for _, use := range uses {
				list = append(list, mistake{end, use, mode, "use:" + use, "back:" + end})
			}
			if !race {
				for _, use := range rawWrites {
					list = append(list, mistake{end, use, mode, "found:free", "back:" + end})
				}
			}
		}
		for _, use := range []string{"new", "slab", "own-slab", "reset"} {
			list = append(list, mistake{"leak", use, mode, "", "back:leak-" + use})
		}
		for _, use := range []string{"new", "append", "reset"} {
			list = append(list, mistake{"concurrent", use, mode, "use:concurrent-" + use, "back:concurrent"})
		}
	}
	return list
}

func TestMisuse(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	marks := readMarks(t)
	for _, build := range []struct {
		name string
		flag string
		race bool
	}{{"heaptrimcheck", "-tags=heaptrimcheck", false}, {"race", "-race", true}} {
		t.Run(build.name, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "misuse.exe")
			if out, err := exec.Command("go", "build", build.flag, "-o", exe, "./"+filepath.Dir(misuseSource)).CombinedOutput(); err != nil {
				if build.race {
					t.Skipf("no race detector here: %s", out)
				}
				t.Fatalf("build: %v\n%s", err, out)
			}
			list := mistakes(build.race)
			t.Logf("%d programs", len(list))
			for _, m := range list {
				checkFound(t, exe, m, marks)
			}
		})
	}
}

func checkFound(t *testing.T, exe string, m mistake, marks map[string]int) {
	t.Helper()
	cmd := exec.Command(exe, m.end, m.use, m.mode)
	cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	out, _ := cmd.CombinedOutput()
	for _, mark := range []string{m.useMark, m.backMark} {
		if mark == "" {
			continue
		}
		line, ok := marks[mark]
		if !ok {
			t.Errorf("%s has no line marked %q", misuseSource, mark)
		}
		if !regexp.MustCompile(fmt.Sprintf(`main\.go:%d\b`, line)).Match(out) {
			t.Errorf("%s, %s, %s: the report does not name line %d, %q:\n%s", m.end, m.use, m.mode, line, mark, out)
		}
	}
}

// readMarks returns the lines of the marks in the source of the programs.
func readMarks(t *testing.T) map[string]int {
	t.Helper()
	src, err := os.ReadFile(misuseSource)
	if err != nil {
		t.Fatal(err)
	}
	marks := make(map[string]int)
	for i, line := range strings.Split(string(src), "\n") {
		if _, mark, ok := strings.Cut(line, " // "); ok && strings.Contains(mark, ":") {
			marks[mark] = i + 1
		}
	}
	return marks
}
