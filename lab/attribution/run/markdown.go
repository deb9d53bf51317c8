package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// writeMarkdown prints the measured table and, where predictions were asked
// for, their comparison and its summary.
func writeMarkdown(w io.Writer, res *Result) error {
	b := bufio.NewWriter(w)
	e := res.Environment
	fmt.Fprintf(b, "%s, %s, %s, GOMAXPROCS %d, load %s before and %s after, %s\n\n",
		e.Go, e.System, orUnknown(e.CPU), e.GOMAXPROCS, orUnknown(e.Load), orUnknown(e.LoadAfter), e.Took)
	writeMeasured(b, res.Rows)
	judged := false
	for _, r := range res.Rows {
		judged = judged || r.Prediction != nil
	}
	if judged {
		writeCompared(b, res.Rows)
		writeSummary(b, res.Summary)
	}
	return b.Flush()
}

func writeMeasured(b *bufio.Writer, rows []Row) {
	b.WriteString("| program | kind | class | live heap | CPU/op | saving, idle marking left out | saving, all CPU | idle | GC share | B/op | allocs/op | cycles/run |\n")
	b.WriteString("|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		m := r.Measured
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.2f µs | %s | %s | %.1f → %.1f %% | %.0f → %.0f %% | %.0f → %.0f | %.0f → %.0f | %.0f → %.0f |\n",
			r.Name, r.Kind, r.Class, r.Live, m.With.busyOp()*1e6, percent(m.Saving), percent(m.SavingAll),
			100*m.With.idle(), 100*m.Without.idle(), 100*m.With.gcShare(), 100*m.Without.gcShare(),
			m.With.BytesOp, m.Without.BytesOp, m.With.AllocsOp, m.Without.AllocsOp, m.With.Cycles, m.Without.Cycles)
	}
	b.WriteString("\n")
}

func writeCompared(b *bufio.Writer, rows []Row) {
	b.WriteString("| program | class | rank | predicted saving | recordings | measured saving | rounds | error, points | relative | verdict |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, r := range rows {
		if r.Prediction == nil {
			continue
		}
		if !r.Prediction.Found {
			fmt.Fprintf(b, "| %s | %s | – | – | – | %s | %d | – | – | %s; in its file: %s |\n",
				r.Name, r.Class, percent(r.Measured.Saving), len(r.Measured.Rounds), r.Verdict, orUnknown(strings.Join(r.Prediction.Near, "; ")))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s | %d | %s | %d | %+.1f | %.0f %% | %s |\n",
			r.Name, r.Class, r.Prediction.Rank, percent(r.Prediction.Saving), len(r.Prediction.Each), percent(r.Measured.Saving), len(r.Measured.Rounds),
			100*r.Error, 100*r.Relative, r.Verdict)
	}
	b.WriteString("\n")
}

func writeSummary(b *bufio.Writer, s Summary) {
	fmt.Fprintf(b, "Short-lived sites: %d; median relative error %.0f %% (target ≤ %.0f %% or ≤ %.0f point: %s); ",
		s.Short, 100*s.MedianRelative, 100*targetMedian, 100*targetPoints, met(s.MedianMet))
	if s.WorstName == "" {
		fmt.Fprintf(b, "none off by more than %.0f point.\n", 100*targetPoints)
	} else {
		fmt.Fprintf(b, "worst of those off by more than %.0f point %.0f %% (%s; target ≤ %.0f %%: %s).\n",
			100*targetPoints, 100*s.WorstRelative, s.WorstName, 100*targetWorst, met(s.WorstMet))
	}
	fmt.Fprintf(b, "Retained sites: %d; sign right and intervals overlapping for %d. Marked lines without a finding: %d.\n",
		s.Retained, s.RetainedRight, s.Unfound)
}

func percent(i Interval) string {
	return fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "not met"
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}
