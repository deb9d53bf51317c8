package diagnose

import (
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// WhatIf is a recording's collector under another setting.
type WhatIf struct {
	Saved         stats.Interval // share of CPU; negative when the setting costs more
	CyclesShare   float64        // cycles, divided by today's
	Goal, GoalNow unit.Bytes     // heap goals of the busiest run
}

// WithGOGC computes the collector's cost with another GOGC, as the mean over the runs. It is
// false if the model is not known for any run or collection is off.
func (s *Session) WithGOGC(percent int) (WhatIf, bool) {
	var w WhatIf
	n, most := 0.0, 0.0
	for _, r := range s.runs {
		if !r.model.known || r.cpu.collected.Value <= 0 {
			continue
		}
		now, err := gcmodel.Goal(r.model.workload, r.model.setting)
		if err != nil {
			continue
		}
		set := r.model.setting
		set.GOGC = percent
		then, err := gcmodel.Goal(r.model.workload, set)
		if err != nil || then.Headroom <= 0 {
			continue
		}
		n++
		left := now.Headroom / then.Headroom
		w.Saved = w.Saved.Add(r.cpu.collected.Scale(1 - left))
		w.CyclesShare += left
		if r.cpu.collected.Value > most {
			most = r.cpu.collected.Value
			w.Goal, w.GoalNow = unit.Bytes(then.Goal), unit.Bytes(now.Goal)
		}
	}
	if n == 0 {
		return WhatIf{}, false
	}
	w.Saved = w.Saved.Scale(1 / float64(len(s.runs)))
	w.CyclesShare /= n
	return w, true
}
