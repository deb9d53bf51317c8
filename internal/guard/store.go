package guard

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/shelf"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// read reads the budgets from where they are kept.
func (m *module) read(ctx context.Context) (*budget.File, error) {
	text, err := os.ReadFile(m.file())
	if err != nil && (m.o.Store == "" || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f := &budget.File{Store: m.o.Store}
	if err == nil {
		if f, err = budget.Parse(budget.FileName, text); err != nil {
			return nil, err
		}
	}
	spec := m.o.Store
	if spec == "" {
		spec = f.Store
	}
	if spec == "" {
		return f, nil
	}
	s, err := shelf.Open(ctx, m.dir, spec)
	if err != nil {
		return nil, err
	}
	if text, err = s.Nearest(ctx); err != nil {
		return nil, err
	}
	kept, err := budget.Parse(spec, text)
	if err == nil {
		kept.Store = spec
	}
	return kept, err
}

// write puts the budgets where they are kept. If that is not the file of the module, that only says
// where.
func (m *module) write(ctx context.Context, f *budget.File) error {
	if f.Store == "" {
		return tempfile.Replace(m.file(), f.Write)
	}
	s, err := shelf.Open(ctx, m.dir, f.Store)
	if err != nil {
		return err
	}
	head, err := s.Repository.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if err := s.Write(ctx, head, f); err != nil {
		return err
	}
	pointer := *f
	pointer.Lines = nil
	if text, err := os.ReadFile(m.file()); err == nil && bytes.Equal(text, pointer.Bytes()) {
		return nil
	}
	return tempfile.Replace(m.file(), pointer.Write)
}

// Point is what a benchmark allocated at a commit.
type Point struct {
	Commit, Title string
	When          time.Time
	Figure        budget.Figure
}

// Series is the history of one line.
type Series struct {
	budget.Subject
	Keys   string
	Points []Point // the oldest first
}

// History reads the budgets of all commits that have some.
func History(ctx context.Context, o Options) ([]Series, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	f, err := m.read(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	spec := o.Store
	if spec == "" && f != nil {
		spec = f.Store
	}
	var s shelf.Shelf
	args := []string{"log", "--reverse", "--format=%H %ct %s"}
	if spec == "" {
		if s.Repository, err = sides.FindRepository(ctx, m.dir); err != nil {
			return nil, err
		}
		args = append(args, "--", budget.FileName)
	} else if s, err = shelf.Open(ctx, m.dir, spec); err != nil {
		return nil, err
	}
	out, err := sides.Git(ctx, m.dir, nil, args...)
	if err != nil {
		return nil, err
	}
	var names map[string]bool
	if spec != "" {
		if names, err = s.Names(ctx); err != nil {
			return nil, err
		}
	}
	all := map[string]*Series{}
	var order []string
	for line := range strings.Lines(string(out)) {
		commit, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		when, title, _ := strings.Cut(rest, " ")
		var text []byte
		switch {
		case spec == "":
			text, err = sides.Git(ctx, s.Repository.Root, nil, "show", commit+":"+strings.TrimPrefix(s.Repository.Prefix+"/"+budget.FileName, "/"))
		case names[s.Name(commit)]:
			text, err = s.Read(ctx, commit)
		default:
			continue
		}
		if err != nil {
			continue // the commit that took the file out
		}
		past, err := budget.Parse(commit, text)
		if err != nil {
			continue // a file of another format
		}
		seconds, _ := strconv.ParseInt(when, 10, 64) // git prints a number
		for _, l := range past.Lines {
			key := l.Package + " " + l.Name + " " + l.Site + " " + l.Keys.String()
			if all[key] == nil {
				all[key] = &Series{Subject: l.Subject, Keys: l.Keys.String()}
				order = append(order, key)
			}
			all[key].Points = append(all[key].Points, Point{commit, title, time.Unix(seconds, 0).UTC(), l.Figure})
		}
	}
	slices.Sort(order)
	var series []Series
	for _, key := range order {
		if m.selected(all[key].Name) {
			series = append(series, *all[key])
		}
	}
	if len(series) == 0 {
		return nil, errors.New("no commit has budgets")
	}
	return series, nil
}
