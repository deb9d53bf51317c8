package browser

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
	"github.com/heaptrim/heaptrim/internal/web"
)

// TestPacer compares the pacer's arithmetic of the page with that of the model,
// over settings of every regime.
func TestPacer(t *testing.T) {
	browserPath(t)
	modules, err := web.Modules()
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, desktop)
	for _, m := range modules {
		if m.Name == "pacer.js" {
			// A module without imports runs as it is once its exports are declarations.
			eval[bool](b, "(window.pacer = new Function(%s.replaceAll('export function', 'function') + '; return { headroom, outcome }')(), true)", quote(m.Text))
		}
	}
	type setting struct {
		GOGC    int   `json:"gogc"`
		Limit   int64 `json:"limit"`
		Ballast int64 `json:"ballast"`
	}
	type workload struct {
		Live    float64 `json:"live"`
		Roots   float64 `json:"roots"`
		NonHeap float64 `json:"non_heap"`
	}
	r := rand.New(rand.NewPCG(7, 11))
	none, regimes := 0, map[gcmodel.Regime]int{}
	for range 400 {
		size := func(most float64) float64 { return math.Floor(math.Exp(r.Float64() * math.Log(most))) }
		w, s := workload{size(1 << 32), size(1 << 24), size(1 << 28)}, setting{GOGC: int(size(2000)), Ballast: int64(size(1<<30)) * int64(r.IntN(2))}
		if r.IntN(2) == 0 {
			s.Limit = int64(size(1 << 34))
		}
		if s.Limit > 0 && r.IntN(4) == 0 {
			s.GOGC = -1
		}
		model := gcmodel.Workload{AllocRate: 1, CollectorCost: 1, Live: w.Live, Globals: w.Roots, NonHeap: w.NonHeap}
		target, err := gcmodel.Goal(model, gcmodel.Setting{GOGC: s.GOGC, Limit: unit.Bytes(s.Limit), Ballast: unit.Bytes(s.Ballast)})
		workloadText, err1 := json.Marshal(w)
		settingText, err2 := json.Marshal(s)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		got := eval[float64](b, "window.pacer.headroom(%s, %s)", workloadText, settingText)
		if errors.Is(err, gcmodel.ErrNoHeadroom) {
			none++
			if got > 0 {
				t.Errorf("headroom of %s under %s: %v, the model says there is none", workloadText, settingText, got)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s under %s: %v", workloadText, settingText, err)
		}
		regimes[target.Regime]++
		if math.Abs(got-target.Headroom) > 1e-9*target.Headroom {
			t.Errorf("headroom of %s under %s: %v, the model says %v (%v)", workloadText, settingText, got, target.Headroom, target.Regime)
		}
	}
	if len(regimes) < 4 || none == 0 {
		t.Errorf("only the regimes %v were compared, and %d without headroom", regimes, none)
	}
}
