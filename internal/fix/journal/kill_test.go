//go:build unix

package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKillProcess kills a process that changes files again and again, at moments by lot: after the next
// command the tree is that before or after one whole change, and nothing is left behind.
func TestKillProcess(t *testing.T) {
	if dir := os.Getenv("JOURNAL_TEST_TREE"); dir != "" {
		changeForEver(t, dir, &Store{Dir: os.Getenv("JOURNAL_TEST_STORE")})
	}
	kills := 50
	if testing.Short() {
		kills = 5
	}
	for turn := range kills {
		dir := t.TempDir()
		s := &Store{Dir: t.TempDir()}
		for _, name := range []string{"a.go", "b.go"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("0"), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillProcess$")
		cmd.Env = append(os.Environ(), "JOURNAL_TEST_TREE="+dir, "JOURNAL_TEST_STORE="+s.Dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for { // until it has begun
			if text, err := os.ReadFile(filepath.Join(dir, "a.go")); err == nil && string(text) != "0" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(rand.N(30 * time.Millisecond))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it was not killed")
		}
		if _, err := s.Recover(t.Context()); err != nil {
			t.Errorf("turn %d: %v", turn, err)
		}
		whole(t, dir)
		if l := left(t, s); len(l) > 0 {
			t.Errorf("turn %d: %s are left", turn, l)
		}
	}
}

// changeForEver writes 1, 2, 3, … into both files.
func changeForEver(t *testing.T, dir string, s *Store) {
	if _, remove, err := s.Work(); err != nil {
		t.Fatal(err)
	} else {
		defer remove()
	}
	now := "0"
	for n := 1; ; n++ {
		c := Change{Module: dir, Run: fmt.Sprint(n / 10), Read: map[string][]byte{}, Files: map[string][]byte{}}
		for _, name := range []string{"a.go", "b.go"} {
			c.Read[filepath.Join(dir, name)], c.Files[filepath.Join(dir, name)] = []byte(now), []byte(fmt.Sprint(n))
		}
		now = fmt.Sprint(n)
		if err := s.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// whole reports a tree whose files are not of one change, or that has others.
func whole(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, e.Name()+"="+string(text))
	}
	if len(texts) != 2 || strings.TrimPrefix(texts[0], "a.go=") != strings.TrimPrefix(texts[1], "b.go=") {
		t.Errorf("the tree is %v", texts)
	}
}
