package tune

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Choice is the setting that is recommended.
type Choice struct {
	Knob    Knob
	Point   Point // what it would do
	Why     string
	Saves   float64 // share of today's CPU, idle marking left out
	Costs   float64 // bytes of memory beyond today's; negative when it takes less
	Others  []Other // the other knobs, and why not
	Refused string  // why nothing is recommended; then only Why is set
}

// Other is a knob that was not chosen.
type Other struct {
	Knob  Knob
	Point Point // the setting that it would have had
	Why   string
}

// candidate is a knob with its best value.
type candidate struct {
	point Point
	tall  float64 // memory at the burst; infinite where there is no forecast
	why   string  // against it
}

// choose finds the knee: the headroom from which one more doubling saves too
// little, or beyond which it does not fit. Then each knob is set to reach it,
// and the one that takes least memory at the burst is chosen, the simplest of
// several.
func (m *maker) choose() Choice {
	knee, ok := m.knee()
	if !ok {
		return Choice{Knob: KnobNone, Refused: errNothing.Error(), Why: m.tooTight()}
	}
	if knee.Setting == m.plan.Today.Setting {
		return m.stay(knee)
	}
	var all []candidate
	for _, s := range m.equivalents(knee) {
		all = append(all, m.candidate(s))
	}
	best := 0
	for i, c := range all {
		if c.why == "" && (all[best].why != "" || c.tall < all[best].tall*(1-sameMemory)) {
			best = i
		}
	}
	return m.chosen(all, best)
}

// sameMemory is by how much a knob must need less memory than a simpler one.
const sameMemory = 0.1

// safeAtBurst is the least ratio of a limit to the live heap at the burst where
// GOGC is off: below it the collector takes a large part of the CPU, and
// nothing holds it back.
const safeAtBurst = 2

// knee steps up from the smallest GOGC that is sensible.
func (m *maker) knee() (Point, bool) {
	today := m.plan.Today
	var best Point
	found := false
	for _, g := range gogcSteps() {
		p := m.point(gcmodel.Setting{GOGC: g, Limit: m.plan.Today.Setting.Limit, Ballast: m.plan.Today.Setting.Ballast})
		if !p.Known() || !p.Fits {
			continue
		}
		if !found || m.saved(best, p) >= m.o.Knee {
			best, found = p, true
		}
	}
	if !found {
		return best, false
	}
	// Today's stays unless the step away from it is worth it.
	if today.Known() && today.Fits && math.Abs(m.saved(today, best)) < m.o.Knee {
		return today, true
	}
	return best, true
}

// saved is the share of today's CPU that b saves against a.
func (m *maker) saved(a, b Point) float64 { return charged(a) - charged(b) }

// charged is the CPU of a setting without idle marking, as a part of the
// recorded.
func charged(p Point) float64 { return p.CPU.Value * (1 - p.Idle.Value) }

func (m *maker) stay(p Point) Choice {
	return Choice{
		Knob: KnobNone, Point: p,
		Why: fmt.Sprintf("The collector takes %s of CPU; doubling its headroom would save less than %s.", percent(p.Collector.Value), percent(m.o.Knee)),
	}
}

func (m *maker) tooTight() string {
	c := m.o.Constraint
	need := m.f.Trace().PeakLive() * c.burst()
	return fmt.Sprintf("%v less %v for others holds no safe setting for a live heap of %v: it takes at least %.1f × that, and what is mapped beside the heap.",
		c.Max, c.Beside, unit.Bytes(need), gcmodel.SafeRatio)
}

// equivalents are the settings of each knob that give about the headroom of
// one with GOGC, simplest first.
func (m *maker) equivalents(p Point) []gcmodel.Setting {
	t := m.f.Trace()
	peak := p.Peak.Value - float64(p.Setting.Ballast)
	total := (peak*(1+t.Memory.Slack) + t.Memory.Fixed) / 0.97
	guard := total * m.o.Constraint.burst() * guardRoom
	if room := m.o.Constraint.room(); room > 0 {
		guard = room * limitShare
	}
	live := t.MeanLive()
	return []gcmodel.Setting{
		p.Setting,
		{GOGC: p.Setting.GOGC, Limit: round(guard)},
		{GOGC: 100, Ballast: round(math.Max(float64(unit.MiB), (peak-2*live)/1))},
		{GOGC: -1, Limit: round(total)},
	}
}

const (
	guardRoom  = 1.25 // of a limit that is only a guard, over the expected size
	limitShare = 0.95 // of the process's memory that a limit may promise; the rest is the binary and C
)

func (m *maker) candidate(s gcmodel.Setting) candidate {
	c := candidate{point: m.point(s), tall: math.Inf(1)}
	knob, burst := knobOf(s), m.o.Constraint.burst()
	if v, err := m.tall.At(s); err == nil {
		c.tall = memoryOf(v).High
	}
	switch {
	case !c.point.Known():
		c.why = c.point.Refused
	case knob == KnobBallast && c.point.Setting.Ballast < leastBallast:
		c.why = "the headroom is too small for a ballast"
	case knob == KnobLimit && m.tall.LimitRatio(s) < safeAtBurst:
		c.why = fmt.Sprintf("with collection off below the limit, nothing holds the collector back when the live heap grows: at %.3g × the recorded one the limit is %.1f × the live heap, below %d", burst, m.tall.LimitRatio(s), safeAtBurst)
	case knob == KnobLimit && m.o.Constraint.room() == 0:
		c.why = "without a bound on memory there is no limit to set; with one that is too low, the collector would run without pause"
	case knob == KnobBoth && m.o.Constraint.room() == 0:
		c.why = "without a bound on memory a limit guards nothing (give -max-memory or -container)"
	case !c.point.Fits:
		c.why = "does not fit the memory at the burst"
	case knob == KnobGOGC && m.o.Constraint.room() > 0:
		c.why = "GOGC alone follows the live heap without bound; there is a bound on memory, and a limit as guard costs nothing"
	}
	return c
}

const leastBallast = 8 * unit.MiB

func (m *maker) chosen(all []candidate, best int) Choice {
	p := all[best].point
	today := m.plan.Today
	c := Choice{
		Knob: knobOf(p.Setting), Point: p,
		Saves: m.saved(today, p), Costs: memoryOf(p.Forecast).Value - memoryOf(today.Forecast).Value,
	}
	if all[best].why != "" {
		return Choice{Knob: KnobNone, Refused: errNothing.Error(), Why: all[best].why}
	}
	c.Why = m.because(c)
	for i, o := range all {
		if i == best {
			continue
		}
		if o.why == "" {
			o.why = fmt.Sprintf("about the same, %s at the burst against %s", unit.FormatBytes(o.tall), unit.FormatBytes(all[best].tall))
			if math.IsInf(o.tall, 1) {
				o.why = "no forecast for the burst"
			}
		}
		c.Others = append(c.Others, Other{knobOf(o.point.Setting), o.point, o.why})
	}
	return c
}

func (m *maker) because(c Choice) string {
	today, p := m.plan.Today, c.Point
	text := fmt.Sprintf("The collector takes %s of CPU instead of %s, %s cycles instead of %s per second",
		percent(p.Collector.Value), percent(today.Collector.Value), unit.FormatCount(p.PerSecond.Value), unit.FormatCount(today.PerSecond.Value))
	if c.Costs >= 0 {
		text += fmt.Sprintf(", for %s more memory.", unit.FormatBytes(c.Costs))
	} else {
		text += fmt.Sprintf(", with %s less memory.", unit.FormatBytes(-c.Costs))
	}
	return text + fmt.Sprintf(" One more doubling of the headroom would save less than %s, or would not fit.", percent(m.o.Knee))
}

func percent(share float64) string { return unit.FormatCount(100*share) + " %" }
