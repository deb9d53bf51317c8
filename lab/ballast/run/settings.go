//go:build unix

package main

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/bytedance/gopkg/util/gctuner"

	"github.com/heaptrim/heaptrim/rt/ballast"
)

// setting is one way to steer the collector. Its text is a name, and a number after
// "=": of MiB, of percent, or after "@" a factor of what the process needs
// with no garbage at all.
type setting struct {
	name   string
	number float64
	factor float64
	// contained is the cgroup whose limit the factor is for, instead of the setting's
	// own.
	contained cgroup
}

func parseSetting(text string) (setting, error) {
	var s setting
	rest, factor, ok := strings.Cut(text, "@")
	var err error
	if ok {
		if s.factor, err = strconv.ParseFloat(factor, 64); err != nil {
			return s, fmt.Errorf("setting %q: %w", text, err)
		}
	}
	name, number, ok := strings.Cut(rest, "=")
	s.name = name
	if ok {
		if s.number, err = strconv.ParseFloat(number, 64); err != nil {
			return s, fmt.Errorf("setting %q: %w", text, err)
		}
	}
	if settings[name] == nil {
		return s, fmt.Errorf("no such setting: %q", name)
	}
	return s, nil
}

// early are settings that belong at the start of a program, before it has a heap.
func (s setting) early() bool { return s.name == "heaptrim-classic" || s.name == "ballast" }

// steer is what a setting is told: the memory it may use, and its own number in
// bytes.
type steer struct {
	memory int64
	number float64
	bytes  int64
	// contained says that memory is the limit of a container, and that a setting that
	// can look there shall.
	contained bool
}

// kept holds what a setting needs for as long as the process runs.
type kept struct {
	tuner   *ballast.Tuner
	ballast []byte
}

var settings = map[string]func(s steer) (kept, error){
	"gogc": func(s steer) (kept, error) {
		debug.SetGCPercent(int(s.number))
		return kept{}, nil
	},
	"ballast": func(s steer) (kept, error) { return kept{ballast: make([]byte, s.bytes)}, nil },
	"off+limit": func(s steer) (kept, error) {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(s.share(0.9))
		return kept{}, nil
	},
	"automemlimit": func(s steer) (kept, error) {
		if s.contained {
			_, err := memlimit.Set() // 0.9 of the cgroup's
			return kept{}, err
		}
		_, err := memlimit.Set(memlimit.WithProvider(memlimit.Limit(uint64(s.memory))), memlimit.WithRatio(1))
		return kept{}, err
	},
	"bytedance": func(s steer) (kept, error) {
		if s.number > 0 {
			gctuner.SetMaxGCPercent(uint32(s.number))
		}
		gctuner.Tuning(uint64(s.share(0.7))) // as its own example
		return kept{}, nil
	},
	"heaptrim": func(s steer) (kept, error) {
		if s.contained {
			return ours(ballast.Options{})
		}
		return ours(ballast.Options{MaxMemory: s.memory})
	},
	"heaptrim-mingogc": func(s steer) (kept, error) {
		return ours(ballast.Options{MaxMemory: s.memory, MinGOGC: int(s.number)})
	},
	"heaptrim-limit": func(s steer) (kept, error) {
		return ours(ballast.Options{Mode: ballast.Limit, MaxMemory: s.memory})
	},
	"heaptrim-steer": func(s steer) (kept, error) {
		return ours(ballast.Options{Mode: ballast.Steer, Headroom: s.bytes})
	},
	"heaptrim-classic": func(s steer) (kept, error) {
		return ours(ballast.Options{Mode: ballast.Classic, Ballast: s.bytes})
	},
}

// share returns the memory to tell a setting that cannot look for a container, and so
// has to be told to stay below by a share of it.
func (s steer) share(of float64) int64 {
	if s.contained {
		return int64(of * float64(s.memory))
	}
	return s.memory
}

func ours(o ballast.Options) (kept, error) {
	// What it finds wrong belongs beside the figures.
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	t, err := ballast.Set(o)
	return kept{tuner: t}, err
}

// apply has the process run with s. memory is what it may use, need what it needs
// with no garbage at all.
func (s setting) apply(memory, need int64) (kept, error) {
	if s.factor > 0 {
		memory = int64(float64(need) * s.factor)
	}
	if s.number > math.MaxInt32 {
		return kept{}, fmt.Errorf("%s=%v is too large", s.name, s.number)
	}
	contained := s.contained.dir != ""
	if contained {
		if err := s.contained.allow(memory); err != nil {
			return kept{}, err
		}
	}
	return settings[s.name](steer{memory: memory, number: s.number, bytes: int64(s.number) << 20, contained: contained})
}
