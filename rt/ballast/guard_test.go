package ballast

import (
	"testing"
	"time"
)

// cpu is a process as the guard sees it: each cycle takes one second of CPU, share
// of it in the collector.
type cpu struct {
	g   guard
	r   reading
	now time.Duration
}

func (c *cpu) cycle(share float64) bool {
	c.r.cycles++
	c.r.automatic++
	c.r.busyCPU++
	c.r.gcCPU += share
	c.now += time.Second
	return c.g.observe(c.r, c.now)
}

func TestGuardAlarm(t *testing.T) {
	var c cpu
	for range 10 {
		if c.cycle(0.16) {
			t.Error("alarm at the default's 16 %")
		}
	}
	if c.cycle(0.45) {
		t.Error("alarm after one cycle")
	}
	if c.cycle(0.2); c.cycle(0.45) {
		t.Error("alarm after a calm cycle and one other")
	}
	if !c.cycle(0.45) || c.g.level != fair {
		t.Errorf("no alarm after two cycles in a row: level %d", c.g.level)
	}
	for range 100 {
		if c.cycle(0.45) {
			t.Fatal("alarm where half of the CPU does the program's work")
		}
	}
}

// TestGuardSpiral has more collected than done, for an hour. Each cycle takes a second.
func TestGuardSpiral(t *testing.T) {
	var c cpu
	for range 3600 {
		c.cycle(0.9)
	}
	if c.g.level != fair || c.g.alarms != 1 {
		t.Errorf("level %d after %d alarms, want %d after one: there is nothing more to give", c.g.level, c.g.alarms, fair)
	}
	calm := 0
	for c.g.level == fair && calm < 3600 {
		c.cycle(0.1)
		calm++
	}
	if min, max := int(firstHold.Seconds()), 3*int(firstHold.Seconds()); calm < min || calm > max {
		t.Errorf("fair for %d calm cycles after the last bad one, want %d to %d", calm, min, max)
	}
}

// TestGuardIdle has a process that does next to nothing but be collected every two
// minutes. More room would not help it, and in a container would kill it.
func TestGuardIdle(t *testing.T) {
	var c cpu
	for range 100 {
		c.now += 2 * time.Minute
		if c.cycle(0.9) {
			t.Fatal("alarm")
		}
	}
}

func TestGuardHysteresis(t *testing.T) {
	var c cpu
	changes, last := 0, c.g.level
	// The spiral comes back as soon as the level is low.
	for range 20_000 {
		share := 0.05
		if c.g.level == thrifty {
			share = 0.5
		}
		c.cycle(share)
		if c.g.level != last {
			changes++
			last = c.g.level
		}
	}
	// Holds of 1, 2, 4 … 60 minutes: about ten tries in five and a half hours, up and down.
	if changes > 24 {
		t.Errorf("%d changes of level in 20,000 s: oscillation", changes)
	}
	if changes < 8 {
		t.Errorf("%d changes of level: it never tries again", changes)
	}
}

func TestGuardIgnoresForced(t *testing.T) {
	var c cpu
	c.cycle(0)
	for range 100 {
		c.r.automatic-- // cycle adds it
		if c.cycle(0.95) {
			t.Fatal("alarm by collections that the program forces")
		}
	}
}

func TestGuardClockJumps(t *testing.T) {
	var c cpu
	c.cycle(0)
	c.cycle(0.5)
	c.cycle(0.5)
	c.now -= 1000 * time.Hour
	for range 100 {
		c.cycle(0.1)
	}
	if c.g.level != fair {
		t.Errorf("level %d after the clock went back, want %d: later is safe", c.g.level, fair)
	}
	c.now += 2000 * time.Hour
	c.cycle(0.1)
	if c.g.level != thrifty {
		t.Errorf("level %d after the clock went on, want %d", c.g.level, thrifty)
	}
	// CPU counters that fall back do no harm.
	c.r.busyCPU, c.r.gcCPU = 0, 0
	c.cycle(0.5)
	if c.g.share < 0 || c.g.share > 1 {
		t.Errorf("share %v", c.g.share)
	}
}
