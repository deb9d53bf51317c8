package prescribe

import (
	"math"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestLibraryCodes: the cures that the table of library calls names are in the catalogue.
func TestLibraryCodes(t *testing.T) {
	for _, code := range library.Codes() {
		if _, ok := cures.Find(code); !ok {
			t.Errorf("code %s is not in the catalogue", code)
		}
	}
}

func TestRegrowth(t *testing.T) {
	f := func(sizes []finding.SizeCount, objects, bytes float64) {
		t.Helper()
		o, b := regrowth.Of(sizes).Waste()
		if math.Abs(o-objects) > 1e-9 || math.Abs(b-bytes) > 1e-9 {
			t.Errorf("%v: %v of the objects and %v of the bytes are outgrown, want %v and %v", sizes, o, b, objects, bytes)
		}
	}
	// Ten slices that all go through 8, 16, 32: two of three arrays are outgrown.
	f([]finding.SizeCount{{Size: 8, Objects: 10}, {Size: 16, Objects: 10}, {Size: 32, Objects: 10}}, 2.0/3, 240.0/560)
	// Half of them stop at 16.
	f([]finding.SizeCount{{Size: 8, Objects: 10}, {Size: 16, Objects: 10}, {Size: 32, Objects: 5}}, 0.6, 1-(5*16.0+5*32)/(80+160+160))
	// One size only: nothing grows.
	f([]finding.SizeCount{{Size: 64, Objects: 100}}, 0, 0)
	f(nil, 0, 0)
}

// TestLeaveWhatOnlyLives: a row that allocates nothing while the program works
// is not told of blocks of no bytes.
func TestLeaveWhatOnlyLives(t *testing.T) {
	f := func(cost finding.Cost, want string) {
		t.Helper()
		c := &candidate{diagnosis: &finding.Diagnosis{}, Finding: &finding.Finding{Cost: cost}, Parts: []*allocated{{}}}
		if got := c.leave([]offer{{cure: cures.Of("batch-arena")}}).Remedy.Text; !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q in it", cost, got, want)
		}
	}
	f(finding.Cost{InUse: stats.Exact(3 << 20)}, "it keeps 3 MiB alive")
	f(finding.Cost{InUse: stats.Exact(3 << 20), Objects: stats.Exact(2), Bytes: stats.Exact(64)}, "of 32 B each")
	f(finding.Cost{CPU: stats.Exact(0.01)}, "no allocation was counted here")
	// A value whose end is not known is no reason where nothing says that there is one.
	c := &candidate{diagnosis: &finding.Diagnosis{}, Finding: &finding.Finding{Cost: finding.Cost{CPU: stats.Exact(0.01)}}, ruledOut: []fate.Against{{Why: "its end is not known"}}}
	if got := c.leave(nil).Remedy.Text; !strings.Contains(got, "no allocation was counted here") {
		t.Errorf("of CPU samples alone: %q", got)
	}
}

// TestWhyNothingFits: a map whose only table comes with its first entry is told
// from one that the recording says too little of.
func TestWhyNothingFits(t *testing.T) {
	f := func(sizes []finding.SizeCount, kind finding.Kind, want string) {
		t.Helper()
		c := &candidate{Finding: &finding.Finding{Allocation: finding.Allocation{Sizes: sizes}}, Parts: []*allocated{{Mix: finding.Mix{Kind: kind}}}}
		if got := c.whyNot(); !strings.Contains(got, want) {
			t.Errorf("%s of %v: %q, want %q in it", kind, sizes, got, want)
		}
	}
	f([]finding.SizeCount{{Size: 288, Objects: 10}}, finding.KindMapGrowth, "its table once")
	f(nil, finding.KindMapGrowth, "evidence does not say")
	f([]finding.SizeCount{{Size: 288, Objects: 10}}, finding.KindNew, "evidence does not say")
}

// TestCuresOfSources: what the source shows rules a cure out, or words it.
func TestCuresOfSources(t *testing.T) {
	returned := &finding.Escape{Flow: []evidence.Flow{{Edges: []evidence.FlowEdge{{Why: "return"}}}}}
	lit := &source.Expr{Kind: source.FuncLit, Text: "func() {…}"}
	dead := finding.Life{End: finding.EndFrame}
	f := func(cure cures.Cure, escape *finding.Escape, p allocated, want string) {
		t.Helper()
		c := &candidate{Finding: &finding.Finding{Escape: escape}, Parts: []*allocated{&p}}
		got, ok := c.best(cure.Code, &p)
		if ok != (want != "") || !strings.Contains(got.Text, want) {
			t.Errorf("%s of %+v: %v, %q, want %q in it", cure.Code, p.Mix, ok, got.Text, want)
		}
	}
	f(cures.Of("hoist-closure"), nil, allocated{Mix: finding.Mix{Kind: finding.KindClosure}, Expr: lit, Life: dead}, "")
	same := dead
	same.Passed.Fixed = true
	f(cures.Of("hoist-closure"), nil, allocated{Mix: finding.Mix{Kind: finding.KindClosure}, Expr: lit, Life: same}, "what it captures stays the same")
	f(cures.Of("hoist-closure"), returned, allocated{Mix: finding.Mix{Kind: finding.KindClosure}, Expr: lit, Life: dead}, "make `func() {…}` once for all that capture the same")
	logged := allocated{Mix: finding.Mix{Kind: finding.KindVariadic}, Expr: &source.Expr{Kind: source.Call, Call: source.Invocation{Callee: "m.log"}}, Callee: "m.log"}
	f(cures.Of("unbox-interface"), nil, logged, "")
	logged.Life.Passed.Spared = true
	f(cures.Of("unbox-interface"), nil, logged, "test first whether it is needed")
	f(cures.Of("unbox-interface"), nil, allocated{Mix: finding.Mix{Kind: finding.KindVariadic}, Expr: &source.Expr{Kind: source.Call, Call: source.Invocation{Callee: "m.runes", Unboxed: true}}, Callee: "m.runes"}, "")
	f(cures.Of("unbox-interface"), nil, allocated{Mix: finding.Mix{Kind: finding.KindReflect, Via: "reflect.Value.Call"}}, "")
	f(cures.Of("unbox-interface"), nil, allocated{Mix: finding.Mix{Kind: finding.KindReflect, Via: "html/template.(*Template).Execute"}}, "")
}

// TestMoreHere: allocations of the line that a cure does not touch are told.
func TestMoreHere(t *testing.T) {
	c := &candidate{Parts: []*allocated{
		{Mix: finding.Mix{Objects: 0.5, Bytes: 0.5}}, {Mix: finding.Mix{Objects: 0.4, Bytes: 0.4}}, {Mix: finding.Mix{Objects: 0.02, Bytes: 0.01}},
	}}
	if n := c.notable(); n != 2 {
		t.Errorf("%d notable parts, want 2", n)
	}
	if text := (offer{cure: cures.Of("presize-map"), best: proposal{Text: "do"}, more: 1}).remedy().Text; text != "do (another allocation of the line stays)" {
		t.Errorf("text %q", text)
	}
	if text := (offer{cure: cures.Of("presize-map"), best: proposal{Text: "do"}}).remedy().Text; text != "do" {
		t.Errorf("text %q", text)
	}
}

// TestLost: a pool loses objects only if they live shorter than it would keep them; what a service
// makes anew since collections emptied the pool is no misuse.
func TestLost(t *testing.T) {
	objects := 1000.0
	f := func(class finding.LifetimeClass, perOp float64, want bool) {
		t.Helper()
		c := &candidate{Finding: &finding.Finding{Lifetime: finding.Lifetime{Class: class}, Cost: finding.Cost{ObjectsPerOp: stats.Exact(perOp), Objects: stats.Exact(objects)}},
			diagnosis: &finding.Diagnosis{Environment: evidence.Environment{GOMAXPROCS: 2}}}
		if got := lost.ask(c, nil) == finding.Yes; got != want {
			t.Errorf("%s, %v objects an operation: %v, want %v", class, perOp, got, want)
		}
	}
	f(finding.LifetimeShort, 0, true)
	f(finding.LifetimeShort, 0.1, false) // collections empty the pool
	f(finding.LifetimeCycle, 1, false)
	f(finding.LifetimeLong, 0, false)
	f(finding.LifetimeUnknown, 1, true)
	f(finding.LifetimeUnknown, 0.01, false)
	objects = 4
	f(finding.LifetimeUnknown, 1, false) // each processor's part of the pool is filled
}

// TestTried: an edit that takes nothing away rules its cure out, and so does one that breaks a test; one of a bad size
// does not, nor one that left a question open.
func TestTried(t *testing.T) {
	for _, c := range []struct {
		trial finding.Trial
		stays bool
	}{
		{finding.Trial{Before: finding.Amount{Allocs: 145, Bytes: 2000}, After: finding.Amount{Allocs: 131, Bytes: 2400}}, true},
		{finding.Trial{Before: finding.Amount{Allocs: 145, Bytes: 2000}, After: finding.Amount{Allocs: 145, Bytes: 2000}}, false},
		{finding.Trial{Before: finding.Amount{Allocs: 145, Bytes: 2000}, After: finding.Amount{Allocs: 131, Bytes: 1900}, Fault: "a test fails with it"}, false},
		{finding.Trial{Before: finding.Amount{Allocs: 145, Bytes: 2000}, After: finding.Amount{Allocs: 145, Bytes: 2000}, Question: "Write and WriteString must do the same"}, true},
	} {
		c.trial.Code, c.trial.Tried = "presize-slice", true
		of := &candidate{Finding: &finding.Finding{}, trials: []finding.Trial{c.trial}}
		left := of.tried([]offer{{cure: cures.Of("presize-slice")}})
		if stays := len(left) == 1; stays != c.stays {
			t.Errorf("%+v: stays %v, want %v", c.trial, stays, c.stays)
		}
	}
}

// TestVetoedEdit: an edit that was not tried and leaves a question open is not offered against a fact.
func TestVetoedEdit(t *testing.T) {
	edit := finding.Trial{Code: "reuse-buffer", Kind: "kept by the receiver", Question: "nobody may keep it"}
	of := &candidate{Finding: &finding.Finding{}, diagnosis: &finding.Diagnosis{}, session: &diagnose.Session{}, trials: []finding.Trial{edit}}
	if got := of.untried(nil, nil); len(got) != 1 {
		t.Errorf("without a fact against it: %d offers", len(got))
	}
	of.ruledOut = []fate.Against{{Code: "reuse-buffer", Why: "it goes to another goroutine"}}
	if got := of.untried(nil, nil); len(got) != 0 {
		t.Errorf("against a fact: %d offers", len(got))
	}
	of.trials[0].Question = ""
	if got := of.untried(nil, nil); len(got) != 1 {
		t.Errorf("proved by the source: %d offers", len(got))
	}
}

// TestUntriedEdit: an edit that was not tried takes the place of a rule of the same cure only if it is right more often, and
// either surely enough or where the rule is not; never that of an edit that was tried.
func TestUntriedEdit(t *testing.T) {
	edit := finding.Trial{Code: "keep-on-stack", Kind: "array of constant size", Text: "the edit", Gone: true} // leastUntried at least
	asked := finding.Trial{Code: "keep-on-stack", Kind: "a kind that no case has", Text: "the edit", Question: "is it safe?"}
	rate := cures.HitRate(asked.Code, editRule+asked.Kind)
	if rate >= leastUntried {
		t.Fatalf("a kind without a case is right in %v", rate)
	}
	for _, c := range []struct {
		name  string
		trial finding.Trial
		offer offer
		taken bool
	}{
		{"proved, beside a rule that is seldom right", edit, offer{fit: leastNamed - 0.1}, true},
		{"proved, beside a rule that may be named", edit, offer{fit: leastNamed + 0.1}, true},
		{"proved, beside a surer rule", edit, offer{fit: 1}, false},
		{"proved, beside an edit that was tried", edit, offer{fit: leastNamed, trial: new(finding.Trial)}, false},
		{"asked, beside a rule that may be named", asked, offer{fit: min(rate, leastNamed)}, false},
		{"asked, beside a rule that is less often right", asked, offer{fit: min(rate, leastNamed) - 0.1}, true},
	} {
		c.offer.cure, c.offer.best = cures.Of("keep-on-stack"), proposal{Rule: "a rule", Text: "the rule"}
		of := &candidate{Finding: &finding.Finding{}, diagnosis: &finding.Diagnosis{}, session: &diagnose.Session{}, trials: []finding.Trial{c.trial}}
		got := of.untried([]offer{c.offer}, nil)
		if len(got) != 1 {
			t.Fatalf("%s: %d offers", c.name, len(got))
		}
		if taken := got[0].best.Text == "the edit"; taken != c.taken {
			t.Errorf("%s: the edit takes the place: %v, want %v", c.name, taken, c.taken)
		}
	}
}

func TestPays(t *testing.T) {
	f := &finding.Finding{Cost: finding.Cost{CPU: stats.Interval{Value: 0.01}}}
	unseen := offer{objects: 1, cuts: []finding.Cut{{Objects: 2000}}}
	if !pays(f, unseen) {
		t.Error("a cure that adds nothing does not pay where no sample fell on malloc")
	}
	unseen.cuts = append(unseen.cuts, finding.Cut{Objects: 1, Added: stats.Interval{Value: 1e-8}})
	if pays(f, unseen) {
		t.Error("a cure that adds work pays though it saves nothing")
	}
	if pays(f, offer{}) {
		t.Error("a cure that takes nothing away pays")
	}
}
