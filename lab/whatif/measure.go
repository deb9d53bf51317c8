//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measured is what a program did under a setting.
type measured struct {
	Cycles    float64 // between the first and the last that ended in the window
	PerCycle  float64 // bytes
	PerSecond float64
	Collector float64 // share of the process's CPU without idle marking
	Assist    float64
	Idle      float64 // time of idle marking, relative to that CPU time
	Peak      float64 // bytes
	RSS       float64
	CPU       float64 // seconds, of the process without its children
	Busy      float64 // seconds, by the runtime's clock
	Load      float64 // load average before the run
	After     float64 // load average after the run
}

// measure runs a program with a setting and without the tool. What the n-th run
// says is kept in the program's folder of logs.
func (o options) measure(p program, s setting, n int) (measured, error) {
	if err := o.freshen(p); err != nil {
		return measured{}, err
	}
	name := o.dir(p, "logs", fmt.Sprintf("%s-%d", s.Text, n))
	if err := os.MkdirAll(o.dir(p, "logs"), 0o755); err != nil {
		return measured{}, err
	}
	samples := name + ".samples"
	log, err := os.Create(name + ".log")
	if err != nil {
		return measured{}, err
	}
	defer log.Close()
	cmd := o.command(o.dir(p, "bin"), p.args...)
	cmd.Dir, cmd.Stderr = o.dir(p, "src"), log
	gogc := strconv.Itoa(s.GOGC)
	if s.GOGC < 0 {
		gogc = "off"
	}
	cmd.Env = append(append(os.Environ(), "GODEBUG=gctrace=1,gcpacertrace=1", "GOGC="+gogc, "WHATIF_SAMPLES="+samples, fmt.Sprintf("WHATIF_BALLAST=%d", s.Ballast)), p.env...)
	if s.Limit > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", s.Limit))
	}
	w := window{load: loadAverage(), fromStart: !p.batch && o.fromStart(p)}
	if err := cmd.Start(); err != nil {
		return measured{}, err
	}
	if p.batch {
		w.batch(cmd)
	} else if err := w.service(cmd, p); err != nil {
		return measured{}, err
	}
	m, err := w.read(log.Name(), samples)
	m.After = loadAverage()
	return m, err
}

// command starts a program, with real-time priority if that is asked for. While
// another process has the processor the runtime's clocks go on, and a pause that
// waits for a time slice is counted with all processors, ten times and more what
// it takes.
func (o options) command(name string, args ...string) *exec.Cmd {
	if !o.realtime {
		return exec.Command(name, args...)
	}
	return exec.Command("chrt", append([]string{"--rr", "1", name}, args...)...)
}

// window is what was seen of a run from outside.
type window struct {
	load     float64
	from, to time.Time
	rss      float64
	whole    bool
	// fromStart says that the program's first cycle belongs to the window, as it
	// does to the recording's: a service that does nothing before its load.
	fromStart bool
}

// fromStart tells whether a program's recording begins with its first cycle.
func (o options) fromStart(p program) bool {
	text, err := os.ReadFile(filepath.Join(o.recording(p), "gc", "gctrace.txt"))
	return err == nil && bytes.Contains(text[:min(len(text), 4096)], []byte("gc 1 @"))
}

func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	if err != nil {
		return 0
	}
	return v
}

// batch waits for a program that ends by itself. Linters end with an error
// when they find something.
func (w *window) batch(cmd *exec.Cmd) {
	w.whole, w.from = true, time.Now()
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			w.to = time.Now()
			return
		case <-tick.C:
			w.rss = max(w.rss, highWater(cmd.Process.Pid))
		}
	}
}

// service loads a program once it is ready, and ends it.
func (w *window) service(cmd *exec.Cmd, p program) error {
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
	}()
	for i := 0; ; i++ {
		resp, err := http.Get(p.ready)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode < 500 {
				break
			}
		}
		if i == 300 {
			return fmt.Errorf("not ready: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.from = time.Now()
	if err := shell("", "%s", p.load); err != nil {
		return err
	}
	w.to = time.Now()
	w.rss = highWater(cmd.Process.Pid)
	return nil
}

func highWater(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if f := strings.Fields(rest); len(f) > 0 {
		v, _ := strconv.ParseFloat(f[0], 64)
		return v * 1024
	}
	return 0
}
