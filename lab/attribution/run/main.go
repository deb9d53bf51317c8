// Command run holds heaptrim's predictions against the truth: it measures
// each program of attribution/progs with and without its marked allocation
// site, interleaved, asks heaptrim what the site's removal would save, and
// prints the two side by side.
//
// Usage, in the lab's directory:
//
//	go run ./attribution/run [-heaptrim BIN] [flags]
//
// Without -heaptrim it prints the measured half alone.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attribution:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	heaptrim  string
	checkArgs string
	only      string
	rounds    int
	length    time.Duration
	jsonFile  string
	keep      string
	again     string
	layouts   bool
}

func (c *config) register(fs *flag.FlagSet) {
	fs.StringVar(&c.heaptrim, "heaptrim", "", "heaptrim `binary` whose predictions are judged")
	fs.StringVar(&c.checkArgs, "checkargs", "-benchtime 4s", "further `arguments` of heaptrim check")
	fs.StringVar(&c.only, "only", "", "comma-separated `names` of programs; default: all")
	fs.IntVar(&c.rounds, "rounds", 6, "rounds; each runs the version with the site, twice the one without, and again the one with")
	fs.DurationVar(&c.length, "length", 1500*time.Millisecond, "length of one run of the version with the site")
	fs.StringVar(&c.jsonFile, "json", "", "write every figure as JSON to `file`")
	fs.StringVar(&c.keep, "keep", "", "keep the reports of heaptrim, and its recordings, in this `directory`")
	fs.BoolVar(&c.layouts, "layouts", false, "give the code of each round another layout")
	fs.StringVar(&c.again, "again", "", "judge the recordings that -keep left in this `directory` instead of making new ones")
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	fs := flag.NewFlagSet("attribution", flag.ContinueOnError)
	fs.SetOutput(stderr)
	c.register(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	selected, err := choose(c.only)
	if err != nil {
		return err
	}
	if _, err := os.Stat("attribution/progs"); err != nil {
		return fmt.Errorf("run this in the lab's directory: %w", err)
	}
	if c.keep != "" {
		if err := os.MkdirAll(c.keep, 0o777); err != nil {
			return err
		}
	}
	tmp, err := os.MkdirTemp("", "attribution")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	start := time.Now()
	res := Result{Environment: environment()}
	for _, p := range selected {
		fmt.Fprintf(stderr, "%s %s\n", time.Since(start).Round(time.Second), p.Name)
		row, err := truth(ctx, &c, p, tmp)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		res.Rows = append(res.Rows, row)
	}
	res.Environment.LoadAfter = loadAverage()
	res.Environment.Took = time.Since(start).Round(time.Second).String()
	res.Summary = summarise(res.Rows)
	if c.jsonFile != "" {
		if err := writeJSON(c.jsonFile, &res); err != nil {
			return err
		}
	}
	return writeMarkdown(stdout, &res)
}

// truth measures one program and, where a heaptrim is given, judges its
// prediction.
func truth(ctx context.Context, c *config, p program, tmp string) (Row, error) {
	row := Row{program: p}
	var err error
	if row.Site, err = findSite(p); err != nil {
		return row, err
	}
	pairs, err := c.build(ctx, p, tmp)
	if err != nil {
		return row, err
	}
	if row.Checksum, err = pairs[0].sameChecksum(ctx); err != nil {
		return row, err
	}
	if row.Measured, err = measure(ctx, pairs, c.length); err != nil {
		return row, err
	}
	if c.heaptrim == "" {
		return row, nil
	}
	row.Prediction, err = predict(ctx, c, p, row.Site)
	if err != nil {
		return row, err
	}
	row.judge()
	return row, nil
}

func writeJSON(name string, res *Result) error {
	b, err := json.MarshalIndent(res, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o666)
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
