//go:build unix

// Command run reads one trace with heaptrim and with its peer, in turns, and
// prints time, processor time and memory of each, and their ratios.
//
//	run -heaptrim heaptrim.bin -peer peer.bin [-rounds 5] TRACE
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"
)

func main() {
	heaptrim := flag.String("heaptrim", "", "the `command` heaptrim")
	peer := flag.String("peer", "", "the `command` built from ../peer")
	rounds := flag.Int("rounds", 5, "how often each one reads")
	flag.Parse()
	if *heaptrim == "" || *peer == "" || flag.NArg() != 1 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, contenders(*heaptrim, *peer, flag.Arg(0)), *rounds, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

// contender is a command that reads the trace.
type contender struct {
	name string
	args []string
	env  string
	runs []usage
}

// usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	resident  int64 // bytes, at most
}

func contenders(heaptrim, peer, file string) []*contender {
	return []*contender{
		{name: "x/exp/trace", args: []string{peer, file}},
		{name: "summary, all processors", args: []string{heaptrim, "trace", "-summary", file}},
		{name: "summary, one processor", args: []string{heaptrim, "trace", "-summary", file}, env: "GOMAXPROCS=1"},
		{name: "summary and who pays", args: []string{heaptrim, "trace", file}},
	}
}

func measure(ctx context.Context, all []*contender, rounds int, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f) // into the page cache
	if err != nil {
		return err
	}
	f.Close()
	for i := range rounds {
		for _, c := range all {
			u, err := run(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.runs = append(c.runs, u)
			fmt.Fprintf(os.Stderr, "round %d: %-24s %v, %v CPU, %d MB\n", i+1, c.name, u.wall.Round(time.Millisecond), u.cpu.Round(time.Millisecond), u.resident/1e6)
		}
	}
	fmt.Printf("%s: %d MB, %d processors, medians of %d\n", info.Name(), info.Size()/1e6, runtime.NumCPU(), rounds)
	fmt.Printf("%-24s %8s %8s %8s %10s %10s %8s\n", "", "wall s", "CPU s", "MB/CPU-s", "× wall", "× CPU", "RSS MB")
	wall := func(u usage) float64 { return u.wall.Seconds() }
	cpu := func(u usage) float64 { return u.cpu.Seconds() }
	base := all[0]
	for _, c := range all {
		fmt.Printf("%-24s %8.2f %8.2f %8.0f %10.2f %10.2f %8.0f\n", c.name, c.median(wall), c.median(cpu),
			float64(info.Size())/1e6/c.median(cpu), base.median(wall)/c.median(wall), base.median(cpu)/c.median(cpu),
			c.median(func(u usage) float64 { return float64(u.resident) / 1e6 }))
	}
	return nil
}

func run(ctx context.Context, c *contender) (usage, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Stderr = os.Stderr
	if c.env != "" {
		cmd.Env = append(os.Environ(), c.env)
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, err
	}
	u := usage{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.resident = ru.Maxrss << 10 // Linux counts in KiB
	}
	return u, nil
}

func (c *contender) median(of func(usage) float64) float64 {
	var v []float64
	for _, u := range c.runs {
		v = append(v, of(u))
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
