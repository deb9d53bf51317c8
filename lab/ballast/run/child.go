//go:build unix

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"time"

	"github.com/heaptrim/heaptrim/lab/ballast/gateway"
)

// figures is what one process measured.
type figures struct {
	Setting  string
	Killed   bool    // by the kernel, for want of memory; then there is nothing else
	Round    int     // those of one round were measured one after another
	Offered  float64 // requests a second; 0 is a closed loop
	Served   float64 // requests a second
	Cycles   float64 // a second
	GC       float64 // of the CPU time used, with idle marking
	Idle     float64
	Assist   float64
	AssistS  float64 // seconds
	CPU      float64 // µs a request
	CPUS     float64 // seconds
	P50, P99 float64 // ms
	P999     float64
	Resident float64 // peak, MiB
	Memory   float64 // that the setting was to stay within, MiB; 0 is none
	Limiter  float64
	Faults   float64 // page faults a request
	Tail     gateway.Tail
	Room     float64 // of the heap goal above the live heap at the end, MiB
	Live     float64 // heap at the end, MiB
	Allocs   float64 // MB a second
}

// child is what this process is to measure.
type child struct {
	setting string
	traced  string // file for an execution trace
	cgroup  string // folder of the cgroup to run in, if the experiment has containers
}

// measure runs one experiment in this process.
func (c child) measure(e experiment) (figures, error) {
	s, err := parseSetting(c.setting)
	if err != nil {
		return figures{}, err
	}
	var group cgroup
	if e.contained {
		if group, err = join(c.cgroup); err != nil {
			return figures{}, err
		}
		s.contained = group
	}
	memory := e.memory << 20
	var keep kept
	if s.early() {
		if keep, err = s.apply(memory, 0); err != nil {
			return figures{}, err
		}
	}
	service := gateway.New(e.live << 20)
	service.Merge = e.merge
	if e.old {
		service.Age()
	}
	load := e.load()
	load.Prepare()
	need := needed()
	if !s.early() {
		if keep, err = s.apply(memory, need); err != nil {
			return figures{}, err
		}
	}
	if e.merge {
		use()
	}
	var from, to gateway.Reading
	var peak gateway.Peak
	var most int64
	rec := recording{file: c.traced}
	if e.sockets {
		program, err := os.Executable()
		if err != nil {
			return figures{}, err
		}
		load.Sockets = gateway.Sockets{Program: program, Arguments: []string{"-pace"}}
	}
	result := load.Run(service, func(begin bool) {
		if begin {
			rec.start()
			from, peak = gateway.Read(), gateway.StartPeak()
		} else {
			to, most = gateway.Read(), peak.Stop()
			rec.stop()
		}
	})
	if err := errors.Join(result.Failed, rec.err); err != nil {
		return figures{}, fmt.Errorf("setting %s: %w", c.setting, err)
	}
	f := diff(from, to, result)
	f.Setting, f.Resident = c.setting, float64(most)/(1<<20)
	if s.factor > 0 {
		f.Memory = float64(need) * s.factor / (1 << 20)
	} else {
		f.Memory = float64(e.memory)
	}
	runtime.KeepAlive(keep)
	return f, nil
}

// load is of the experiment, with a worker for each CPU if it does not say how many.
func (e experiment) load() gateway.Load {
	workers := e.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return gateway.Load{Workers: workers, Phases: e.phases}
}

// recording is an execution trace of what is measured, if it has a file.
type recording struct {
	file string
	f    *os.File
	err  error
}

func (r *recording) start() {
	if r.file == "" {
		return
	}
	if r.f, r.err = os.Create(r.file); r.err == nil {
		r.err = trace.Start(r.f)
	}
}

func (r *recording) stop() {
	if r.f == nil {
		return
	}
	trace.Stop()
	r.err = errors.Join(r.err, r.f.Close())
}

// used is how much garbage a process has made before a long window is measured: more than
// the heap of any setting, so that all of it has been used once. A process meets the
// page faults of a growing heap once in its life.
const used = 12 << 30

func use() {
	var garbage []byte
	for range used / (1 << 20) {
		garbage = make([]byte, 1<<20)
		for i := 0; i < len(garbage); i += 4096 {
			garbage[i] = 1
		}
	}
	runtime.KeepAlive(garbage)
}

// needed is what the runtime has of the system and cannot do without.
func needed() int64 {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapIdle)
}

func diff(a, z gateway.Reading, r gateway.Result) figures {
	wall := z.At.Sub(a.At).Seconds()
	cpu := (z.CPU - a.CPU).Seconds()
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return figures{
		Offered: float64(r.Due) / r.Measured.Seconds(),
		Served:  float64(r.Requests) / r.Measured.Seconds(),
		Cycles:  (z.Cycles - a.Cycles) / wall,
		GC:      (z.GC - a.GC) / cpu,
		Idle:    (z.Idle - a.Idle) / cpu,
		Assist:  (z.Assist - a.Assist) / cpu,
		AssistS: z.Assist - a.Assist,
		CPU:     cpu * 1e6 / math.Max(1, float64(len(r.Answers))),
		CPUS:    cpu,
		P50:     ms(r.Quantile(0.5)), P99: ms(r.Quantile(0.99)), P999: ms(r.Quantile(0.999)),
		Tail: r.Tail(0.99),
		Live: z.Live / (1 << 20), Allocs: (z.Allocs - a.Allocs) / 1e6 / wall,
		Limiter: z.Limiter, Room: z.Room / (1 << 20), Faults: (z.Faults - a.Faults) / math.Max(1, float64(len(r.Answers))),
	}
}
