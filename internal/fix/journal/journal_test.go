package journal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is a module of two files, as they are, and as a fix makes them.
func tree(t *testing.T) (dir string, before, after map[string][]byte) {
	t.Helper()
	dir = t.TempDir()
	before, after = map[string][]byte{}, map[string][]byte{}
	for _, name := range []string{"a.go", "b.go"} {
		at := filepath.Join(dir, name)
		before[at], after[at] = []byte("old "+name), []byte("new "+name)
		if err := os.WriteFile(at, before[at], 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return dir, before, after
}

// is reports whether all files have the content of one version, and nothing else is there.
func is(t *testing.T, dir string, want map[string][]byte) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		return false
	}
	for name, text := range want {
		have, err := os.ReadFile(name)
		if err != nil || string(have) != string(text) {
			return false
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
			return false
		}
	}
	return true
}

// errCut is what a step fails with.
var errCut = errors.New("cut")

// stores is a store whose n-th step and all that follow do as told.
func stores(dir string, n int, do func() error) *Store {
	return &Store{Dir: dir, Step: func(string) error {
		if n--; n < 0 {
			return do()
		}
		return nil
	}}
}

// killed calls do in another goroutine and stops it for ever before its n-th step, as a kill does:
// nothing that is deferred runs. It returns false if there are fewer steps.
func killed(s *Store, n int, do func(s *Store)) bool {
	stopped, done := make(chan bool), make(chan bool)
	cut := stores(s.Dir, n, func() error {
		close(stopped)
		select {}
	})
	go func() {
		do(cut)
		close(done)
	}()
	select {
	case <-stopped:
		return true
	case <-done:
		return false
	}
}

// left are the folders of a store that are neither a change that can be taken back nor its module.
func left(t *testing.T, s *Store) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(s.Dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(filepath.Base(name), donePrefix) })
}

// TestKilled: ended before any write, sync, rename or removal, a change is whole or not there after
// the next command, and leaves nothing behind; so is taking it back.
func TestKilled(t *testing.T) {
	for _, undo := range []bool{false, true} {
		for n := 0; ; n++ {
			dir, before, after := tree(t)
			s := &Store{Dir: t.TempDir()}
			do := func(s *Store) { _ = s.Apply(t.Context(), change(dir, before, after)) }
			if undo {
				do(s)
				do = func(s *Store) { _, _ = s.Undo(t.Context(), dir) }
			}
			if !killed(s, n, do) {
				if n < 7 || is(t, dir, before) != undo || is(t, dir, after) == undo {
					t.Fatalf("undo %v: only %d steps, or not done", undo, n)
				}
				break
			}
			// What Recover does may be cut short, too.
			for m := range 3 {
				killed(s, m, func(s *Store) { _, _ = s.Recover(t.Context()) })
			}
			if _, err := s.Recover(t.Context()); err != nil {
				t.Errorf("undo %v, killed before step %d: %v", undo, n, err)
			}
			if !is(t, dir, before) && !is(t, dir, after) {
				t.Errorf("undo %v, killed before step %d: neither the old tree nor the new one", undo, n)
			}
			if l := left(t, s); len(l) > 0 {
				t.Errorf("undo %v, killed before step %d: %s are left", undo, n, l)
			}
		}
	}
}

// TestFails: when any step fails, the tree is as before, and nothing is left behind.
func TestFails(t *testing.T) {
	for n := 0; ; n++ {
		dir, before, after := tree(t)
		s := &Store{Dir: t.TempDir()}
		at := n
		failing := &Store{Dir: s.Dir, Step: func(string) error {
			if at--; at == -1 {
				return errCut
			}
			return nil
		}}
		err := failing.Apply(t.Context(), change(dir, before, after))
		if err == nil {
			if n < 9 {
				t.Errorf("only %d steps", n)
			}
			break
		}
		if !errors.Is(err, errCut) {
			t.Errorf("step %d: %v", n, err)
		}
		if _, err := s.Recover(t.Context()); err != nil {
			t.Errorf("step %d: %v", n, err)
		}
		if !is(t, dir, before) && !is(t, dir, after) {
			t.Errorf("step %d failed: neither the old tree nor the new one", n)
		}
	}
}

func change(dir string, before, after map[string][]byte) Change {
	return Change{Module: dir, Run: "1", Read: before, Files: after}
}

// TestUndo takes the changes of a run back, those of an earlier one not.
func TestUndo(t *testing.T) {
	dir, before, after := tree(t)
	s := &Store{Dir: t.TempDir()}
	if _, err := s.Undo(t.Context(), dir); err == nil {
		t.Error("nothing to take back: no error")
	}
	apply := func(run, name, from, to string) {
		t.Helper()
		c := Change{Module: dir, Run: run, Read: map[string][]byte{filepath.Join(dir, name): []byte(from)}, Files: map[string][]byte{filepath.Join(dir, name): []byte(to)}}
		if from == "" {
			c.Read = nil
		}
		if to == "" {
			c.Files = map[string][]byte{filepath.Join(dir, name): nil}
		}
		if err := s.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Apply(t.Context(), change(dir, before, after)); err != nil {
		t.Fatal(err)
	}
	apply("2", "a.go", "new a.go", "newer a.go")
	apply("2", "c.go", "", "made")
	apply("2", "b.go", "new b.go", "")
	apply("2", "a.go", "newer a.go", "newest a.go")
	if names, err := s.Undo(t.Context(), dir); err != nil || len(names) != 3 || !is(t, dir, after) {
		t.Errorf("%v, %v, taken back %v", names, err, is(t, dir, after))
	}
	if _, err := s.Undo(t.Context(), dir); err == nil {
		t.Error("an earlier run is taken back")
	}
}

// TestCommits: changes are commits, and are taken back by commits; what was cut short after the commit is
// whole, before it undone.
func TestCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for n, more := 0, true; more; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) { more = commits(t, n) })
	}
}

// commits kills a change that is a commit before its n-th step; false if there are fewer.
func commits(t *testing.T, n int) bool {
	dir, before, after := tree(t)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "user.name", "a")
	git("config", "user.email", "a@example.com")
	git("add", ".")
	git("commit", "-qm", "start")
	gitDir := filepath.Join(t.TempDir(), "git") // so that the tree holds nothing but the files
	if err := os.Rename(filepath.Join(dir, ".git"), gitDir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", gitDir)
	t.Setenv("GIT_WORK_TREE", dir)
	s := &Store{Dir: t.TempDir()}
	c := change(dir, before, after)
	c.Commit = &Commit{Dir: dir, ID: "id", Subject: "less memory"}
	cut := killed(s, n, func(s *Store) { _ = s.Apply(t.Context(), c) })
	if _, err := s.Recover(t.Context()); err != nil {
		t.Errorf("killed before step %d: %v", n, err)
	}
	done := strings.Contains(git("log", "--format=%s"), "less memory")
	if done != is(t, dir, after) || done == is(t, dir, before) || git("status", "--porcelain") != "" {
		t.Errorf("killed before step %d: committed %v, changed %v", n, done, is(t, dir, after))
	}
	if cut {
		return true
	}
	if _, err := s.Undo(t.Context(), dir); err != nil || !is(t, dir, before) || !strings.Contains(git("log", "--format=%s"), "Take back: less memory") {
		t.Errorf("taken back: %v, %s", err, git("log", "--format=%s"))
	}
	return false
}

// TestUserChanges: what the user writes is never overwritten, before a fix or after it.
func TestUserChanges(t *testing.T) {
	dir, before, after := tree(t)
	s := &Store{Dir: t.TempDir()}
	a := filepath.Join(dir, "a.go")
	mine := []byte("mine")
	if err := os.WriteFile(a, mine, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), change(dir, before, after)); !errors.Is(err, ErrChanged) {
		t.Errorf("a changed file: %v, want %v", err, ErrChanged)
	}
	before[a] = mine
	if !is(t, dir, before) {
		t.Error("a fix that was refused changed something")
	}
	if err := s.Apply(t.Context(), change(dir, before, after)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a, []byte("later"), 0o640); err != nil {
		t.Fatal(err)
	}
	after[a] = []byte("later")
	if _, err := s.Undo(t.Context(), dir); !errors.Is(err, ErrChanged) || !is(t, dir, after) {
		t.Errorf("%v, want %v and no change", err, ErrChanged)
	}
}

// TestAnother: a fix that another process has begun is neither joined nor undone.
func TestAnother(t *testing.T) {
	dir, before, after := tree(t)
	s := &Store{Dir: t.TempDir()}
	if !killed(s, 9, func(s *Store) { _ = s.Apply(t.Context(), change(dir, before, after)) }) {
		t.Fatal("not cut")
	}
	j, err := readList(filepath.Join(s.at(dir), pendingName))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), change(dir, before, after)); err == nil {
		t.Error("a second fix: no error")
	}
	if running(j.Process, j.Started) {
		t.Error("this process counts as another")
	}
	if !running(os.Getppid(), "") {
		t.Error("the process that started this one does not count")
	}
}
