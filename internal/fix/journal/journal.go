// Package journal writes the user's files, all of a change or none. A change is written ahead into a
// folder in the user's cache, so that one that was cut short is undone by the next command, and one
// that is whole can be taken back.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/fix/repo"
	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// The content before a change goes into a folder beside others, which then gets the name pending.
// Only then are files replaced, one by one, each whole, and a commit is made, if one is wanted. Then
// the folder gets the name of its run, from which the change can be taken back. A folder called
// pending whose process is gone is undone, unless its commit is there.
const (
	pendingName = "pending"
	donePrefix  = "done-" // with the run and the number of the change in it
	listName    = "journal.json"
	newPrefix   = "new-"  // with the number of the process
	goneSuffix  = "-gone" // of what is being removed
	tempPrefix  = ".heaptrim-fix-"
)

// list is what is written of a change.
type list struct {
	Process int          `json:"process"`
	Started string       `json:"started"` // when the process began, as the system has it
	Run     string       `json:"run"`
	Files   []entry      `json:"files"`
	Commit  *repo.Commit `json:"commit,omitempty"`
	Undo    bool         `json:"undo,omitempty"` // it takes another change back
}

// entry is one file of a change. What it was before is in the folder, by the entry's number.
type entry struct {
	Name   string      `json:"name"`
	Temp   string      `json:"temp"` // that takes its place
	Mode   fs.FileMode `json:"mode"`
	Time   time.Time   `json:"time"`   // when it was changed last
	Before string      `json:"before"` // hash of the content; empty for a file that was not there
	After  string      `json:"after"`  // empty for one that is removed
}

// ErrChanged means that a file is not as it was when the edit was made or applied.
var ErrChanged = errors.New("changed meanwhile")

// ErrBusy means that another process is changing files of the module.
var ErrBusy = errors.New("another heaptrim fix of this module is under way")

// Change is what is to be done to files of a module. A file without content is removed; one that
// Read does not have is new.
type Change struct {
	Module string // its folder
	Run    string // all changes of a run are taken back together
	Read   map[string][]byte
	Files  map[string][]byte
	Commit *repo.Commit // made of the files; nil for none

	undo bool
}

// Store keeps the journals of changes, one folder for each module.
type Store struct {
	Dir  string                  // such as heaptrim/fix in the user's cache
	Step func(what string) error // called before each change on disk, to let it fail; may be nil
}

// NewStore is the store in the user's cache.
func NewStore() (*Store, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("where to keep what undoes a fix: %w", err)
	}
	return &Store{Dir: filepath.Join(dir, "heaptrim", "fix")}, nil
}

func (s *Store) at(module string) string { return filepath.Join(s.Dir, Digest([]byte(module))[:16]) }

// Digest is the hash by which content is compared.
func Digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// digestOf is that of a content that may be absent.
func digestOf(content []byte, there bool) string {
	if !there {
		return ""
	}
	return Digest(content)
}

func (s *Store) step(what string) error {
	if s.Step == nil {
		return nil
	}
	return s.Step(what)
}

// Apply makes a change, all or none of it, if the files still are as they were read.
func (s *Store) Apply(ctx context.Context, c Change) error {
	at := s.at(c.Module)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	l, err := s.writeAhead(at, c)
	if err != nil {
		return err
	}
	pending := filepath.Join(at, pendingName)
	if err := s.replaceAll(l, c.Files); err != nil {
		return errors.Join(err, s.restore(pending))
	}
	if c.Commit != nil {
		err := s.step("commit")
		if err == nil {
			err = c.Commit.Make(ctx, slices.Sorted(maps.Keys(c.Files)))
		}
		if err != nil {
			return errors.Join(err, s.restore(pending))
		}
	}
	return s.finish(at, l)
}

// finish gives a change that is whole its place among those of its run. Those of earlier runs cannot be
// taken back any more.
func (s *Store) finish(at string, l *list) error {
	pending := filepath.Join(at, pendingName)
	if l.Undo {
		return s.discard(pending)
	}
	done, err := entries(at, donePrefix)
	if err != nil {
		return err
	}
	n := 0
	for _, name := range done {
		if strings.HasPrefix(name, donePrefix+l.Run+"-") {
			n++
		} else if err := s.discard(filepath.Join(at, name)); err != nil {
			return err
		}
	}
	if err := s.step("rename pending"); err != nil {
		return err
	}
	return os.Rename(pending, filepath.Join(at, fmt.Sprintf("%s%s-%04d", donePrefix, l.Run, n)))
}

// entries are the names in a folder that begin with a prefix, in order.
func entries(dir, prefix string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range all {
		if strings.HasPrefix(e.Name(), prefix) && !strings.HasSuffix(e.Name(), goneSuffix) {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// writeAhead makes the folder pending.
func (s *Store) writeAhead(at string, c Change) (*list, error) {
	if _, err := os.Stat(filepath.Join(at, pendingName)); err == nil {
		return nil, ErrBusy
	}
	if err := s.step("make journal"); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(at, fmt.Sprintf("%s%d-", newPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	l := &list{Process: os.Getpid(), Started: started(os.Getpid()), Run: c.Run, Commit: c.Commit, Undo: c.undo}
	for i, name := range slices.Sorted(maps.Keys(c.Files)) {
		e, now, err := entryOf(name, c)
		if err != nil {
			return nil, err
		}
		l.Files = append(l.Files, e)
		if e.Before == "" {
			continue
		}
		if err := s.store(filepath.Join(tmp, strconv.Itoa(i)), now); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	if err := s.store(filepath.Join(tmp, listName), text); err != nil {
		return nil, err
	}
	if err := s.step("commit journal"); err != nil {
		return nil, err
	}
	return l, os.Rename(tmp, filepath.Join(at, pendingName))
}

// entryOf is the entry of a file, with its content now.
func entryOf(name string, c Change) (entry, []byte, error) {
	target := tempfile.Target(name)
	after, read := c.Files[name], c.Read[name]
	_, was := c.Read[name]
	e := entry{Name: name, Mode: 0o644, After: digestOf(after, after != nil),
		Temp: filepath.Join(filepath.Dir(target), tempPrefix+Digest([]byte(name + strconv.Itoa(os.Getpid())))[:12])}
	now, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !was:
		return e, nil, nil
	case err != nil:
		return e, nil, err
	case !was || string(now) != string(read):
		return e, nil, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	info, err := os.Stat(name)
	if err != nil {
		return e, nil, err
	}
	e.Mode, e.Time, e.Before = info.Mode().Perm(), info.ModTime(), Digest(now)
	return e, now, nil
}

// store writes a file and waits for the disk.
func (s *Store) store(name string, content []byte) error {
	if err := s.step("write " + filepath.Base(name)); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = s.step("sync " + filepath.Base(name))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func (s *Store) replaceAll(l *list, files map[string][]byte) error {
	for _, f := range l.Files {
		if err := s.replace(f, files[f.Name]); err != nil {
			return err
		}
	}
	return nil
}

// replace gives a file new content by renaming a whole one, or removes it.
func (s *Store) replace(f entry, content []byte) error {
	target := tempfile.Target(f.Name)
	if content == nil {
		if err := s.step("remove " + filepath.Base(f.Name)); err != nil {
			return err
		}
		return os.Remove(target)
	}
	if err := s.store(f.Temp, content); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(f.Temp)))
	}
	if err := os.Chmod(f.Temp, f.Mode); err != nil {
		return err
	}
	if err := s.step("rename " + filepath.Base(f.Name)); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(f.Temp)))
	}
	return os.Rename(f.Temp, target)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func readList(dir string) (*list, error) {
	text, err := os.ReadFile(filepath.Join(dir, listName))
	if err != nil {
		return nil, err
	}
	var l list
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, listName), err)
	}
	return &l, nil
}

// current is the hash of a file as it is; empty if it is not there.
func current(name string) (string, error) {
	now, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return digestOf(now, true), err
}
