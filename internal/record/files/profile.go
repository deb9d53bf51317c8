package files

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// inspectProfile plans how to store a pprof profile.
func (r *fileRecorder) inspectProfile(s sniffed) error {
	p := s.profile
	part := evidence.Part{Pass: evidence.PassFiles}
	switch {
	case p.Column("cpu") >= 0:
		part.Kind, part.Wall = evidence.KindCPU, max(p.Duration, 0)
		r.o.Progress("%s: a CPU profile of %v", s.path, part.Wall)
	case p.Column("alloc_space") >= 0:
		part.Kind = evidence.KindAllocs
	case p.Column("inuse_space") >= 0:
		part.Kind = evidence.KindHeap
	default:
		r.leaveOut(s)
		return nil
	}
	part.Path = r.name(s.path, "")
	if part.Kind == evidence.KindCPU {
		r.loose = append(r.loose, looseFile{path: s.path, part: part})
		return nil
	}
	if p.PeriodOf.Type == "space" {
		part.Rate = max(p.Period, 0)
	}
	// net/http/pprof and continuous profilers write a duration into differences of two
	// profiles. The runtime writes none into a snapshot.
	if p.Duration > 0 {
		part.Delta, part.Wall, part.Pass = true, p.Duration, passDelta
		r.o.Progress("%s: allocations of a window of %v", s.path, part.Wall)
		r.loose = append(r.loose, looseFile{path: s.path, part: part})
		return nil
	}
	r.o.Progress("%s: a heap profile", s.path)
	r.snapshots = append(r.snapshots, snapshot{looseFile{path: s.path, part: part}, p})
	return nil
}

func (r *fileRecorder) leaveOut(s sniffed) {
	var columns []string
	for _, t := range s.profile.Types {
		columns = append(columns, t.Type+"/"+t.Unit)
	}
	text := fmt.Sprintf("%s is a profile of %s: heaptrim uses only CPU and heap profiles", s.path,
		strings.Join(columns, ", "))
	r.o.Progress("left out: %s", text)
	r.leftOut = append(r.leftOut, text)
}

// snapshot is a cumulative heap profile.
type snapshot struct {
	looseFile
	profile *evidence.Profile
}

// series holds the snapshots of one process, sorted by time.
type series []snapshot

// files returns the parts of a series. Wall is the time since the first snapshot,
// which is the window that the difference to it covers.
func (s series) files() []looseFile {
	var files []looseFile
	for _, snap := range s {
		f := snap.looseFile
		f.part.Wall = snap.profile.Start.Sub(s[0].profile.Start)
		files = append(files, f)
	}
	return files
}

func (s series) last() *evidence.Profile { return s[len(s)-1].profile }

func longest(all []series) int {
	best := 0
	for i, s := range all {
		if len(s) > len(all[best]) {
			best = i
		}
	}
	return best
}

// seriesOf groups snapshots into series. A snapshot continues a series if it is later,
// has the same sampling rate, and has every stack of the series' last snapshot with at
// least as many allocations. The runtime never forgets a stack; two processes, even of
// one program, sample different stacks.
func seriesOf(snapshots []snapshot) ([]series, error) {
	slices.SortStableFunc(snapshots, func(a, b snapshot) int { return a.profile.Start.Compare(b.profile.Start) })
	var all []series
	var last []map[uint64]int64 // of each series
	seed := maphash.MakeSeed()
	for _, snap := range snapshots {
		counts := map[uint64]int64{}
		if len(snapshots) > 1 {
			var err error
			if counts, err = allocated(snap.profile, seed); err != nil {
				return nil, fmt.Errorf("read heap profile %s: %w", snap.path, err)
			}
		}
		at := 0
		for at < len(all) && !(follows(all[at].last(), snap.profile) && holdsAll(counts, last[at])) {
			at++
		}
		if at == len(all) {
			all, last = append(all, nil), append(last, nil)
		}
		all[at], last[at] = append(all[at], snap), counts
	}
	return all, nil
}

// follows reports whether, by the headers alone, b can be a later snapshot of a's
// process.
func follows(a, b *evidence.Profile) bool {
	return a.Start.UnixNano() > 0 && b.Start.After(a.Start) && a.Period == b.Period &&
		a.Column("alloc_objects") >= 0 && b.Column("alloc_objects") >= 0
}

// holdsAll reports whether later has at least every count of earlier.
func holdsAll(later, earlier map[uint64]int64) bool {
	for stack, n := range earlier {
		if later[stack] < n {
			return false
		}
	}
	return true
}

// allocated counts the objects ever allocated, by stack. Stacks are compared by their
// source frames: addresses differ between symbolised profiles and others.
func allocated(p *evidence.Profile, seed maphash.Seed) (map[uint64]int64, error) {
	col := p.Column("alloc_objects")
	if col < 0 {
		return nil, nil
	}
	frames := make([]uint64, p.Locations)
	counts := map[uint64]int64{}
	err := p.Samples.Scan(func(s evidence.Sample) error {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, loc := range s.Stack {
			if frames[loc.Index] == 0 {
				frames[loc.Index] = hashFrames(loc, seed)
			}
			maphash.WriteComparable(&h, frames[loc.Index])
		}
		counts[h.Sum64()] += s.Values[col]
		return nil
	})
	return counts, err
}

func hashFrames(loc *evidence.Location, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, f := range loc.Frames {
		maphash.WriteComparable(&h, f)
	}
	return h.Sum64() | 1 // 0 means not hashed yet
}
