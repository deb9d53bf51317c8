//go:build unix

// Command run reads one trace with heaptrim and with its peer, in turns, and
// prints time, processor time and memory of each, and the ratios to the peer's in
// the same round.
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
	"time"

	"github.com/heaptrim/heaptrim/lab/process"
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
	runs []process.Usage
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
			fmt.Fprintf(os.Stderr, "round %d: %-24s %v, %v CPU, %d MB\n", i+1, c.name, u.Wall.Round(time.Millisecond), u.CPU.Round(time.Millisecond), u.Resident/1e6)
		}
	}
	fmt.Printf("%s: %d MB, %d processors, medians of %d\n", info.Name(), info.Size()/1e6, runtime.NumCPU(), rounds)
	fmt.Printf("%-24s %8s %8s %8s %22s %22s %8s\n", "", "wall s", "CPU s", "MB/CPU-s", "wall ÷ peer's", "CPU ÷ peer's", "RSS MB")
	wall := func(u process.Usage) float64 { return u.Wall.Seconds() }
	cpu := func(u process.Usage) float64 { return u.CPU.Seconds() }
	base := all[0]
	for _, c := range all {
		fmt.Printf("%-24s %8.2f %8.2f %8.0f %22s %22s %8.0f\n", c.name, c.median(wall), c.median(cpu),
			float64(info.Size())/1e6/c.median(cpu), c.ratios(base, wall), c.ratios(base, cpu),
			c.median(func(u process.Usage) float64 { return float64(u.Resident) / 1e6 }))
	}
	return nil
}

func run(ctx context.Context, c *contender) (process.Usage, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Stderr = os.Stderr
	if c.env != "" {
		cmd.Env = append(os.Environ(), c.env)
	}
	return process.Run(cmd)
}

func (c *contender) median(of func(process.Usage) float64) float64 { return process.Median(c.runs, of) }

// ratios compares c with another contender round by round: median, and quartiles in brackets.
func (c *contender) ratios(base *contender, of func(process.Usage) float64) string {
	return process.Ratios(c.runs, base.runs, of)
}
