package diagnose

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// RunSeries is the logs of one run as time series. It belongs to the diagnosis: callers must
// not change it.
type RunSeries struct {
	Run     string
	Window  time.Duration      // 0: not known
	Cycles  []evidence.Cycle   // of the window, forced ones included
	Metrics []evidence.Metrics // samples of runtime/metrics
	PeakRSS unit.Bytes         // largest resident set of the process; 0: not known
}

// Series returns the time series of the runs that have any.
func (s *Session) Series() []RunSeries {
	var out []RunSeries
	for _, r := range s.runs {
		if len(r.Collector.Cycles) == 0 && len(r.Collector.Metrics) == 0 {
			continue
		}
		s := RunSeries{Run: r.Run.Name, Window: r.Collector.Window, Cycles: r.Collector.Cycles,
			Metrics: r.Collector.Metrics}
		s.PeakRSS = r.Collector.Service.Resident // as in the totals, without the recorder
		for _, p := range r.Run.Parts {
			if r.Bench && p.Pass != evidence.PassAllocation {
				s.PeakRSS = max(s.PeakRSS, unit.Bytes(p.PeakRSS))
			}
		}
		out = append(out, s)
	}
	return out
}

// RunModel is the pacer's model of one run: what another setting would cost
// follows from it by package gcmodel.
type RunModel struct {
	Run       string
	Workload  gcmodel.Workload // rates and costs in units of the run's own
	Setting   gcmodel.Setting  // as recorded
	Collected stats.Interval   // the collector, without assists and idle marking, as a share of the run's CPU
}

// Models returns the models of the runs that have one.
func (s *Session) Models() []RunModel {
	var out []RunModel
	for _, r := range s.runs {
		if r.model.known && r.cpu.collected.Value > 0 {
			out = append(out, RunModel{r.Run.Name, r.model.workload, r.model.setting, r.cpu.collected})
		}
	}
	return out
}
