//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// sample is one line of the sampler, in its order.
type sample struct {
	at                                                                     time.Time
	cycles, forced, allocs, live, goal, objects, unused, free, gone, total float64
	all, idle                                                              float64 // processor seconds by the runtime's clock
	cpu                                                                    float64 // processor seconds by the system's clock
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
		// The last line may be cut off by the program's end, and one of the first
		// be mixed with that of a copy that the program starts of itself.
		if v, err := numbers(lines.Text()); err == nil && len(v) == 14 && v[0] < math.MaxInt64 {
			out = append(out, sample{
				at: time.Unix(0, int64(v[0])), cpu: v[1] / 1e9,
				cycles: v[2], forced: v[3], allocs: v[4], live: v[5], goal: v[6], objects: v[7], unused: v[8], free: v[9], gone: v[10], total: v[11], all: v[12], idle: v[13],
			})
		}
	}
	return out, lines.Err()
}

// numbers reads a line of numbers.
func numbers(line string) ([]float64, error) {
	var out []float64
	for _, f := range strings.Fields(line) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
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
	m := measured{RSS: w.rss, Load: w.load}
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
	start, end := in[0], in[len(in)-1]
	if !w.whole && first >= 0 {
		start, end = in[first], in[last]
	}
	if w.whole || w.fromStart && in[0].cycles == 0 {
		start = sample{at: w.from}
		if w.fromStart {
			start.cpu, start.all, start.idle = in[0].cpu, in[0].all, in[0].idle
		}
	}
	m.CPU, m.Busy = end.cpu-start.cpu, end.all-end.idle-start.all+start.idle
	if first < 0 {
		return m, nil
	}
	m.count(start, in[last], end)
	m.share(cycles, start.cycles, in[last].cycles)
	return m, nil
}

// count fills in cycles from the first sample to the one behind the last cycle.
func (m *measured) count(start, last, end sample) {
	if m.Cycles = last.cycles - start.cycles; m.Cycles <= 0 {
		return
	}
	m.PerCycle = (last.allocs - start.allocs) / m.Cycles
	m.PerSecond = m.Cycles / end.at.Sub(start.at).Seconds()
}

// share fills in what the cycles after one and up to another took. The
// runtime's clock goes on while other processes have the processor: its figures
// are shares of its own count of busy time, where that is larger.
func (m *measured) share(cycles map[int]cycle, after, upTo float64) {
	for n, c := range cycles {
		if float64(n) > after && float64(n) <= upTo {
			m.Collector += c.assist + c.back + c.pause
			m.Assist += c.assist
			m.Idle += c.idle
		}
	}
	if cpu := max(m.CPU, m.Busy) - m.Idle; cpu > 0 {
		m.Collector, m.Assist, m.Idle = m.Collector/cpu, m.Assist/cpu, m.Idle/cpu
	}
}
