//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	Collector float64 // share of the process's CPU, idle marking left out
	Assist    float64
	Idle      float64
	Peak      float64 // bytes
	RSS       float64
	CPU       float64 // seconds
	Load      float64 // load average before the run
}

// row is a forecast beside what was measured.
type row struct {
	Program  string
	Forecast point
	Measured measured
}

// measure runs a program with a setting and without the tool.
func (o options) measure(p program, s setting) (measured, error) {
	o.freshen(p)
	samples := o.dir(p, "samples.txt")
	log, err := os.Create(o.dir(p, "stderr.txt"))
	if err != nil {
		return measured{}, err
	}
	defer log.Close()
	cmd := exec.Command(o.dir(p, "bin"), p.args...)
	cmd.Dir, cmd.Stderr = o.dir(p, "src"), log
	gogc := strconv.Itoa(s.GOGC)
	if s.GOGC < 0 {
		gogc = "off"
	}
	cmd.Env = append(append(os.Environ(), "GODEBUG=gctrace=1,gcpacertrace=1", "GOGC="+gogc, "WHATIF_SAMPLES="+samples, fmt.Sprintf("WHATIF_BALLAST=%d", s.Ballast)), p.env...)
	if s.Limit > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", s.Limit))
	}
	w := window{load: loadAverage()}
	if err := cmd.Start(); err != nil {
		return measured{}, err
	}
	if p.batch {
		w.batch(cmd)
	} else if err := w.service(cmd, p); err != nil {
		return measured{}, err
	}
	return w.read(log.Name(), samples)
}

// window is what was seen of a run from outside.
type window struct {
	load     float64
	from, to time.Time
	cpu      float64
	rss      float64
	whole    bool
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
			w.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
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
	before := cpuOf(cmd.Process.Pid)
	w.from = time.Now()
	if err := shell("", "%s", p.load); err != nil {
		return err
	}
	w.to = time.Now()
	w.cpu = cpuOf(cmd.Process.Pid) - before
	w.rss = highWater(cmd.Process.Pid)
	return nil
}

func cpuOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
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

// sample is one line of the sampler, in its order.
type sample struct {
	at                                                                     time.Time
	cycles, forced, allocs, live, goal, objects, unused, free, gone, total float64
	all, idle                                                              float64 // processor seconds by the runtime's clock
}

func readSamples(file string) ([]sample, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []sample
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 13 {
			continue // cut off by the program's end
		}
		nanos, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, err
		}
		s := sample{at: time.Unix(0, nanos)}
		for i, to := range []*float64{&s.cycles, &s.forced, &s.allocs, &s.live, &s.goal, &s.objects, &s.unused, &s.free, &s.gone, &s.total, &s.all, &s.idle} {
			if *to, err = strconv.ParseFloat(fields[i+1], 64); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, lines.Err()
}

// cycle is one collection of the log.
type cycle struct {
	end                       float64
	assist, back, idle, pause float64
}

var (
	gcLine    = regexp.MustCompile(`gc (\d+) @[\d.]+s \d+%: [\d.+]+ ms clock, ([\d.]+)\+([\d.]+)/([\d.]+)/([\d.]+)\+([\d.]+) ms cpu`)
	pacerLine = regexp.MustCompile(`pacer: .* in \d+ B -> (\d+) B`)
)

func readLog(file string) (map[int]cycle, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[int]cycle{}
	end := 0.0
	number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if m := pacerLine.FindStringSubmatch(line); m != nil {
			end = number(m[1])
		}
		if m := gcLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			out[n] = cycle{end, number(m[3]) / 1e3, number(m[4]) / 1e3, number(m[5]) / 1e3, (number(m[2]) + number(m[6])) / 1e3}
		}
		if err != nil {
			return out, nil
		}
	}
}

// read makes the figures of a run from its samples and its log.
func (w *window) read(log, samplesFile string) (measured, error) {
	cycles, err := readLog(log)
	if err != nil {
		return measured{}, err
	}
	samples, err := readSamples(samplesFile)
	if err != nil {
		return measured{}, err
	}
	var in []sample
	for _, s := range samples {
		if w.whole || s.at.After(w.from) && s.at.Before(w.to) {
			in = append(in, s)
		}
	}
	if len(in) < 2 {
		return measured{}, fmt.Errorf("%s holds no samples of the window", filepath.Base(samplesFile))
	}
	m := measured{RSS: w.rss, CPU: w.cpu, Load: w.load}
	// The first and the last sample behind the end of a cycle.
	first, last := -1, -1
	for i := 1; i < len(in); i++ {
		m.Peak = max(m.Peak, in[i].objects)
		if in[i].cycles > in[i-1].cycles {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	for n, c := range cycles {
		if float64(n) > in[0].cycles && float64(n) <= in[len(in)-1].cycles {
			m.Peak = max(m.Peak, c.end)
		}
	}
	if first < 0 {
		return m, nil
	}
	start, part := in[first], in[last].at.Sub(in[first].at).Seconds()/w.to.Sub(w.from).Seconds()
	if w.whole {
		start, part = sample{at: w.from}, 1
	}
	m.Cycles = in[last].cycles - start.cycles
	if m.Cycles <= 0 {
		return m, nil
	}
	m.PerCycle = (in[last].allocs - start.allocs) / m.Cycles
	m.PerSecond = m.Cycles / (w.to.Sub(w.from).Seconds() * part)
	// The runtime's clock goes on while other processes have the processor. Its
	// figures are shares of its own count of busy time, where that is larger.
	cpu := max(w.cpu*part, in[last].all-in[last].idle-start.all+start.idle)
	for n, c := range cycles {
		if float64(n) > start.cycles && float64(n) <= in[last].cycles && cpu > 0 {
			m.Collector += (c.assist + c.back + c.pause) / cpu
			m.Assist += c.assist / cpu
			m.Idle += c.idle / cpu
		}
	}
	return m, nil
}
