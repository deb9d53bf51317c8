package diagnose

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/escape"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/escapes"
)

// Limits of asking the compiler: the hottest findings only, the packages on their stacks
// between the site and the allocation, and a time limit.
const (
	explainedFindings = 250
	escapePackages    = 12
	escapeTime        = 60 * time.Second
)

// explain adds to each finding why its value is on the heap: from the
// compiler's own explanation where it can be asked, else from the kind of
// allocation.
func explain(ctx context.Context, d *finding.Diagnosis, o Options, warn func(string, ...any)) {
	hot := d.Findings[:min(len(d.Findings), explainedFindings)]
	index := escape.NewIndex()
	if o.Escapes {
		keep := &escapes.Filter{}
		packages := hotPackages(hot, keep, d.Target)
		if o.Progress != nil {
			o.Progress("asking the compiler about %d packages", len(packages))
		}
		found, err := askCompiler(ctx, d.Target, packages, keep)
		if err != nil {
			warn("the compiler's escape decisions are missing: %v", err)
		} else if d.Target.ModuleDir != "" {
			index.Answered(packages...)
			if d.Target.Kind == evidence.TargetExec {
				index.Answered("main")
			}
		}
		for _, e := range found {
			index.Add(e)
		}
	}
	src := sources{root: d.Target.ModuleDir, read: map[string]*alloc.Source{}}
	for i := range hot {
		f := &hot[i]
		recorded := f.Allocation.Kind
		if f.Allocation.Kind == finding.KindUnknown && f.Allocation.Via == "" {
			f.Allocation.Kind = src.kindAt(f.Site)
		}
		frames := innermost(*f)
		f.Escape = escape.Explain(frames, f.Allocation.Kind, index)
		f.Allocation.Kind = escape.RefineKind(f.Allocation.Kind, f.Escape)
		explainParts(f, recorded, frames, index)
		f.Title = Title(f.Allocation)
		if f.Escape != nil {
			f.Escape.At.File = placeOf(d, f.Escape.At.File, frames)
		}
	}
}

// explainParts gives the parts that the line itself allocates the compiler's reason, and what that
// says of their kind. The line's own kind is that of one of them, which need not be the first: kind
// is what it was before.
func explainParts(f *finding.Finding, kind finding.Kind, frames []evidence.Frame, index *escape.Index) {
	for i := range f.Allocation.Mix {
		m := &f.Allocation.Mix[i]
		if m.Via != "" {
			continue
		}
		recorded := m.Kind
		if recorded == kind && f.Allocation.Via == "" {
			m.Kind, m.Escape = f.Allocation.Kind, f.Escape
		} else {
			m.Escape = escape.Explain(frames, m.Kind, index)
			m.Kind = escape.RefineKind(m.Kind, m.Escape)
		}
		for j := range f.Stacks {
			if st := &f.Stacks[j]; st.Kind == recorded && st.Via == "" {
				st.Kind = m.Kind
			}
		}
	}
}

// placeOf spells the file of a frame as a site in it would.
func placeOf(d *finding.Diagnosis, file string, frames []evidence.Frame) string {
	for _, fr := range frames {
		if fr.File == file {
			return rootOf(d).Place(fr).File
		}
	}
	return stack.Relative(d.Target.ModuleDir, file)
}

// sources tells the kind of allocation from the source line alone, parsing
// each file once.
type sources struct {
	root string
	read map[string]*alloc.Source
}

func (s sources) kindAt(at evidence.Site) finding.Kind {
	file := filepath.FromSlash(at.File)
	if !filepath.IsAbs(file) {
		if s.root == "" {
			return finding.KindUnknown
		}
		file = filepath.Join(s.root, file)
	}
	k, ok := s.read[file]
	if !ok {
		if src, err := os.ReadFile(file); err == nil {
			k = alloc.NewSource(src)
		}
		s.read[file] = k
	}
	if k == nil {
		return finding.KindUnknown
	}
	return k.At(at.Line)
}

// innermost returns the frames of a finding's heaviest stack from the leaf to
// the site, without the runtime's.
func innermost(f finding.Finding) []evidence.Frame {
	if len(f.Stacks) == 0 {
		return nil
	}
	var out []evidence.Frame
	for _, fr := range f.Stacks[0].Frames {
		if !stack.IsRuntime(stack.PackageOf(fr.Function), fr.Function) {
			out = append(out, fr)
		}
		if stack.AnyTypes(fr.Function) == f.Site.Function && fr.Line == f.Site.Line {
			break
		}
	}
	return out
}

// askCompiler compiles packages with -m=2 and returns what it says of the lines in keep.
// Without the target's sources it returns nothing.
func askCompiler(
	ctx context.Context, t evidence.Target, packages []string, keep *escapes.Filter,
) ([]evidence.Escape, error) {
	if t.ModuleDir == "" || len(packages) == 0 {
		return nil, nil
	}
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, escapeTime)
	defer cancel()
	found, _, err := escapes.Run(ctx, escapes.RunOptions{
		Dir: dir, Packages: packages, BuildFlags: t.BuildFlags, Scan: escapes.Options{Keep: keep},
	})
	return found, err
}

// hotPackages lists the packages whose escape decisions matter, those of the
// heaviest findings first, and fills keep with their lines.
func hotPackages(hot []finding.Finding, keep *escapes.Filter, t evidence.Target) []string {
	weight := map[string]float64{}
	for i, f := range hot {
		for _, fr := range innermost(f) {
			keep.Add(fr.File, fr.Line)
			pkg := stack.PackageOf(fr.Function)
			if pkg == "main" {
				// A command's functions do not carry its import path.
				if t.Kind != evidence.TargetExec || len(t.Packages) != 1 {
					continue
				}
				pkg = t.Packages[0]
			}
			weight[pkg] += 1 / float64(i+1)
		}
	}
	packages := make([]string, 0, len(weight))
	for p := range weight {
		packages = append(packages, p)
	}
	sort.Slice(packages, func(i, j int) bool {
		if weight[packages[i]] != weight[packages[j]] {
			return weight[packages[i]] > weight[packages[j]]
		}
		return packages[i] < packages[j]
	})
	return packages[:min(len(packages), escapePackages)]
}
