package tune

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Changed is a setting without the limit that is today's, too.
func Changed(s, today gcmodel.Setting) gcmodel.Setting {
	if s.GOGC >= 0 && s.Limit == today.Limit {
		s.Limit = 0
	}
	return s
}

// Text writes a setting that is compared with today's.
func Text(s, today gcmodel.Setting) string { return SettingText(Changed(s, today)) }

// SettingText writes a setting as ParseSetting reads it: "gogc=200",
// "gogc=off,limit=1073741824", "gogc=100,ballast=1GiB". Sizes are exact.
func SettingText(s gcmodel.Setting) string {
	parts := []string{"gogc=" + gogcText(s.GOGC)}
	if s.Limit > 0 {
		parts = append(parts, "limit="+exactSize(s.Limit))
	}
	if s.Ballast > 0 {
		parts = append(parts, "ballast="+exactSize(s.Ballast))
	}
	return strings.Join(parts, ",")
}

func gogcText(percent int) string {
	if percent < 0 {
		return "off"
	}
	return strconv.Itoa(percent)
}

// exactSize writes a size in the largest binary unit that divides it, as the
// runtime reads it in GOMEMLIMIT.
func exactSize(b unit.Bytes) string {
	switch {
	case b%unit.GiB == 0:
		return fmt.Sprintf("%dGiB", b/unit.GiB)
	case b%unit.MiB == 0:
		return fmt.Sprintf("%dMiB", b/unit.MiB)
	case b%unit.KiB == 0:
		return fmt.Sprintf("%dKiB", b/unit.KiB)
	}
	return fmt.Sprintf("%dB", b)
}

// ParseSetting parses a comma-separated list of gogc=PERCENT|off, limit=SIZE and
// ballast=SIZE. Missing settings have the runtime's defaults: GOGC=100, no limit.
func ParseSetting(text string) (gcmodel.Setting, error) {
	s := gcmodel.Setting{GOGC: 100}
	seen := map[string]bool{}
	for item := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || seen[name] {
			return s, fmt.Errorf("%q: want gogc=PERCENT, limit=SIZE, ballast=SIZE or several of them, each once", text)
		}
		seen[name] = true
		var err error
		switch name {
		case "gogc":
			s.GOGC, err = parseGOGC(value)
		case "limit":
			s.Limit, err = unit.ParseBytes(value)
		case "ballast":
			s.Ballast, err = unit.ParseBytes(value)
		default:
			err = fmt.Errorf("no such setting: %q", name)
		}
		if err != nil {
			return s, fmt.Errorf("%q: %w", text, err)
		}
	}
	if s.GOGC < 0 && s.Limit == 0 {
		return s, fmt.Errorf("%q: %w", text, gcmodel.ErrNeverCollects)
	}
	return s, nil
}

func parseGOGC(text string) (int, error) {
	if text == "off" {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100_000 {
		return 0, fmt.Errorf("gogc=%s: want a percentage from 1 to 100000, or off", text)
	}
	return n, nil
}

// envOf returns the setting as environment variables. A ballast has none.
func envOf(s gcmodel.Setting) []string {
	env := []string{"GOGC=" + gogcText(s.GOGC)}
	if s.Limit > 0 {
		env = append(env, "GOMEMLIMIT="+exactSize(s.Limit))
	}
	return env
}

// Deployment is a setting in the forms that people paste.
type Deployment struct {
	Env        []string
	Dockerfile []string
	Kubernetes []string
	Go         []string
}

// Deploy writes a setting in all forms. Environment variables cannot set a ballast, so
// those forms omit it.
func Deploy(s, today gcmodel.Setting) Deployment {
	if s.Limit == today.Limit {
		s.Limit = 0 // as it is
	}
	d := Deployment{Env: envOf(s)}
	if s.GOGC == today.GOGC {
		d.Env = d.Env[1:] // the line would do nothing
	}
	if len(d.Env) > 0 {
		d.Kubernetes = []string{"env:"}
	}
	for _, e := range d.Env {
		name, value, _ := strings.Cut(e, "=")
		d.Dockerfile = append(d.Dockerfile, "ENV "+e)
		d.Kubernetes = append(d.Kubernetes, "- name: "+name, fmt.Sprintf("  value: %q", value))
	}
	if s.Ballast > 0 {
		d.Go = append(d.Go, "// first thing in main; github.com/heaptrim/heaptrim/rt/ballast",
			fmt.Sprintf("ballast.Set(ballast.Options{Mode: ballast.Classic, Ballast: %s})", goSize(s.Ballast)))
	}
	if s.GOGC != today.GOGC {
		d.Go = append(d.Go, fmt.Sprintf("debug.SetGCPercent(%d)", s.GOGC))
	}
	if s.Limit > 0 {
		d.Go = append(d.Go, fmt.Sprintf("debug.SetMemoryLimit(%s)", goSize(s.Limit)))
	}
	return d
}

func goSize(b unit.Bytes) string {
	if b%unit.MiB == 0 {
		return fmt.Sprintf("%d << 20", b/unit.MiB)
	}
	return strconv.FormatInt(int64(b), 10)
}

// round reduces a size to what a person would write: about two digits of MiB or GiB.
func round(b float64) unit.Bytes {
	if b < float64(unit.MiB) {
		return unit.MiB
	}
	step := math.Pow(2, math.Floor(math.Log2(b/float64(unit.MiB)))-5)
	step = math.Max(step, 1)
	return unit.Bytes(math.Floor(b/float64(unit.MiB)/step)*step) * unit.MiB
}
