//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cycle is a line of gctrace, times in seconds.
type cycle struct {
	At      float64    `json:"at_s"` // since the program's start
	Pauses  [2]float64 `json:"pauses_s"`
	Mark    float64    `json:"mark_s"`
	Assist  float64    `json:"assist_cpu_s"`
	Workers float64    `json:"workers_cpu_s"` // dedicated and fractional
}

// gctrace is a line of the releases measured here:
// gc 7 @1.2s 5%: 0.1+23+0.02 ms clock, 0.2+1.0/22/3.0+0.04 ms cpu, …
var gctrace = regexp.MustCompile(`^gc \d+ @([\d.]+)s \d+%: ([\d.]+)\+([\d.]+)\+([\d.]+) ms clock, [\d.]+\+([\d.]+)/([\d.]+)/[\d.]+\+[\d.]+ ms cpu`)

func cycles(log string) []cycle {
	var list []cycle
	for l := range strings.Lines(log) {
		m := gctrace.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		v := make([]float64, len(m))
		for i := 1; i < len(m); i++ {
			v[i], _ = strconv.ParseFloat(m[i], 64) // digits and dots only
		}
		list = append(list, cycle{v[1], [2]float64{v[2] / 1e3, v[4] / 1e3}, v[3] / 1e3, v[5] / 1e3, v[6] / 1e3})
	}
	return list
}

// table prints a row for each measurement.
func table(w io.Writer, all []measurement) error {
	var b strings.Builder
	b.WriteString("| Go | connections | goroutines | cycles | mark | STW p50 | p99 | max | of it stopping | gctrace p50 | p99 | max " +
		"| GC of all CPU | assists | live heap | stacks | RSS | delivery p50 | p99 | max |\n|---|" + strings.Repeat("---|", 19) + "\n")
	for _, m := range all {
		s := sum(m)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %s | %s | %s | %s | %s | %s | %.1f %% | %.1f %% | %s | %s | %s | %s | %s | %s |\n",
			m.Toolchain, s.conns, s.goroutines, s.cycles, clock(mean(s.marks)),
			clock(quantile(s.pauses, 0.5)), clock(quantile(s.pauses, 0.99)), clock(quantile(s.pauses, 1)), clock(quantile(s.stopping, 1)),
			clock(rank(s.logged, 0.5)), clock(rank(s.logged, 0.99)), clock(rank(s.logged, 1)),
			100*s.gc/s.capacity, 100*s.assist/s.capacity, mib(s.live), mib(s.stacks), mib(uint64(s.resident)),
			clock(quantile(s.latency, 0.5)), clock(quantile(s.latency, 0.99)), clock(s.max))
	}
	b.WriteString("\n")
	for _, m := range all {
		s := sum(m)
		if m.Realtime {
			b.WriteString("real-time priority, ")
		}
		fmt.Fprintf(&b, "%s: window of %.0f s, GOGC=%d, load average before %s; %.0f messages/s in, %.0f out, %d dropped; %.1f MB/s allocated; "+
			"CPU %.2f cores, idle marking %.2f, kept waiting by other processes %.2f; %d pauses; runnable goroutines wait p99 %s\n",
			m.Toolchain, s.seconds, m.GOGC, m.Load1, float64(s.sent)/s.seconds, float64(s.delivered)/s.seconds, s.dropped,
			float64(s.alloc)/s.seconds/1e6, s.cpu/s.seconds, s.idle/s.seconds, s.delay/s.seconds, count(s.pauses), clock(quantile(s.waiting, 0.99)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// totals is what the servers of a measurement did together.
type totals struct {
	conns, sent, delivered, dropped         int64
	goroutines, cycles, live, stacks, alloc uint64
	resident                                int64
	seconds, cpu, gc, assist, idle, max     float64
	delay                                   float64
	capacity                                float64 // CPU time that the machine had for all of them
	pauses, stopping, waiting, latency      []bin
	logged, marks                           []float64
}

func sum(m measurement) totals {
	var t totals
	for _, s := range m.Servers {
		r := s.Result
		t.conns, t.sent, t.delivered, t.dropped = t.conns+r.Conns, t.sent+r.Sent, t.delivered+r.Delivered, t.dropped+r.Dropped
		t.goroutines, t.cycles, t.live = t.goroutines+r.Goroutines, t.cycles+r.Cycles, t.live+r.Live
		t.stacks, t.alloc, t.resident = t.stacks+r.Stacks, t.alloc+r.Alloc, t.resident+r.Resident
		t.cpu, t.gc, t.assist, t.idle = t.cpu+r.CPU, t.gc+r.GCCPU-r.IdleCPU, t.assist+r.AssistCPU, t.idle+r.IdleCPU
		t.seconds, t.max = max(t.seconds, r.To-r.From), max(t.max, r.Max)
		t.capacity, t.delay = max(t.capacity, (r.To-r.From)*float64(r.Procs)), t.delay+r.RunDelay
		t.pauses, t.stopping = append(t.pauses, r.Pauses...), append(t.stopping, r.Stopping...)
		t.waiting, t.latency = append(t.waiting, r.Waiting...), append(t.latency, r.Latency...)
		for _, c := range s.Log {
			t.logged, t.marks = append(t.logged, c.Pauses[:]...), append(t.marks, c.Mark)
		}
	}
	return t
}

func count(bins []bin) (n uint64) {
	for _, b := range bins {
		n += b.Count
	}
	return n
}

// quantile is the upper bound of the bin that holds the quantile: with fewer
// values than it needs, that of the largest. -1 stands for no values.
func quantile(bins []bin, q float64) float64 {
	bins = slices.Clone(bins)
	slices.SortFunc(bins, func(a, b bin) int { return cmp.Compare(a.Upto, b.Upto) })
	total, seen := count(bins), uint64(0)
	for _, b := range bins {
		if seen += b.Count; float64(seen) >= q*float64(total) {
			return b.Upto
		}
	}
	return -1
}

// rank is quantile for single values.
func rank(values []float64, q float64) float64 {
	bins := make([]bin, len(values))
	for i, v := range values {
		bins[i] = bin{v, 1}
	}
	return quantile(bins, q)
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return -1
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// clock prints seconds to three digits.
func clock(s float64) string {
	if s < 0 {
		return "–"
	}
	d := time.Duration(s * 1e9)
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

func mib(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }
