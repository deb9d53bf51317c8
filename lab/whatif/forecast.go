//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// interval, setting, point and plan are what is read of tune's JSON.
type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type setting struct {
	Text    string `json:"text"`
	GOGC    int    `json:"gogc"`
	Limit   int64  `json:"limit_bytes"`
	Ballast int64  `json:"ballast_bytes"`
}

type point struct {
	Setting   setting  `json:"setting"`
	Refused   string   `json:"refused"`
	PerCycle  interval `json:"bytes_per_cycle"`
	PerSecond interval `json:"cycles_per_second"`
	Collector interval `json:"collector_cpu_share"`
	Assist    interval `json:"assist_cpu_share"`
	Idle      interval `json:"idle_mark_cpu_share"`
	Peak      interval `json:"peak_heap_bytes"`
	RSS       interval `json:"peak_rss_bytes"`
}

type plan struct {
	Recorded setting  `json:"recorded_setting"`
	Curve    []point  `json:"curve"`
	Exponent interval `json:"cache_exponent"`
}

// chosen are the settings of a program's rows: GOGC within a factor of eight,
// limits of about 2 and 5 times the live heap, a ballast of three times, and one
// limit that tune should refuse. They are of tune's own ladder, so that they
// suit the program's size.
func (p plan) chosen() []point {
	var out []point
	limits, ballasts := 0, 0
	for _, q := range p.Curve {
		switch {
		case q.Setting.Ballast > 0:
			if ballasts++; ballasts == 2 {
				out = append(out, q)
			}
		case q.Setting.Limit > 0 && q.Setting.GOGC < 0:
			limits++
			if limits == 1 || limits == 3 || limits == 5 {
				out = append(out, q)
			}
		case q.Setting.GOGC == 50, q.Setting.GOGC == 200, q.Setting.GOGC == 400, q.Setting.GOGC == 800:
			out = append(out, q)
		}
	}
	return out
}

// record has the tool record a program, at the runtime's default, or with more
// variables for the second recording.
func (o options) record(p program, env ...string) error {
	name := "recording"
	if len(env) > 0 {
		name = "recording-" + env[0]
	}
	if err := os.RemoveAll(o.dir(p, name)); err != nil {
		return err
	}
	o.freshen(p)
	args := []string{"tune", "-json", os.DevNull, "-C", o.dir(p, "src"), "-o", o.dir(p, name), "-exec", "./" + p.pkg}
	if p.ready != "" {
		args = append(args, "-ready", p.ready, "-load", p.load)
	}
	cmd := exec.Command(o.heaptrim, append(append(args, "--"), p.args...)...)
	cmd.Env = append(append(append(os.Environ(), "GOFLAGS=-mod=mod"), p.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("record: %w: %s", err, lastLine(out))
	}
	return nil
}

func (o options) freshen(p program) {
	for _, f := range p.fresh {
		os.RemoveAll(o.dir(p, f))
	}
}

// forecast has the tool forecast settings from a recording.
func (o options) forecast(p program, settings []string, second string) (plan, error) {
	args := []string{"tune", "-json", "-"}
	if len(settings) > 0 {
		args = append(args, "-settings", strings.Join(settings, " "))
	}
	if second != "" {
		args = append(args, "-with", second)
	}
	out, err := exec.Command(o.heaptrim, append(args, o.dir(p, "recording"))...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, lastLine(exit.Stderr))
		}
		return plan{}, fmt.Errorf("tune: %w", err)
	}
	var pl plan
	return pl, json.Unmarshal(out, &pl)
}

// forecastAgain replaces the forecasts of measured rows.
func (o options) forecastAgain(p program, rows []row) ([]row, error) {
	second := ""
	const other = "GOGC=400"
	if o.second {
		second = o.dir(p, "recording-"+other)
		if _, err := os.Stat(filepath.Join(second, "manifest.json")); err != nil {
			if err := o.record(p, other); err != nil {
				return nil, err
			}
		}
	}
	var settings []string
	for _, r := range rows {
		settings = append(settings, r.Forecast.Setting.Text)
	}
	pl, err := o.forecast(p, settings, second)
	if err != nil {
		return nil, err
	}
	var out []row
	for _, r := range rows {
		for _, q := range pl.Curve {
			if q.Setting.Text == r.Forecast.Setting.Text && !(o.second && q.Setting.Text == "gogc=400") {
				r.Forecast = q
				out = append(out, r)
				break
			}
		}
	}
	return out, nil
}
