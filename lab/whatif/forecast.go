//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
	Once    bool   `json:"once,omitempty"` // in a program's list of settings: one run is enough
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
	Ask      *struct {
		Env []string `json:"env"`
	} `json:"ask"`
}

// asks tells whether tune, given a program's first recording, asks for the second
// that is here.
func (o options) asks(p program) (bool, error) {
	pl, err := o.forecast(p, nil, false)
	return err == nil && pl.Ask != nil && slices.Equal(pl.Ask.Env, []string{secondSetting}), err
}

// chosen are the settings of a program's rows: GOGC within a factor of eight,
// limits of about 2 and 5 times the live heap, a ballast of three times, and one
// limit that tune should refuse. They are of tune's own ladder, so that they
// suit the program's size.
func (p plan) chosen() []setting {
	var out []setting
	limits, ballasts := 0, 0
	for _, q := range p.Curve {
		switch {
		case q.Setting.Ballast > 0:
			if ballasts++; ballasts == 2 {
				out = append(out, q.Setting)
			}
		case q.Setting.Limit > 0 && q.Setting.GOGC < 0:
			limits++
			if limits == 1 || limits == 3 || limits == 5 {
				q.Setting.Once = q.Refused != ""
				out = append(out, q.Setting)
			}
		case q.Setting.GOGC == 50, q.Setting.GOGC == 200, q.Setting.GOGC == 400, q.Setting.GOGC == 800:
			out = append(out, q.Setting)
		}
	}
	return out
}

// The setting of the second recording, as a variable and as tune writes it.
const (
	secondSetting = "GOGC=400"
	secondText    = "gogc=400"
)

// recording is the folder of a program's recording, made with more variables
// for the second one.
func (o options) recording(p program, env ...string) string {
	return o.dir(p, strings.Join(append([]string{"recording"}, env...), "-"))
}

// record has the tool record a program, at the runtime's default, or with more
// variables for the second recording.
func (o options) record(p program, env ...string) error {
	to := o.recording(p, env...)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := o.freshen(p); err != nil {
		return err
	}
	args := []string{"tune", "-json", os.DevNull, "-C", o.dir(p, "src"), "-o", to, "-exec", "./" + p.pkg}
	if p.ready != "" {
		args = append(args, "-ready", p.ready, "-load", p.load)
	}
	cmd := o.command(o.heaptrim, append(append(args, "--"), p.args...)...)
	cmd.Env = append(append(append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"), p.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("record: %w: %s", err, lastLine(out))
	}
	return nil
}

// freshen brings a program's files to what they are before each run.
func (o options) freshen(p program) error {
	if p.before == "" {
		return nil
	}
	return shell(o.dir(p), "%s", p.before)
}

// forecast has the tool forecast settings from one recording or from two; the
// tool's own ladder without settings.
func (o options) forecast(p program, settings []setting, second bool) (plan, error) {
	args := []string{"tune", "-json", "-"}
	if len(settings) > 0 {
		var text []string
		for _, s := range settings {
			text = append(text, s.Text)
		}
		args = append(args, "-only", "-settings", strings.Join(text, " "))
	}
	if second {
		args = append(args, "-with", o.recording(p, secondSetting))
	}
	out, err := exec.Command(o.heaptrim, append(args, o.recording(p))...).Output()
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
