package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/fix/repo"
)

// Undo takes the changes of the last run of a module back, the last one first. It returns the names of
// the files. A file that was changed after it stops it before anything is written. Changes that are
// commits are taken back by commits.
func (s *Store) Undo(ctx context.Context, module string) ([]string, error) {
	at := s.at(module)
	if _, err := os.Stat(filepath.Join(at, pendingName)); err == nil {
		return nil, ErrBusy
	}
	done, err := entries(at, donePrefix)
	if err != nil {
		return nil, err
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("no fix of %s to take back", module)
	}
	slices.Reverse(done)
	if err := s.untouched(at, done); err != nil {
		return nil, err
	}
	var names []string
	for _, name := range done {
		l, err := readList(filepath.Join(at, name))
		if err != nil {
			return names, err
		}
		if err := s.takeBack(ctx, module, filepath.Join(at, name), l); err != nil {
			return names, err
		}
		for _, f := range l.Files {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names, nil
}

// untouched reports a file that is not as the run left it. An earlier undo that was cut short may have
// taken some back.
func (s *Store) untouched(at string, done []string) error {
	expected := map[string][]string{}
	for _, name := range done {
		l, err := readList(filepath.Join(at, name))
		if err != nil {
			return err
		}
		for _, f := range l.Files {
			if expected[f.Name] == nil {
				expected[f.Name] = []string{f.After, f.Before}
			}
		}
	}
	for name, hashes := range expected {
		now, err := current(name)
		if err != nil {
			return err
		}
		if !slices.Contains(hashes, now) {
			return fmt.Errorf("%s: %w: it is not as the fix left it", name, ErrChanged)
		}
	}
	return nil
}

// takeBack undoes one change and removes its journal.
func (s *Store) takeBack(ctx context.Context, module, dir string, l *list) error {
	if l.Commit == nil {
		if err := s.step("take back"); err != nil {
			return err
		}
		pending := filepath.Join(s.at(module), pendingName)
		if err := os.Rename(dir, pending); err != nil {
			return err
		}
		return s.restore(pending)
	}
	c := Change{Module: module, Run: l.Run, Read: map[string][]byte{}, Files: map[string][]byte{}, undo: true}
	back := l.Commit.Back()
	c.Commit = &back
	already := true
	for i, f := range l.Files {
		now, err := current(f.Name)
		if err != nil {
			return err
		}
		already = already && now == f.Before
		if f.After != "" {
			if c.Read[f.Name], err = os.ReadFile(f.Name); err != nil {
				return err
			}
		}
		c.Files[f.Name] = nil
		if f.Before != "" {
			if c.Files[f.Name], err = os.ReadFile(filepath.Join(dir, strconv.Itoa(i))); err != nil {
				return err
			}
		}
	}
	if !already {
		if err := s.Apply(ctx, c); err != nil {
			return err
		}
	}
	return s.discard(dir)
}

// restore puts back what was there before the change of a journal, where it is as the change
// left it, and removes the journal and what it left behind.
func (s *Store) restore(dir string) error {
	l, err := readList(dir)
	if err != nil {
		return err
	}
	for i, f := range l.Files {
		if err := ignoreMissing(os.Remove(f.Temp)); err != nil {
			return err
		}
		now, err := current(f.Name)
		if err != nil || now != f.After || f.After == f.Before {
			continue // not changed yet, or the user's since
		}
		var old []byte
		if f.Before != "" {
			if old, err = os.ReadFile(filepath.Join(dir, strconv.Itoa(i))); err != nil {
				return err
			}
		}
		if err := s.replace(f, old); err != nil {
			return err
		}
		if f.Before == "" {
			continue
		}
		if err := os.Chtimes(f.Name, f.Time, f.Time); err != nil {
			return err
		}
	}
	return s.discard(dir)
}

// discard removes a journal: at once by its name, then what is in it.
func (s *Store) discard(dir string) error {
	if err := s.step("remove journal"); err != nil {
		return err
	}
	gone := dir + goneSuffix
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// Recover undoes the changes whose process ended before they were whole, in all modules, or finishes
// those whose commit is there, and removes what the process left. It returns the files concerned.
func (s *Store) Recover(ctx context.Context) ([]string, error) {
	modules, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	var errs []error
	for _, m := range modules {
		at := filepath.Join(s.Dir, m.Name())
		if m.Name() == workName {
			errs = append(errs, sweep(at, ""))
			continue
		}
		pending := filepath.Join(at, pendingName)
		l, err := readList(pending)
		if err == nil && !running(l.Process, l.Started) {
			for _, f := range l.Files {
				names = append(names, f.Name)
			}
			errs = append(errs, s.settle(ctx, at, l))
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		errs = append(errs, sweep(at, newPrefix))
	}
	return names, errors.Join(errs...)
}

// settle ends a change that was cut short.
func (s *Store) settle(ctx context.Context, at string, l *list) error {
	if l.Commit != nil && l.Commit.IsThere(ctx) {
		return s.finish(at, l)
	}
	return s.restore(filepath.Join(at, pendingName))
}

// sweep removes what processes that are gone left in a folder.
func sweep(at, prefix string) error {
	all, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range all {
		pid, rest, _ := strings.Cut(strings.TrimPrefix(e.Name(), prefix), "-")
		began, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		dead := strings.HasPrefix(e.Name(), prefix) && err == nil && !(prefix == "" && running(n, began)) && !(prefix != "" && running(n, ""))
		if dead || strings.HasSuffix(e.Name(), goneSuffix) {
			errs = append(errs, os.RemoveAll(filepath.Join(at, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// workName is the folder for temporary files of processes that fix.
const workName = "work"

// Work makes a folder for the temporary files of this process and of those that it starts. What a
// process that was killed left there is removed by Recover. The function that is returned removes it.
func (s *Store) Work() (string, func() error, error) {
	at := filepath.Join(s.Dir, workName)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(at, fmt.Sprintf("%d-%s-", os.Getpid(), started(os.Getpid())))
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// Commit is made of a change: see package repo.
type Commit = repo.Commit
