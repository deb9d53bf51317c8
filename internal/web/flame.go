package web

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
)

// flameView is the call tree in the form that the page reads. Columns stand
// side by side instead of in objects, and numbers that grow are stored as
// steps, because a service has some ten thousand calls.
type flameView struct {
	Functions functionColumns `json:"functions"`
	Files     []string        `json:"files"`
	Frames    frameColumns    `json:"frames"`

	// Nodes in depth-first order; node 0 is the root. Parent is how many nodes
	// back it stands.
	Parent []int32 `json:"parent"`
	Frame  []int32 `json:"frame"`
	// Inlined are the nodes whose code the compiler put into that of their
	// caller, as steps from one to the next.
	Inlined []int32 `json:"inlined"`

	Buckets []bucketColumn    `json:"buckets"`
	Runs    []flameRun        `json:"runs"`
	Weights []column          `json:"weights"`
	Labels  *labelsView       `json:"labels,omitempty"` // nil: no sample has any
	Units   map[string]string `json:"units"`
	Exact   bool              `json:"exact"` // bytes and objects have no sampling error
	Base    *baseView         `json:"base"`
	Trim    trimming          `json:"trim"`

	code codeTally
}

type functionColumns struct {
	Name    []string `json:"name"`
	Package []int    `json:"package"` // index into Packages
	Owner   []string `json:"owner"`

	Packages []string `json:"packages"`
}

type frameColumns struct {
	Function []int `json:"function"`
	File     []int `json:"file"`
	Line     []int `json:"line"`
	// Place is the number of the instruction that a frame stands at, from 1, and 0
	// without one: the view of code has them by function. Inlined code stands where
	// its caller does. Nil: no sample has an address.
	Place []int32 `json:"place,omitempty"`
}

type bucketColumn struct {
	Name      string `json:"name"`
	Memory    bool   `json:"memory"`
	Collector bool   `json:"collector"`
	Idle      bool   `json:"idle"`
}

// flameRun is one workload. With several, each has a node of its own below the
// root.
type flameRun struct {
	Name   string  `json:"name"`
	Base   bool    `json:"base"`
	Sample float64 `json:"sample"` // share of CPU that one sample stands for; 0 without a CPU profile
	// CollectorError is half the 95 % interval of the collector's CPU, relative
	// to it: churn and retention have it beside their own.
	CollectorError float64 `json:"collector_error"`
	Nanoseconds    float64 `json:"cpu_ns"` // of the whole run
}

// column is a sparse column of weights: those of a node itself, without its
// calls. At are steps from one node to the next.
type column struct {
	Name string    `json:"name"`
	CPU  bool      `json:"cpu"` // a bucket of CPU
	Base bool      `json:"base,omitempty"`
	Set  int       `json:"set,omitempty"` // of labels; -1: one that is not told apart
	At   []int32   `json:"at"`
	V    []float64 `json:"v"` // shares of CPU in parts of cpuUnit, bytes or counts
}

// baseView says what the recording is compared with.
type baseView struct {
	Target  string `json:"target"`
	Created string `json:"created"`
}

// cpuUnit is what shares of CPU are counted in, so that they are short numbers.
const cpuUnit = 1e-7

// Columns of the heap and of the collector.
const (
	colChurn     = "churn"
	colRetention = "retention"
	colRemainder = "remainder"
	colBytes     = "alloc_space"
	colObjects   = "alloc_objects"
	colInUse     = "inuse_space"
	colInUseObj  = "inuse_objects"
	colAllocN    = "alloc_samples"
	colInUseN    = "inuse_samples"
)

func newFlameView(d *diagnose.Session, o Options) (*flameView, error) {
	t := newCallTree(o.MaxNodes)
	t.exact = true
	v := &flameView{Units: map[string]string{"cpu": fmt.Sprint(cpuUnit)}}
	several := len(d.RunTimes()) > 1 || o.Base != nil && len(o.Base.RunTimes()) > 1
	if err := t.fill(v, d, several, false); err != nil {
		return nil, err
	}
	if o.Base != nil {
		if err := t.fill(v, o.Base, several, true); err != nil {
			return nil, fmt.Errorf("recording to compare with: %w", err)
		}
		v.Base = &baseView{Target: fmt.Sprint(o.Base.Diagnosis().Target.Args)}
	}
	if len(t.parent) == 1 && len(t.weights) == 0 {
		return nil, nil
	}
	v.Exact = t.sampled && t.exact
	t.export(v)
	return v, nil
}

// fill adds a recording. Runs weigh the same, as in the report: the CPU of each
// is a share of its own, divided by their number.
func (t *callTree) fill(v *flameView, d *diagnose.Session, several, base bool) error {
	times := d.RunTimes()
	n := 0.0
	for _, r := range times {
		if r.CPU > 0 {
			n++
		}
	}
	scale := map[string]float64{}
	t.bound.roots = map[string]int32{}
	for _, r := range times {
		run := flameRun{Name: r.Run, Base: base, CollectorError: r.CollectorError, Nanoseconds: r.CPU}
		if several {
			t.bound.roots[r.Run] = t.at(0, t.own(r.Run))
		}
		if r.CPU > 0 {
			scale[r.Run] = 1 / r.CPU / n
			run.Sample = r.Sample * scale[r.Run]
			if r.Remainder != 0 {
				t.add(weightKey{name: colRemainder, base: base}, t.at(t.bound.roots[r.Run], t.own(diagnose.FrameRemainder)), r.Remainder*scale[r.Run])
			}
			for _, u := range r.Unsampled {
				t.add(weightKey{name: t.bucket(u.Bucket), cpu: true, base: base}, t.at(t.bound.roots[r.Run], t.own(diagnose.FrameUnsampled)), u.CPU*scale[r.Run])
			}
		}
		v.Runs = append(v.Runs, run)
	}
	t.reading.cache = nil
	if t.code = nil; !base {
		t.code = &v.code
	} else {
		t.addAlike()
	}
	churn, retention := t.own(diagnose.FrameChurn), t.own(diagnose.FrameRetention)
	return d.WalkStacks(func(s diagnose.WeightedStack) error {
		if len(t.parent) >= t.bound.most {
			t.shed(max(t.bound.most*restPerNode/mostPerNode, 1))
		}
		cpu, labels := scale[s.Run], t.labels.of(s.Labels)
		node := t.path(d, t.bound.roots[s.Run], s, &[...]float64{s.CPU * cpu, s.Bytes, s.Objects, s.InUse, s.InUseObj})
		if t.code != nil {
			t.code.ran(s)
		}
		if !s.Heap {
			t.add(weightKey{t.bucket(s.Bucket), true, base, labels}, node, s.CPU*cpu)
			return nil
		}
		t.sampled = true
		t.exact = t.exact && s.Sampled.Exact
		// The samples behind a weight stand with it: they give it its interval.
		alloc, inUse := node, node
		if s.Churn*cpu != 0 {
			alloc = t.at(node, churn)
		}
		if s.Retention*cpu != 0 {
			inUse = t.at(node, retention)
		}
		for _, c := range [...]struct {
			name string
			node int32
			v    float64
		}{
			{colChurn, alloc, s.Churn * cpu}, {colRetention, inUse, s.Retention * cpu}, {colAllocN, alloc, s.Sampled.Allocs}, {colInUseN, inUse, s.Sampled.InUse},
			{colBytes, node, s.Bytes}, {colObjects, node, s.Objects}, {colInUse, node, s.InUse}, {colInUseObj, node, s.InUseObj},
		} {
			t.add(weightKey{c.name, false, base, labels}, c.node, c.v)
		}
		return nil
	})
}

// export brings the tree, trimmed, into the page's form.
func (t *callTree) export(v *flameView) {
	v.Labels = t.exportLabels()
	keep, trim := t.trim()
	v.Trim = trim
	order, number := t.depthFirst(keep)
	last := int32(0)
	v.Inlined = []int32{}
	for i, node := range order {
		s := t.steps[t.step[node]]
		v.Parent = append(v.Parent, int32(i)-number[t.parent[node]])
		v.Frame = append(v.Frame, s.frame)
		if s.inlined {
			v.Inlined = append(v.Inlined, int32(i)-last)
			last = int32(i)
		}
	}
	for _, b := range t.buckets {
		v.Buckets = append(v.Buckets, bucketColumn{b.Name, b.Memory, b.Collector, b.Idle})
	}
	for _, k := range slices.SortedFunc(maps.Keys(t.weights), compareKeys) {
		v.Weights = append(v.Weights, t.column(k, keep, number))
	}
	t.exportFrames(v)
}

func compareKeys(a, b weightKey) int {
	if a.base != b.base {
		if a.base {
			return 1
		}
		return -1
	}
	if a.cpu != b.cpu {
		if a.cpu {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.labels, b.labels))
}

// column writes one column of the kept nodes; what is of others counts to their
// nearest caller that is kept.
func (t *callTree) column(k weightKey, keep []bool, number map[int32]int32) column {
	unit := 1.0
	if k.cpu || k.name == colChurn || k.name == colRetention || k.name == colRemainder {
		unit = cpuUnit
	}
	sums, w := map[int32]float64{}, t.weights[k]
	for i, at := range w.nodes {
		for !keep[at] {
			at = t.parent[at]
		}
		sums[number[at]] += w.v[i] / unit
	}
	c := column{Name: k.name, CPU: k.cpu, Base: k.base, Set: k.labels, At: []int32{}, V: []float64{}}
	last, left := int32(0), 0.0
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		// What rounding takes from one call is left for the next, so that the sum
		// stays: labels cut weights into many small ones.
		want := sums[at] + left
		x := math.Round(want)
		// Event counts are small, and their fraction matters.
		if k.name == colAllocN || k.name == colInUseN {
			x = math.Round(want*100) / 100
		}
		left = want - x
		if x == 0 {
			continue
		}
		c.At, c.V = append(c.At, at-last), append(c.V, x)
		last = at
	}
	return c
}

func (t *callTree) exportFrames(v *flameView) {
	used := make([]int32, len(t.tables.rows)) // new number of a frame, from 1
	fn, files, pkgs := index{}, index{}, index{}
	for i, f := range v.Frame {
		if used[f] == 0 {
			row := t.tables.rows[f]
			used[f] = int32(len(v.Frames.Function)) + 1
			name := t.tables.names.list[row.function]
			at := fn.of(name)
			if at == len(v.Functions.Name) {
				v.Functions.Name = append(v.Functions.Name, name)
				v.Functions.Package = append(v.Functions.Package, pkgs.of(t.tables.pkgs[row.function]))
				v.Functions.Owner = append(v.Functions.Owner, t.tables.owners[row.function])
			}
			v.Frames.Function = append(v.Frames.Function, at)
			v.Frames.File = append(v.Frames.File, files.of(t.tables.files.list[row.file]))
			v.Frames.Line = append(v.Frames.Line, int(row.line))
			v.Frames.Place = append(v.Frames.Place, row.place)
		}
		v.Frame[i] = used[f] - 1
	}
	v.Files, v.Functions.Packages = files.list, pkgs.list
	v.Frames.Place = v.code.arrange(v.Frames.Place)
}

// frameShares is, for each frame, its largest share of any weight: mostly of its
// own, and a little of what it calls.
func (v *flameView) frameShares() []float64 {
	const callers = 0.2
	n := len(v.Parent)
	groups := map[string][]float64{}
	for _, c := range v.Weights {
		if c.Base || c.Name == colAllocN || c.Name == colInUseN {
			continue
		}
		name := c.Name
		if c.CPU {
			name = "cpu"
		}
		if groups[name] == nil {
			groups[name] = make([]float64, n)
		}
		at := int32(0)
		for i, step := range c.At {
			at += step
			groups[name][at] += math.Abs(c.V[i])
		}
	}
	out := make([]float64, len(v.Frames.Line))
	for _, self := range groups {
		total, sum := slices.Clone(self), make([]float64, len(out))
		for i := n - 1; i > 0; i-- {
			total[i-int(v.Parent[i])] += total[i]
			sum[v.Frame[i]] += (1-callers)*self[i] + callers*total[i]
		}
		for f := range out {
			if total[0] > 0 {
				out[f] = max(out[f], sum[f]/total[0])
			}
		}
	}
	return out
}
