// Package limits holds a running service to limits: what it allocates for a request, and the share
// of its CPU time that the collector takes.
package limits

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/host"
	"github.com/heaptrim/heaptrim/internal/record/live"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// The figures that can have a limit.
const (
	PerRequest = "alloc-per-request" // bytes
	Rate       = "alloc-rate"        // bytes a second
	GCShare    = "gc-share"          // of CPU time
)

// Limit is one line of a file of limits.
type Limit struct {
	Name string
	Max  float64 // bytes, bytes a second, or a share
}

// File is what a file of limits says.
type File struct {
	Limits   []Limit
	Requests Counter
}

// Counter is a number of requests that a service publishes.
type Counter struct {
	URL  string // of metrics in the text format of Prometheus, or of expvar's JSON
	Name string // of the counter; those of all labels are added up
}

// Parse reads a file of limits. name is for messages.
func Parse(name string, text []byte) (File, error) {
	var f File
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		fail := func(want string) (File, error) { return f, fmt.Errorf("%s:%d: want %s", name, i+1, want) }
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == "requests" && len(fields) == 3:
			f.Requests = Counter{fields[1], fields[2]}
			continue
		case len(fields) < 3 || fields[1] != "<=":
			return fail("alloc-per-request <= SIZE, alloc-rate <= SIZE/s, gc-share <= PERCENT%, or requests URL COUNTER")
		}
		value := strings.Join(fields[2:], "")
		l := Limit{Name: fields[0]}
		switch l.Name {
		case GCShare:
			percent, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
			if err != nil || !(percent > 0 && percent <= 100) || !strings.HasSuffix(value, "%") {
				return fail("gc-share <= PERCENT%, above 0 and up to 100")
			}
			l.Max = percent / 100
		case Rate, PerRequest:
			size, err := unit.ParseBytes(strings.TrimSuffix(value, "/s"))
			if err != nil || size == 0 || strings.HasSuffix(value, "/s") != (l.Name == Rate) {
				return fail("alloc-rate <= SIZE/s or alloc-per-request <= SIZE, such as 64KiB")
			}
			l.Max = float64(size)
		default:
			return fail("one of alloc-per-request, alloc-rate, gc-share")
		}
		f.Limits = append(f.Limits, l)
	}
	for _, l := range f.Limits {
		if l.Name == PerRequest && f.Requests.URL == "" {
			return f, fmt.Errorf("%s: alloc-per-request needs a line requests URL COUNTER, which says how many there were", name)
		}
	}
	if len(f.Limits) == 0 {
		return f, fmt.Errorf("%s: no limit", name)
	}
	return f, nil
}

// State is how a figure stands to its limit.
type State string

// The states.
const (
	Within   State = "within"
	Above    State = "above"     // the whole interval is
	Perhaps  State = "perhaps"   // the figure is above, and the interval reaches below
	NotKnown State = "not known" // there is no figure
)

// Figure is a limit and what was measured.
type Figure struct {
	Limit
	Value stats.Interval
	State State
	Why   string // there is no figure
}

// Result is what was found.
type Result struct {
	URL      string
	For      time.Duration
	Requests float64
	Figures  []Figure
	Warnings []string
}

// Failed reports whether a limit is broken, or a figure is missing.
func (r *Result) Failed() bool {
	for _, f := range r.Figures {
		if f.State == Above || f.State == NotKnown {
			return true
		}
	}
	return false
}

// judge compares an interval with a limit.
func judge(l Limit, v stats.Interval, why string) Figure {
	f := Figure{Limit: l, Value: v, State: Within, Why: why}
	switch {
	case why != "":
		f.State = NotKnown
	case v.Low > l.Max:
		f.State = Above
	case v.Value > l.Max:
		f.State = Perhaps
	}
	return f
}

// Options says which service is measured.
type Options struct {
	URL      string
	File     File
	For      time.Duration // 0 means 30s
	Progress func(format string, args ...any)
}

// Run measures a service for a while and compares.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.For <= 0 {
		o.For = 30 * time.Second
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	r := &Result{URL: o.URL, For: o.For}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	slices := make(chan []slice, 1)
	go func() { slices <- watch(limited, o) }()
	share, warnings, err := collector(ctx, o)
	if err != nil {
		return nil, err
	}
	r.Warnings = warnings
	all := <-slices
	for _, l := range o.File.Limits {
		switch l.Name {
		case GCShare:
			why := ""
			if share == (stats.Interval{}) {
				why = "no CPU profile could be had"
			}
			r.Figures = append(r.Figures, judge(l, share, why))
		case Rate:
			v, why := ratio(all, func(s slice) float64 { return s.seconds })
			r.Figures = append(r.Figures, judge(l, v, why))
		case PerRequest:
			v, why := ratio(all, func(s slice) float64 { return s.requests })
			r.Figures = append(r.Figures, judge(l, v, why))
		}
	}
	for _, s := range all {
		r.Requests += s.requests
	}
	return r, nil
}

// collector records the service and has the pipeline say what the collector takes.
func collector(ctx context.Context, o Options) (stats.Interval, []string, error) {
	dir, err := os.MkdirTemp("", "heaptrim-limits-")
	if err != nil {
		return stats.Interval{}, nil, err
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "bundle")
	w, err := bundle.Create(at, evidence.Manifest{Target: evidence.Target{Kind: evidence.TargetLive}, Environment: host.Environment()})
	if err != nil {
		return stats.Interval{}, nil, err
	}
	if err := live.Record(ctx, live.Options{URL: o.URL, For: o.For, Snapshots: -1, Progress: o.Progress}, w); err != nil {
		w.Discard() // what keeps it from going is no news beside err
		return stats.Interval{}, nil, err
	}
	if err := w.Close(true); err != nil {
		return stats.Interval{}, nil, err
	}
	b, err := bundle.Open(at)
	if err != nil {
		return stats.Interval{}, nil, err
	}
	defer b.Close()
	rep, err := check.Run(ctx, b, check.Options{Threshold: -1})
	if err != nil {
		return stats.Interval{}, nil, err
	}
	return rep.Diagnosis.Totals.CollectorShare, rep.Diagnosis.Warnings, nil
}
