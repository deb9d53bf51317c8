// Command ablation says what each correction of samples, and each measure of the
// machine, adds to the predictions: it diagnoses recordings of the ground-truth
// programs with all of them, and with one left out in turn, and compares both with
// the saving that was measured. Recordings and truth are those that
// attribution/run left with -keep and -json.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// leftOut is one row of the table: what is done to leave something out.
type leftOut struct {
	name    string
	without []string            // corrections of samples
	forget  func(*evidence.Run) // what the recording measured of the machine
}

// rows lists what can be left out.
func rows() []leftOut {
	var out []leftOut
	for _, c := range correct.List() {
		out = append(out, leftOut{name: c.Name, without: []string{c.Name}})
	}
	return append(out,
		leftOut{name: "cache misses", forget: func(r *evidence.Run) { r.CacheMiss = nil }},
		leftOut{name: "cost of a cycle", forget: func(r *evidence.Run) { r.CycleCost = nil }},
	)
}

// truth is the part of a run of attribution/run that counts here.
type truth struct {
	Rows []struct {
		Name     string `json:"name"`
		Site     site   `json:"site"`
		Measured struct {
			Saving struct{ Value, Low, High float64 } `json:"saving"`
		} `json:"measured"`
	} `json:"rows"`
}

// site is the marked line of a program, with the file relative to the lab's folder.
type site struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// program is a ground-truth program with its recordings.
type program struct {
	name     string
	measured interval
	// what each recording predicts, with everything (first) and without each row in turn; 0 where no
	// finding names the site
	predicted [][]float64
}

// interval is a saving in points of CPU, with its 95 % interval.
type interval struct{ value, low, high float64 }

// deviates is the interval as a standard deviation.
func (i interval) deviates() float64 { return (i.high - i.low) / (2 * 1.96) }

func main() {
	results := flag.String("truth", "", "`file` that attribution/run wrote with -json")
	recordings := flag.String("recordings", "", "`directory` that it filled with -keep")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *results, *recordings); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, results, recordings string) error {
	text, err := os.ReadFile(results)
	if err != nil {
		return err
	}
	var t truth
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("read %s: %w", results, err)
	}
	var programs []program
	for _, row := range t.Rows {
		m := row.Measured.Saving
		p := program{name: row.Name, measured: interval{100 * m.Value, 100 * m.Low, 100 * m.High}}
		kept, err := filepath.Glob(filepath.Join(recordings, row.Name+".*"))
		if err != nil {
			return err
		}
		for _, name := range kept {
			if strings.HasSuffix(name, ".json") {
				continue
			}
			all, err := predictions(ctx, name, row.Site)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			p.predicted = append(p.predicted, all)
		}
		if len(p.predicted) > 0 {
			programs = append(programs, p)
		}
	}
	if len(programs) == 0 {
		return errors.New("no recordings of the programs in " + results)
	}
	table(w, programs)
	return nil
}

// predictions diagnoses a recording with everything, and without each row in turn.
func predictions(ctx context.Context, name string, at site) ([]float64, error) {
	var out []float64
	for _, r := range append([]leftOut{{name: "nothing"}}, rows()...) {
		v, err := predict(ctx, name, at, r)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", r.name, err)
		}
		out = append(out, 100*v)
	}
	return out, nil
}

// predict is the share of CPU that the marked line would save.
func predict(ctx context.Context, name string, at site, r leftOut) (float64, error) {
	b, err := bundle.Open(name)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	if r.forget != nil {
		for i := range b.Manifest.Runs {
			r.forget(&b.Manifest.Runs[i])
		}
	}
	s, err := diagnose.Open(ctx, b, diagnose.Options{Without: r.without})
	if err != nil {
		return 0, err
	}
	for _, f := range s.Diagnosis().Findings {
		if f.Site.Line == at.Line && strings.HasSuffix("/"+filepath.ToSlash(f.Site.File), "/"+at.File) && f.Removal != nil {
			return f.Removal.CPU.Value, nil
		}
	}
	return 0, nil
}

// table prints the error without each row, in points of CPU and of the saving, and how
// much larger it is than with everything: the mean over the programs, each by the median of
// its recordings, with the 95 % interval of a bootstrap over programs, recordings and the
// measured saving's own interval.
func table(w io.Writer, programs []program) {
	fmt.Fprintf(w, "| left out | error, points | median error, %% | change, points | 95 %% |")
	for _, p := range programs {
		fmt.Fprintf(w, " %s |", p.name)
	}
	fmt.Fprintf(w, "\n|---|--:|--:|--:|---|%s\n", strings.Repeat("--:|", len(programs)))
	for i, r := range append([]leftOut{{name: "nothing"}}, rows()...) {
		value, low, high := change(programs, i)
		points, relative := errorOf(programs, i)
		fmt.Fprintf(w, "| %s | %.1f | %.0f | %+.2f | %+.2f to %+.2f |", r.name, points, relative, value, low, high)
		for _, p := range programs {
			fmt.Fprintf(w, " %+.1f |", difference(p.predicted, p.measured.value, i))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| measured saving, points | | | | |")
	for _, p := range programs {
		fmt.Fprintf(w, " %.1f [%.1f, %.1f] |", p.measured.value, p.measured.low, p.measured.high)
	}
	fmt.Fprintf(w, "\n| predicted with everything | | | | |")
	for _, p := range programs {
		fmt.Fprintf(w, " %.1f |", median(column(p.predicted, 0)))
	}
	fmt.Fprintf(w, "\n| recordings | | | | |")
	for _, p := range programs {
		fmt.Fprintf(w, " %d |", len(p.predicted))
	}
	fmt.Fprintln(w)
}

func column(recordings [][]float64, row int) []float64 {
	var out []float64
	for _, r := range recordings {
		out = append(out, r[row])
	}
	return out
}

// errorOf is the mean error of the programs' median predictions in points, and the median
// of it in per cent of the measured saving.
func errorOf(programs []program, row int) (points, relative float64) {
	var all []float64
	for _, p := range programs {
		e := math.Abs(median(column(p.predicted, row)) - p.measured.value)
		points += e / float64(len(programs))
		all = append(all, 100*e/math.Abs(p.measured.value))
	}
	return points, median(all)
}

// difference is how much larger the error of the median prediction is without a row than
// with everything.
func difference(recordings [][]float64, measured float64, row int) float64 {
	off := func(row int) float64 { return math.Abs(median(column(recordings, row)) - measured) }
	return off(row) - off(0)
}

func change(programs []program, row int) (value, low, high float64) {
	const resamples = 4000
	random := rand.New(rand.NewPCG(1, uint64(row)))
	drawn := func(p program) float64 {
		recordings := make([][]float64, len(p.predicted))
		for k := range recordings {
			recordings[k] = p.predicted[random.IntN(len(p.predicted))]
		}
		return difference(recordings, p.measured.value+p.measured.deviates()*random.NormFloat64(), row)
	}
	for _, p := range programs {
		value += difference(p.predicted, p.measured.value, row) / float64(len(programs))
	}
	var all []float64
	for range resamples {
		sum := 0.0
		for range programs {
			sum += drawn(programs[random.IntN(len(programs))])
		}
		all = append(all, sum/float64(len(programs)))
	}
	slices.Sort(all)
	return value, all[resamples*25/1000], all[resamples*975/1000]
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
