package run

import (
	"os"
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/above"
)

// above returns the runtime functions that a heap profile leaves out of its stacks; nil if it has them, or if the recording
// does not know them.
func (r *Reader) above(heap evidence.Part) above.Calls {
	if heap.Raw {
		return nil
	}
	for _, run := range r.B.Manifest.Runs {
		i := slices.IndexFunc(run.Parts, func(p evidence.Part) bool { return p.Kind == evidence.KindAbove })
		if i < 0 || !slices.ContainsFunc(run.Parts, func(p evidence.Part) bool { return p.Path == heap.Path }) {
			continue
		}
		path := run.Parts[i].Path
		calls, known := r.calls[path]
		if !known {
			var err error
			if calls, err = readCalls(path, r.B.Path(run.Parts[i])); err != nil {
				r.Warn("%v", err)
			}
			if r.calls == nil {
				r.calls = map[string]above.Calls{}
			}
			r.calls[path] = calls
		}
		return calls
	}
	return nil
}

func readCalls(name, file string) (above.Calls, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return above.Read(name, f)
}

// knows reports whether a stack ends in one of the calls.
func knows(calls above.Calls, locs []*evidence.Location) bool {
	i := slices.IndexFunc(locs, func(l *evidence.Location) bool { return l.Address != 0 })
	if i < 0 {
		return false
	}
	_, ok := calls[locs[i].Address]
	return ok
}
