package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// ProveSchema is the version of the JSON that ProveJSON writes, under the same
// promise as [Schema]; doc/format/prove.md is its specification.
const ProveSchema = "heaptrim.prove/1"

type (
	proveDocument struct {
		Schema      string            `json:"schema"`
		Tool        string            `json:"tool"`
		Created     *time.Time        `json:"created"`
		Verdict     proveVerdict      `json:"verdict"`
		A           proveSide         `json:"a"`
		B           proveSide         `json:"b"`
		Sides       []proveNamed      `json:"sides"`
		Target      proveTarget       `json:"target"`
		Rules       proveRules        `json:"rules"`
		Seed        uint64            `json:"seed"`
		MeasuredNS  int64             `json:"measured_ns"`
		Partial     bool              `json:"partial"`
		Environment environment       `json:"environment"`
		Comparisons []proveComparison `json:"comparisons"`
		LeftOut     []string          `json:"left_out"`
		Warnings    []string          `json:"warnings"`
	}

	proveVerdict struct {
		Outcome  string         `json:"outcome"`
		Sentence string         `json:"sentence"`
		Counts   map[string]int `json:"counts"`
	}

	proveNamed struct {
		Name    string        `json:"name"`
		Side    proveSide     `json:"side"`
		Verdict *proveVerdict `json:"verdict"`
	}

	proveSide struct {
		Spec      string        `json:"spec"`
		Commit    string        `json:"commit"`
		Dirty     bool          `json:"dirty"`
		Version   string        `json:"version"`
		GoVersion string        `json:"go_version"`
		Env       []string      `json:"env"`
		Binaries  []proveBinary `json:"binaries"`
	}

	proveBinary struct {
		Package string `json:"package"`
		SHA256  string `json:"sha256"`
	}

	proveTarget struct {
		Kind       string   `json:"kind"`
		Args       []string `json:"args"`
		Bench      string   `json:"bench"`
		Load       string   `json:"load"`
		BuildFlags []string `json:"build_flags"`
		RunTimeNS  int64    `json:"run_time_ns"`
	}

	proveRules struct {
		Alpha     float64  `json:"alpha"`
		MinEffect float64  `json:"min_effect"`
		Precision float64  `json:"precision"`
		MaxPairs  int      `json:"max_pairs"`
		Gate      []string `json:"gate"`
	}

	proveComparison struct {
		Name       string        `json:"name"`
		Package    string        `json:"package"`
		Side       string        `json:"side"`
		Outcome    string        `json:"outcome"`
		Iterations *float64      `json:"iterations"`
		Pairs      int           `json:"pairs"`
		Changes    []proveChange `json:"changes"`
		Differs    []string      `json:"work_differs"`
		FailedA    string        `json:"failed_a"`
		FailedB    string        `json:"failed_b"`
		Warnings   []string      `json:"warnings"`
		PausesA    *provePauses  `json:"pauses_a"`
		PausesB    *provePauses  `json:"pauses_b"`
		Runs       []proveRun    `json:"runs"`
	}

	// provePauses are of all runs of a side.
	provePauses struct {
		Count int           `json:"count"`
		P50NS time.Duration `json:"p50_ns"`
		P99NS time.Duration `json:"p99_ns"`
		MaxNS time.Duration `json:"max_ns"`
	}

	proveChange struct {
		Unit     string     `json:"unit"`
		Label    string     `json:"label"`
		Sense    int        `json:"sense"`
		Judged   bool       `json:"judged"`
		Outcome  string     `json:"outcome"`
		A        *openRange `json:"a"`
		B        *openRange `json:"b"`
		RunsA    int        `json:"runs_a"`
		RunsB    int        `json:"runs_b"`
		Change   *openRange `json:"change"`
		Exact    bool       `json:"exact"`
		Apart    bool       `json:"apart"`
		P        *float64   `json:"p"`
		Adjusted *float64   `json:"p_adjusted"`
		Rank     *float64   `json:"p_benchmath"`
		Warnings []string   `json:"warnings"`
	}

	// openRange is an interval whose bounds may be unknown.
	openRange struct {
		Value float64  `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}

	proveRun struct {
		Side      string             `json:"side"`
		Pair      int                `json:"pair"`
		Collector bool               `json:"collector"`
		WallNS    int64              `json:"wall_ns"`
		Values    map[string]float64 `json:"values"`
	}
)

// ProveJSON writes a comparison as JSON in the schema [ProveSchema].
func ProveJSON(w io.Writer, r *prove.Result, m Meta) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(newProveDocument(r, m)); err != nil {
		return fmt.Errorf("encode the comparison: %w", err)
	}
	l := layout{w: bufio.NewWriter(w)}
	l.write(bytes.TrimSpace(b.Bytes()))
	l.w.WriteByte('\n')
	return l.w.Flush()
}

func newProveDocument(r *prove.Result, m Meta) proveDocument {
	doc := proveDocument{
		Schema: ProveSchema, Tool: m.Tool,
		Verdict: newProveVerdict(r.Verdict), A: newProveSide(prove.SideInfo{}), B: newProveSide(prove.SideInfo{}), Sides: []proveNamed{},
		Target: proveTarget{r.Target.Kind, list(r.Target.Args), r.Target.Bench, r.Target.Load, list(r.Target.Flags), int64(r.Target.RunTime)},
		Rules:  proveRules{r.Rules.Alpha, r.Rules.MinEffect, r.Rules.Precision, r.Rules.MaxPairs, list(r.Rules.Gate)},
		Seed:   r.Seed, MeasuredNS: int64(r.Measured), Partial: r.Partial, Environment: newEnvironment(r.Environment),
		Comparisons: []proveComparison{}, LeftOut: list(r.LeftOut), Warnings: list(r.Warnings),
	}
	if !m.Created.IsZero() {
		created := m.Created.UTC()
		doc.Created = &created
	}
	for i, s := range r.Sides {
		named := proveNamed{Name: prove.Letter(i), Side: newProveSide(s)}
		switch i {
		case 0:
			doc.A = named.Side
		case 1:
			doc.B = named.Side
		}
		if i > 0 && i <= len(r.BySide) {
			v := newProveVerdict(r.BySide[i-1])
			named.Verdict = &v
		}
		doc.Sides = append(doc.Sides, named)
	}
	for _, c := range r.Comparisons {
		doc.Comparisons = append(doc.Comparisons, newProveComparison(c))
	}
	return doc
}

func newProveVerdict(v prove.Verdict) proveVerdict {
	out := proveVerdict{string(v.Outcome), v.Sentence, map[string]int{}}
	for o, n := range v.Counts {
		out.Counts[string(o)] = n
	}
	return out
}

func newProveSide(s prove.SideInfo) proveSide {
	out := proveSide{s.Spec, s.Commit, s.Dirty, s.Version, s.GoVersion, list(s.Env), []proveBinary{}}
	for _, b := range s.Binaries {
		out.Binaries = append(out.Binaries, proveBinary(b))
	}
	return out
}

func newProveComparison(c prove.Comparison) proveComparison {
	out := proveComparison{
		Name: c.Name, Package: c.Package, Side: prove.Letter(max(c.Side, 1)), Outcome: string(c.Outcome), Iterations: positive(float64(c.Iterations)), Pairs: c.Pairs,
		PausesA: newProvePauses(c.Pauses[0]), PausesB: newProvePauses(c.Pauses[1]),
		Changes: []proveChange{}, Differs: list(c.Differs), FailedA: c.Failed[0], FailedB: c.Failed[1], Warnings: list(c.Warnings), Runs: []proveRun{},
	}
	for _, ch := range c.Changes {
		out.Changes = append(out.Changes, proveChange{
			Unit: ch.Unit, Label: ch.Label, Sense: ch.Sense, Judged: ch.Judged, Outcome: string(ch.Outcome),
			A: newRange(ch.A), B: newRange(ch.B), RunsA: ch.NA, RunsB: ch.NB, Change: newRange(ch.Delta),
			Exact: ch.Exact, Apart: ch.Apart, P: known0(ch.P), Adjusted: known0(ch.Holm), Rank: known0(ch.Rank), Warnings: list(ch.Warnings),
		})
	}
	for _, r := range c.Runs {
		values := maps.Clone(r.Values)
		maps.DeleteFunc(values, func(_ string, v float64) bool { return !finite(v) })
		out.Runs = append(out.Runs, proveRun{prove.Letter(r.Side * max(c.Side, 1)), r.Pair, r.Collector, int64(r.Wall), values})
	}
	return out
}

func newProvePauses(p prove.Pauses) *provePauses {
	if p.Count == 0 {
		return nil
	}
	return &provePauses{p.Count, p.P50, p.P99, p.Max}
}

func newRange(i stats.Interval) *openRange {
	if math.IsNaN(i.Value) || math.IsInf(i.Value, 0) {
		return nil
	}
	return &openRange{i.Value, known0(i.Low), known0(i.High)}
}

// known0 is a number in which 0 is a measured zero.
func known0(v float64) *float64 { return number(v, true) }
