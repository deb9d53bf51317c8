package fix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/trial"
)

// tree is a module of two files, as they are, and as a fix makes them.
func tree(t *testing.T) (dir string, before, after trial.Files) {
	t.Helper()
	dir = t.TempDir()
	before, after = trial.Files{}, trial.Files{}
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
func is(t *testing.T, dir string, want trial.Files) bool {
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

// cut calls do and stops it for ever before its n-th step, as a kill does: nothing that is
// deferred runs. It returns false if there are fewer steps.
func cut(s *Store, n int, do func(s *Store)) bool {
	stopped, done := make(chan bool), make(chan bool)
	copied := &Store{Dir: s.Dir, step: func(string) {
		if n--; n < 0 {
			close(stopped)
			select {}
		}
	}}
	go func() {
		do(copied)
		close(done)
	}()
	select {
	case <-stopped:
		return true
	case <-done:
		return false
	}
}

// TestCutShort: ended before any write, sync, rename or removal, a fix is whole or not there after
// the next command, and leaves nothing behind.
func TestCutShort(t *testing.T) {
	for n := 0; ; n++ {
		dir, before, after := tree(t)
		s := &Store{Dir: t.TempDir()}
		var err error
		ended := cut(s, n, func(s *Store) { err = s.Apply(dir, before, after) })
		if !ended {
			if err != nil || !is(t, dir, after) || n < 10 {
				t.Fatalf("after %d steps: %v, applied %v", n, err, is(t, dir, after))
			}
			return
		}
		// What Recover does may be cut short, too.
		for m := range 3 {
			cut(s, m, func(s *Store) { _, _ = s.Recover() })
		}
		if _, err := s.Recover(); err != nil {
			t.Errorf("cut before step %d: %v", n, err)
		}
		if !is(t, dir, before) && !is(t, dir, after) {
			t.Errorf("cut before step %d: neither the old tree nor the new one", n)
		}
		left, err := filepath.Glob(filepath.Join(s.Dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range left {
			if filepath.Base(l) != lastName {
				t.Errorf("cut before step %d: %s is left", n, l)
			}
		}
	}
}

func TestUndo(t *testing.T) {
	dir, before, after := tree(t)
	s := &Store{Dir: t.TempDir()}
	if _, err := s.Undo(dir); err == nil {
		t.Error("nothing to take back: no error")
	}
	if err := s.Apply(dir, before, after); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Undo(dir); err != nil || len(names) != 2 || !is(t, dir, before) {
		t.Errorf("%v, %v, taken back %v", names, err, is(t, dir, before))
	}
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
	if err := s.Apply(dir, before, after); !errors.Is(err, ErrChanged) {
		t.Errorf("a changed file: %v, want %v", err, ErrChanged)
	}
	before[a] = mine
	if !is(t, dir, before) {
		t.Error("a fix that was refused changed something")
	}
	if err := s.Apply(dir, before, after); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a, []byte("later"), 0o640); err != nil {
		t.Fatal(err)
	}
	after[a] = []byte("later")
	if _, err := s.Undo(dir); !errors.Is(err, ErrChanged) || !is(t, dir, after) {
		t.Errorf("%v, want %v and no change", err, ErrChanged)
	}
}

// TestAnother: a fix that another process has begun is neither joined nor undone.
func TestAnother(t *testing.T) {
	dir, before, after := tree(t)
	s := &Store{Dir: t.TempDir()}
	if !cut(s, 9, func(s *Store) { _ = s.Apply(dir, before, after) }) {
		t.Fatal("not cut")
	}
	j, err := readJournal(filepath.Join(s.at(dir), pendingName))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(dir, before, after); err == nil {
		t.Error("a second fix: no error")
	}
	if running(j.Process) {
		t.Error("this process counts as another")
	}
	if !running(os.Getppid()) {
		t.Error("the process that started this one does not count")
	}
}
