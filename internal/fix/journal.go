package fix

import (
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

	"github.com/heaptrim/heaptrim/internal/tempfile"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// A change of the user's files is written ahead: the content before and after it goes into a
// folder beside others in the user's cache, which then gets the name pending. Only then are
// files replaced, one by one, each whole. When all are, the folder becomes last, from which the
// change can be taken back. A folder called pending whose process is gone is undone.
const (
	pendingName = "pending"
	lastName    = "last"
	listName    = "journal.json"
	newPrefix   = "new-"  // with the number of the process
	goneSuffix  = "-gone" // of what is being removed
)

// journal is the list of a change.
type journal struct {
	Process int         `json:"process"`
	Files   []journaled `json:"files"`
}

// journaled is one file of a change. Its content is in the journal's folder, by its number.
type journaled struct {
	Name   string      `json:"name"`
	Temp   string      `json:"temp"` // that takes its place
	Mode   fs.FileMode `json:"mode"`
	Time   time.Time   `json:"time"`   // when it was changed last
	Before string      `json:"before"` // hash of the content
	After  string      `json:"after"`
}

// ErrChanged means that a file is not as it was when the edit was made or applied.
var ErrChanged = errors.New("changed meanwhile")

// Store keeps the journals of changes, one folder for each module.
type Store struct {
	Dir  string            // such as heaptrim/fix in the user's cache
	step func(what string) // called before each change of a file, for tests; may be nil
}

// NewStore is the store in the user's cache.
func NewStore() (*Store, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("where to keep what undoes a fix: %w", err)
	}
	return &Store{Dir: filepath.Join(dir, "heaptrim", "fix")}, nil
}

func (s *Store) at(module string) string { return filepath.Join(s.Dir, digest([]byte(module))[:16]) }

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func (s *Store) before(what string) {
	if s.step != nil {
		s.step(what)
	}
}

// Apply writes the new content of files of a module, all or none, if they still are as read has
// them. What was there before can be had back by Undo.
func (s *Store) Apply(module string, read, files trial.Files) error {
	at := s.at(module)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	j, err := s.writeAhead(at, read, files)
	if err != nil {
		return err
	}
	if err := s.replaceAll(j, files); err != nil {
		return errors.Join(err, s.restore(filepath.Join(at, pendingName)))
	}
	s.before("remove last")
	if err := os.RemoveAll(filepath.Join(at, lastName)); err != nil {
		return err
	}
	s.before("rename pending")
	return os.Rename(filepath.Join(at, pendingName), filepath.Join(at, lastName))
}

// writeAhead makes the folder pending.
func (s *Store) writeAhead(at string, read, files trial.Files) (*journal, error) {
	if _, err := os.Stat(filepath.Join(at, pendingName)); err == nil {
		return nil, errors.New("another heaptrim fix of this module is under way")
	}
	s.before("make journal")
	tmp, err := os.MkdirTemp(at, fmt.Sprintf("%s%d-", newPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	j := &journal{Process: os.Getpid()}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		now, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if string(now) != string(read[name]) {
			return nil, fmt.Errorf("%s: %w", name, ErrChanged)
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		target := tempfile.Target(name)
		temp := filepath.Join(filepath.Dir(target), fmt.Sprintf(".heaptrim-fix-%s", digest([]byte(name + strconv.Itoa(j.Process)))[:12]))
		j.Files = append(j.Files, journaled{name, temp, info.Mode().Perm(), info.ModTime(), digest(now), digest(files[name])})
		if err := s.store(filepath.Join(tmp, strconv.Itoa(i)), now); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if err := s.store(filepath.Join(tmp, listName), list); err != nil {
		return nil, err
	}
	s.before("commit journal")
	return j, os.Rename(tmp, filepath.Join(at, pendingName))
}

// store writes a file and waits for the disk.
func (s *Store) store(name string, content []byte) error {
	s.before("write " + filepath.Base(name))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	s.before("sync " + filepath.Base(name))
	return errors.Join(err, f.Sync(), f.Close())
}

func (s *Store) replaceAll(j *journal, files trial.Files) error {
	for _, f := range j.Files {
		if err := s.replace(f, files[f.Name]); err != nil {
			return err
		}
	}
	return nil
}

// replace gives a file new content by renaming a whole one.
func (s *Store) replace(f journaled, content []byte) error {
	if err := s.store(f.Temp, content); err != nil {
		return errors.Join(err, os.Remove(f.Temp))
	}
	if err := os.Chmod(f.Temp, f.Mode); err != nil {
		return err
	}
	s.before("rename " + filepath.Base(f.Name))
	return os.Rename(f.Temp, tempfile.Target(f.Name))
}

// Undo takes the last change of a module back. It returns the names of the files. A file that
// was changed after it stops it before anything is written.
func (s *Store) Undo(module string) ([]string, error) {
	last := filepath.Join(s.at(module), lastName)
	j, err := readJournal(last)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no fix of %s to take back", module)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range j.Files {
		now, err := os.ReadFile(f.Name)
		if err != nil {
			return nil, err
		}
		if d := digest(now); d != f.After && d != f.Before {
			return nil, fmt.Errorf("%s: %w: it is not as the fix left it", f.Name, ErrChanged)
		}
		names = append(names, f.Name)
	}
	return names, s.restore(last)
}

func readJournal(dir string) (*journal, error) {
	text, err := os.ReadFile(filepath.Join(dir, listName))
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, listName), err)
	}
	return &j, nil
}

// restore puts back what was there before the change of a journal, where it is as the change
// left it, and removes the journal and what it left behind.
func (s *Store) restore(dir string) error {
	j, err := readJournal(dir)
	if err != nil {
		return err
	}
	for i, f := range j.Files {
		if err := os.Remove(f.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		now, err := os.ReadFile(f.Name)
		if err != nil || digest(now) != f.After {
			continue // not changed yet, or the user's since
		}
		old, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		if err := s.replace(f, old); err != nil {
			return err
		}
		if err := os.Chtimes(f.Name, f.Time, f.Time); err != nil {
			return err
		}
	}
	s.before("remove journal")
	gone := dir + goneSuffix
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// Recover undoes the changes whose process ended before they were whole, in all modules, and
// returns the files concerned.
func (s *Store) Recover() ([]string, error) {
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
		j, err := readJournal(filepath.Join(at, pendingName))
		if err == nil && !running(j.Process) {
			for _, f := range j.Files {
				names = append(names, f.Name)
			}
			errs = append(errs, s.restore(filepath.Join(at, pendingName)))
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		errs = append(errs, sweep(at))
	}
	return names, errors.Join(errs...)
}

// sweep removes what processes that were killed left in the folder of a module.
func sweep(at string) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		pid, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), newPrefix), "-")
		n, err := strconv.Atoi(pid)
		dead := strings.HasPrefix(e.Name(), newPrefix) && err == nil && !running(n)
		if dead || strings.HasSuffix(e.Name(), goneSuffix) {
			errs = append(errs, os.RemoveAll(filepath.Join(at, e.Name())))
		}
	}
	return errors.Join(errs...)
}
