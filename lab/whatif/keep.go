//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// ran is one run of a program, a line of its file of runs.
type ran struct {
	Setting  setting
	Measured measured
}

// row is a forecast beside what was measured.
type row struct {
	Program  string
	Set      set
	Forecast point
	Runs     []measured
}

// keep appends a run to the program's file.
func (o options) keep(p program, r ran) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(o.dir(p, "runs.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// kept are the runs that are there, by the text of their settings.
func (o options) kept(p program) (map[string][]measured, error) {
	out := map[string][]measured{}
	f, err := os.Open(o.dir(p, "runs.jsonl"))
	if os.IsNotExist(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var r ran
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", f.Name(), n, err)
		}
		out[r.Setting.Text] = append(out[r.Setting.Text], r.Measured)
	}
	return out, lines.Err()
}

// todo is a run that is missing; without a setting's text there is none.
type todo struct {
	program program
	setting setting
	n       int // runs that are there
}

func (o options) next(ps []program) (todo, error) {
	best := todo{n: o.runs}
	for _, p := range ps {
		kept, err := o.kept(p)
		if err != nil {
			return best, err
		}
		settings, err := o.settings(p)
		if err != nil {
			return best, err
		}
		for _, s := range settings {
			if n := len(kept[s.Text]); n < best.n && !(s.Once && n > 0) {
				best = todo{p, s, n}
			}
		}
	}
	return best, nil
}

// settings are those of a program's rows. They are chosen once, by the first
// recording, and kept, so that they stay the same while the model changes.
func (o options) settings(p program) ([]setting, error) {
	file := o.dir(p, "settings.json")
	var out []setting
	text, err := os.ReadFile(file)
	if err == nil {
		return out, json.Unmarshal(text, &out)
	}
	plan, err := o.forecast(p, nil, false)
	if err != nil {
		return nil, err
	}
	out = plan.chosen()
	if text, err = json.Marshal(out); err != nil {
		return nil, err
	}
	return out, os.WriteFile(file, text, 0o644)
}

// rows are the program's rows that have both a forecast and runs.
func (o options) rows(p program) ([]row, error) {
	kept, err := o.kept(p)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	settings, err := o.settings(p)
	if err != nil {
		return nil, err
	}
	second := o.second
	if o.asked {
		if second, err = o.asks(p); err != nil {
			return nil, err
		}
	}
	if second {
		settings = slices.DeleteFunc(settings, func(s setting) bool { return s.Text == secondText })
	}
	plan, err := o.forecast(p, settings, second)
	if err != nil {
		return nil, err
	}
	var out []row
	for _, s := range settings {
		i := slices.IndexFunc(plan.Curve, func(q point) bool { return q.Setting.Text == s.Text })
		if runs := kept[s.Text]; i >= 0 && len(runs) > 0 {
			out = append(out, row{p.name, p.set, plan.Curve[i], runs})
		}
	}
	return out, nil
}
