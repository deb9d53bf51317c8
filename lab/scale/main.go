//go:build unix

// Command scale runs heaptrim's commands on inputs of three sizes, each ten times the one
// before, beside go tool pprof where that reads the same file, and fits how time and memory
// grow.
//
//	scale -heaptrim heaptrim.bin [-rounds 3] [-only NAME,...] [-most SIZE] [-dir DIR]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/process"
)

func main() {
	var b bench
	heaptrim := flag.String("heaptrim", "", "the `command` heaptrim")
	only := flag.String("only", "", "`names` of axes to measure; default: all")
	flag.IntVar(&b.most, "most", math.MaxInt, "leave out sizes `above` this")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each command runs")
	flag.StringVar(&b.dir, "dir", "", "`folder` for the inputs, which stay there; default: a temporary one")
	flag.Parse()
	if *heaptrim == "" || flag.NArg() > 0 || b.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *heaptrim, *only); err != nil {
		log.Fatal(err)
	}
}

// bench measures commands.
type bench struct {
	heaptrim string
	dir      string
	rounds   int
	most     int // size of an input
}

func (b *bench) run(ctx context.Context, heaptrim, only string) error {
	var err error
	if b.heaptrim, err = filepath.Abs(heaptrim); err != nil {
		return err
	}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "heaptrim-scale"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	fmt.Println("| axis | size | CPU s | MB | exponent of CPU | of MB | pprof: CPU s | MB | CPU ÷ pprof's | MB ÷ pprof's |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, a := range b.axes() {
		if only != "" && !slices.Contains(strings.Split(only, ","), a.name) {
			continue
		}
		if err := b.measure(ctx, a); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// measure prints the rows of one axis.
func (b *bench) measure(ctx context.Context, a axis) error {
	var points []point
	for _, size := range a.sizes {
		if size > b.most {
			break
		}
		input := filepath.Join(b.dir, fmt.Sprintf("%s.%d", a.input, size))
		if _, err := os.Stat(input); err != nil {
			if err := a.make(input, size); err != nil {
				return err
			}
		}
		var ours, pprof []process.Usage
		for range b.rounds {
			u, err := b.command(ctx, b.heaptrim, append(slices.Clone(a.args), input)...)
			if err != nil {
				return err
			}
			ours = append(ours, u)
			if !a.pprof {
				continue
			}
			if u, err = b.command(ctx, "go", "tool", "pprof", "-top", input); err != nil {
				return err
			}
			pprof = append(pprof, u)
		}
		p := point{float64(size), process.Median(ours, seconds), process.Median(ours, megabytes)}
		points = append(points, p)
		row := fmt.Sprintf("| %s | %d | %.2f | %.0f | %s | %s |", a.name, size, p.cpu, p.mb,
			exponent(points, func(p point) float64 { return p.cpu }), exponent(points, func(p point) float64 { return p.mb }))
		if a.pprof {
			cpu, mb := process.Median(pprof, seconds), process.Median(pprof, megabytes)
			row += fmt.Sprintf(" %.2f | %.0f | %s | %s |", cpu, mb, process.Ratios(ours, pprof, seconds), process.Ratios(ours, pprof, megabytes))
		} else {
			row += " | | | |"
		}
		fmt.Println(row)
	}
	return nil
}

// command runs one in an empty folder, outside any module, and takes findings for success.
func (b *bench) command(ctx context.Context, name string, args ...string) (process.Usage, error) {
	const findings = 3
	dir, err := os.MkdirTemp("", "heaptrim-scale-run")
	if err != nil {
		return process.Usage{}, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var problem strings.Builder
	cmd.Stderr = &problem
	u, err := process.Run(cmd)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == findings {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, problem.String())
	}
	fmt.Fprintf(os.Stderr, "%s %s: %v, %v CPU, %.0f MB\n", filepath.Base(name), strings.Join(args, " "),
		u.Wall.Round(time.Millisecond), u.CPU.Round(time.Millisecond), megabytes(u))
	return u, err
}

func seconds(u process.Usage) float64 { return u.CPU.Seconds() }

func megabytes(u process.Usage) float64 { return float64(u.Resident) / 1e6 }

type point struct{ size, cpu, mb float64 }

// exponent is how a figure grows from the size before: 1 is in proportion. Empty at the first.
func exponent(points []point, of func(point) float64) string {
	n := len(points)
	if n < 2 {
		return ""
	}
	a, b := points[n-2], points[n-1]
	return fmt.Sprintf("%.2f", math.Log(of(b)/of(a))/math.Log(b.size/a.size))
}
