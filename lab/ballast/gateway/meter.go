//go:build unix

package gateway

import (
	"bufio"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Reading is the state of the process at one moment.
type Reading struct {
	At      time.Time
	CPU     time.Duration // user and system time
	Cycles  float64
	GC      float64 // CPU seconds, with idle marking
	Idle    float64
	Assist  float64
	Limiter float64
	Faults  float64 // pages touched for the first time
	Live    float64 // bytes of heap that the last collection found alive
	Room    float64 // bytes of the heap goal above that
	Allocs  float64 // bytes
}

// Read takes a reading.
func Read() Reading {
	names := []string{"/gc/cycles/total:gc-cycles", "/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/gc/mark/idle:cpu-seconds",
		"/cpu/classes/gc/mark/assist:cpu-seconds", "/gc/limiter/last-enabled:gc-cycle",
		"/gc/heap/goal:bytes", "/gc/heap/live:bytes", "/gc/heap/allocs:bytes"}
	samples := make([]metrics.Sample, len(names))
	for i, n := range names {
		samples[i].Name = n
	}
	metrics.Read(samples)
	value := func(i int) float64 {
		if v := samples[i].Value; v.Kind() == metrics.KindUint64 {
			return float64(v.Uint64())
		}
		return samples[i].Value.Float64()
	}
	r := Reading{At: time.Now(), Cycles: value(0), GC: value(1), Idle: value(2), Assist: value(3), Limiter: value(4),
		Room: value(5) - value(6), Live: value(6), Allocs: value(7)}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		r.Faults = float64(usage.Minflt)
		r.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return r
}

// Resident returns the resident memory of the process in bytes, and that of it that
// no file backs.
func Resident() (all, anonymous int64) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kb, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			all = kb << 10
		case "RssAnon:":
			anonymous = kb << 10
		}
	}
	return all, anonymous
}

// Peak samples resident memory until Stop.
type Peak struct {
	stop chan struct{}
	peak chan int64
}

// StartPeak begins to sample, twenty times a second.
func StartPeak() Peak {
	p := Peak{make(chan struct{}), make(chan int64)}
	go func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		var most int64
		for {
			all, _ := Resident()
			most = max(most, all)
			select {
			case <-p.stop:
				p.peak <- most
				return
			case <-ticker.C:
			}
		}
	}()
	return p
}

// Stop returns the most that was resident, in bytes.
func (p Peak) Stop() int64 {
	close(p.stop)
	return <-p.peak
}
