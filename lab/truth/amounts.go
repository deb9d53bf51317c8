package main

import (
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// interval is a value of a report.
type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// held is a predicted amount beside what the fix saved.
type held struct {
	What     string   `json:"what"`
	Predicts interval `json:"predicts"`
	Saved    float64  `json:"saved"`
}

// slack is how far a count may lie outside an interval: package testing rounds what cases list.
const slack = 1

func (h held) inside() bool {
	return h.Saved >= h.Predicts.Low-slack && h.Saved <= h.Predicts.High+slack
}

// amountsOf are the amounts that all right rows of a case predict together, beside those that the fix saved.
func amountsOf(c corpus.Case, doc document) []held {
	before, after := c.Measured.Before, c.Measured.After
	out := []held{{What: "objects", Saved: before.Allocs - after.Allocs}, {What: "bytes", Saved: before.B - after.B}}
	found := false
	for _, f := range doc.Findings {
		if f.Code == "leave-it" || !c.Hit(f.Site) || !c.Right(f.Code) || found && c.Planted != nil {
			continue // of planted waste the first row is meant
		}
		found = true
		for i, p := range []*interval{f.Prediction.Intervals.Objects, f.Prediction.Intervals.Bytes} {
			if p != nil {
				out[i].Predicts.Value += p.Value
				out[i].Predicts.Low += p.Low
				out[i].Predicts.High += p.High
			}
		}
	}
	if !found {
		return nil
	}
	return slices.DeleteFunc(out, func(h held) bool { return h.Saved <= 0 })
}

// insideText is the share of amounts whose interval holds what was saved.
func insideText(all []held) string {
	if len(all) == 0 {
		return "–"
	}
	n := 0
	for _, h := range all {
		if h.inside() {
			n++
		}
	}
	return fmt.Sprintf("%.0f %% of %d", 100*float64(n)/float64(len(all)), len(all))
}

// widthText is the median of the intervals' widths, as parts of their values.
func widthText(all []held) string {
	var widths []float64
	for _, h := range all {
		if h.Predicts.Value > 0 {
			widths = append(widths, (h.Predicts.High-h.Predicts.Low)/h.Predicts.Value)
		}
	}
	if len(widths) == 0 {
		return "–"
	}
	slices.Sort(widths)
	return fmt.Sprintf("%.2f", widths[len(widths)/2])
}
