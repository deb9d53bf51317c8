package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Choice is the recommended setting.
type Choice struct {
	Knob    Knob
	Point   Point // its forecast
	Why     string
	Saves   float64 // share of today's CPU that the collector takes less; by CPU samples if there are
	Clock   float64 // the same by the collector's clock
	InAll   float64 // with Clock also the saving in the program's own code, by the forecast; settings are chosen by this
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
	knob  Knob
	point Point
	tall  float64 // memory at the burst; infinite if there is no forecast
	why   string  // the reason against it; "" if there is none
	stop  string  // why the next larger value cannot be used; "" if it only saves too little
}

// choose raises each knob up to its knee: the headroom from which one more doubling
// saves too little or does not fit. Of the knobs with about the same saving it takes
// the simplest and safest. Without a bound on memory, it prefers one that needs
// clearly less memory at the burst.
func (m *maker) choose() Choice {
	var all []candidate
	most, found := 0.0, false
	for _, k := range []Knob{KnobGOGC, KnobBoth, KnobBallast, KnobLimit} {
		c := m.climb(k)
		if c.why == "" {
			if s := m.saved(m.plan.Today, c.point); !found || s > most {
				most, found = s, true
			}
		}
		all = append(all, c)
	}
	today := m.plan.Today
	switch {
	case !found:
		return Choice{Knob: KnobNone, Refused: errNothing.Error(), Why: m.tooTight(all)}
	case today.Known() && today.Fits && most < m.o.Knee:
		return m.stay(today)
	}
	best := -1
	for i, c := range all {
		if c.why != "" || m.saved(today, c.point) < most-m.o.Knee {
			continue
		}
		// Within a bound on memory, unused memory has no value.
		if best < 0 || m.o.Constraint.room() == 0 && c.tall < all[best].tall*(1-sameMemory) {
			best = i
		}
	}
	return m.chosen(all, best)
}

const (
	// sameMemory is by which fraction a knob must need less memory than a simpler one.
	sameMemory = 0.1
	// safeAtBurst is the least ratio of a limit to the live heap at the burst. Below it
	// the collector takes a large part of the CPU, and nothing bounds that.
	safeAtBurst  = 2
	guardRoom    = 1.25 // expected size times this is a limit that serves only as a guard
	limitShare   = 0.95 // share that a limit may use of the process's memory without that outside of the runtime
	leastBallast = 8 * unit.MiB
)

// climb finds the knee of one knob.
func (m *maker) climb(k Knob) candidate {
	c := candidate{knob: k, tall: math.Inf(1)}
	if c.why = m.against(k); c.why != "" {
		c.point = m.point(m.reaching(k, 400))
		return c
	}
	found, next := false, false // next: the last step was chosen
	doublings := 0.0            // from the step that was chosen
	for _, g := range gogcSteps() {
		doublings++
		p := m.point(m.reaching(k, g))
		why := m.unfit(k, p)
		switch {
		case why != "":
			if !found {
				c.point, c.why = p, why
			} else if next {
				c.stop = why
			}
			next = false
		case !found || m.saved(c.point, p) >= m.o.Knee*doublings:
			c.point, c.why, c.stop, found, next, doublings = p, "", "", true, true, 0
		default:
			next = false
		}
	}
	if next {
		c.stop = fmt.Sprintf("none larger than that of GOGC=%d is forecast", slices.Max(gogcSteps()))
	}
	if v, err := m.tall.At(c.point.Forecast.Setting); err == nil {
		c.tall = memoryOf(v).High
	}
	return c
}

// against returns the reason against a knob at any value; "" if there is none.
func (m *maker) against(k Knob) string {
	bound := m.o.Constraint.room() > 0
	switch {
	case k == KnobGOGC && bound:
		return "memory is bounded, but with GOGC alone the heap grows with the live heap without bound; a limit as a " +
			"guard costs nothing"
	case (k == KnobBoth || k == KnobLimit) && !bound && m.plan.Today.Forecast.Setting.Limit > 0:
		return fmt.Sprintf("today's limit of %s stays; how much less the program may take is not known (use -max-memory or -container)",
			unit.FormatBytes(float64(m.plan.Today.Forecast.Setting.Limit)))
	case k == KnobBoth && !bound:
		return "without a bound on memory a limit protects nothing (use -max-memory or -container)"
	case k == KnobLimit && !bound:
		return "without a bound on memory there is no limit to set; if it were too low, the collector would " +
			"run without pause"
	}
	return ""
}

// unfit returns why a value of a knob cannot be used; "" if it can.
func (m *maker) unfit(k Knob, p Point) string {
	s := p.Forecast.Setting
	switch {
	case !p.Known():
		return p.Refused
	case k == KnobBallast && s.Ballast < leastBallast:
		return "the headroom is too small for a ballast"
	case (k == KnobLimit || k == KnobBoth) && m.tall.LimitRatio(s) < safeAtBurst:
		return fmt.Sprintf("when the live heap grows to %.3g × the recorded one, the limit is %.1f × the live heap, "+
			"below %d: nothing would bound the collector's CPU time", m.o.Constraint.burst(), m.tall.LimitRatio(s),
			safeAtBurst)
	case !p.Fits:
		return "does not fit the memory at the burst"
	case m.o.Constraint.room() == 0 && p.Forecast.Peak.Value > m.unasked():
		return fmt.Sprintf("its largest heap would be more than %d times today's and more than %s, and how much it may take is not known: use -max-memory",
			mostGrowth, unit.FormatBytes(modest))
	}
	return ""
}

// Without a bound on memory, what is recommended takes at most so many times the memory of
// today, or a size that every machine has.
const (
	mostGrowth = 4
	modest     = 128 << 20
)

// unasked is the largest heap that is recommended without knowing how much memory there is.
func (m *maker) unasked() float64 {
	return math.Max(mostGrowth*m.plan.Today.Forecast.Peak.Value, modest)
}

// reaching returns the setting of a knob with about the headroom of a GOGC value.
func (m *maker) reaching(k Knob, percent int) gcmodel.Setting {
	t := m.f.Trace()
	live := t.MeanLive()
	headroom := math.Max(live, 4<<20) * float64(percent) / 100
	total := ((live+headroom)*(1+t.Memory.Slack) + t.Memory.Fixed) / (1 - gcmodel.LimitHeadroom)
	today := m.plan.Today.Forecast.Setting
	switch k {
	case KnobBoth:
		guard := total * m.o.Constraint.burst() * guardRoom
		if room := m.o.Constraint.room(); room > 0 {
			guard = math.Max(room-m.f.Outside(), 0) * limitShare
		}
		return gcmodel.Setting{GOGC: percent, Limit: round(guard), Ballast: today.Ballast}
	case KnobBallast:
		return gcmodel.Setting{GOGC: 100, Limit: today.Limit, Ballast: round(math.Max(headroom-live, 1))}
	case KnobLimit:
		return gcmodel.Setting{GOGC: -1, Limit: round(total)}
	}
	return gcmodel.Setting{GOGC: percent, Limit: today.Limit, Ballast: today.Ballast}
}

// saved returns the share of today's CPU that b saves compared with a.
func (m *maker) saved(a, b Point) float64 { return (charged(a) - charged(b)) / m.now() }

// now is the CPU time of today's setting by the forecast, as a fraction of the recorded.
func (m *maker) now() float64 {
	if t := m.plan.Today; t.Known() && t.Forecast.CPU.Value > 0 {
		return t.Forecast.CPU.Value
	}
	return 1
}

// SavedBy is what a setting saves of the collector's share that the profile shows: the part
// of the collector's CPU that goes by the forecast. What fewer cycles save the program's own
// code is not in it.
func SavedBy(share stats.Interval, now, then gcmodel.Forecast) stats.Interval {
	gone := func(was, is float64) float64 {
		was, is = was*now.CPU.Value, is*then.CPU.Value
		if was <= 0 {
			return 0
		}
		return math.Max(0, 1-is/was)
	}
	return stats.Interval{
		Value: share.Value * gone(now.Collector.Value, then.Collector.Value),
		Low:   share.Low * gone(now.Collector.Low, then.Collector.High),
		High:  share.High * gone(now.Collector.High, then.Collector.Low),
	}
}

// ofCollector returns the part of saved that the collector itself takes less.
func (m *maker) ofCollector(a, b Point) float64 {
	return math.Max(0, math.Min(m.saved(a, b), (collecting(a)-collecting(b))/m.now()))
}

// inAll is what a setting saves of today's CPU, the collector's part of it as a share of what was recorded.
func (m *maker) inAll(p Point) float64 {
	today := m.plan.Today
	return m.saved(today, p) + m.ofCollector(today, p)*(m.recorded()-1)
}

// recorded is the collector's share of CPU that was recorded, relative to the forecast of today's setting: what a choice
// says is said of the recorded share. It is 1 where one of them is not known.
func (m *maker) recorded() float64 {
	today, r := m.plan.Today, m.plan.Measured.Collector
	if !today.Known() || r <= 0 || collecting(today) <= 0 {
		return 1
	}
	return r * m.now() / collecting(today)
}

// collecting is the collector's time under a setting, as a fraction of the recorded CPU time.
func collecting(p Point) float64 { return p.Forecast.Collector.Value * p.Forecast.CPU.Value }

// charged returns the CPU time of a setting as a fraction of the recorded CPU time.
func charged(p Point) float64 {
	if !p.Known() {
		return 1
	}
	return p.Forecast.CPU.Value
}

func (m *maker) stay(p Point) Choice {
	return Choice{
		Knob: KnobNone, Point: p,
		Why: fmt.Sprintf("The collector takes %s of CPU; no other setting that fits saves %s or more.",
			percent(p.Forecast.Collector.Value), percent(m.o.Knee)),
	}
}

func (m *maker) tooTight(all []candidate) string {
	c := m.o.Constraint
	text := ""
	for _, o := range all {
		text += fmt.Sprintf(" %s: %s.", o.knob, o.why)
	}
	if c.room() == 0 {
		return strings.TrimSpace(text)
	}
	return fmt.Sprintf("The process may use %v, less %v for others; the live heap reaches %s.%s", c.Max, c.Beside,
		unit.FormatBytes(m.tall.Trace().PeakLive()), text)
}

func (m *maker) chosen(all []candidate, best int) Choice {
	p := all[best].point
	today := m.plan.Today
	c := Choice{Knob: all[best].knob, Point: p, Saves: m.ofCollector(today, p) * m.recorded(), InAll: m.inAll(p)}
	if today.Known() {
		c.Costs = memoryOf(p.Forecast).Value - memoryOf(today.Forecast).Value
	}
	c.Why = m.because(c, all[best].stop)
	for i, o := range all {
		if i == best {
			continue
		}
		if o.why == "" && o.knob == KnobLimit {
			o.why = "saves about the same, but with GOGC=off only the limit decides how often the collector runs " +
				"when the live heap is larger than recorded"
		}
		if o.why == "" {
			o.why = fmt.Sprintf("saves %s in all against %s, and takes up to %s at the burst against %s",
				percent(m.inAll(o.point)), percent(c.InAll), unit.FormatBytes(o.tall),
				unit.FormatBytes(all[best].tall))
			if o.tall < all[best].tall && m.saved(today, o.point) >= m.saved(today, p)-m.o.Knee {
				o.why += ", which is too little less for a setting that is not as simple"
			}
		}
		c.Others = append(c.Others, Other{o.knob, o.point, o.why})
	}
	return c
}

func (m *maker) because(c Choice, stop string) string {
	today, p := m.plan.Today, c.Point
	then, now := p.Forecast.PerSecond.Value, today.Forecast.PerSecond.Value
	if r := m.plan.Measured.PerSecond; r > 0 && now > 0 {
		then, now = then*r/now, r
	}
	text := fmt.Sprintf("The collector takes %s of today's CPU instead of %s, %s cycles instead of %s per second",
		percent(collecting(p)/m.now()*m.recorded()), percent(collecting(today)/m.now()*m.recorded()), unit.FormatCount(then), unit.FormatCount(now))
	if c.Costs >= 0 {
		text += fmt.Sprintf(", for %s more memory.", unit.FormatBytes(c.Costs))
	} else {
		text += fmt.Sprintf(", with %s less memory.", unit.FormatBytes(-c.Costs))
	}
	if stop != "" {
		return text + " One more doubling of the headroom is refused: " + stop + "."
	}
	return text + fmt.Sprintf(" One more doubling of the headroom would save less than %s.", percent(m.o.Knee))
}

func percent(share float64) string { return unit.FormatCount(100*share) + " %" }
