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
	most      int
	every     int
	length    time.Duration
	jsonFile  string
	keep      string
	again     string
	layouts   bool
	serve     bool // as services
}

func (c *config) register(fs *flag.FlagSet) {
	fs.StringVar(&c.heaptrim, "heaptrim", "", "heaptrim `binary` whose predictions are judged")
	fs.StringVar(&c.checkArgs, "checkargs", "-benchtime 4s", "further `arguments` of heaptrim check")
	fs.StringVar(&c.only, "only", "", "comma-separated `names` of programs; default: all")
	fs.IntVar(&c.rounds, "rounds", 6, "rounds at least; each runs the version with the site, twice the one without, and again the one with")
	fs.IntVar(&c.most, "most", 18, "rounds at most: more than -rounds are run while the measured saving is not known within a fifth, or a point of CPU")
	fs.IntVar(&c.every, "every", 2, "rounds after which heaptrim records again: its prediction is the median over the recordings")
	fs.DurationVar(&c.length, "length", 1500*time.Millisecond, "length of one run of the version with the site")
	fs.StringVar(&c.jsonFile, "json", "", "write every figure as JSON to `file`")
	fs.StringVar(&c.keep, "keep", "", "keep the reports of heaptrim, and its recordings NAME.1 and so on, in this `directory`")
	fs.BoolVar(&c.serve, "serve", false, "measure and record the programs as services, under load")
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
	if c.rounds < 1 || c.every < 1 {
		return fmt.Errorf("-rounds %d and -every %d must be 1 or more", c.rounds, c.every)
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
	s := &series{pairs: pairs, length: c.length, rounds: c.rounds, most: c.most, first: "500ms", run: bench}
	if c.serve {
		s.first, s.run = "2000x", service{c, p.Name}.run
		s.fixed = serveRate * 8
	} else if row.Checksum, err = pairs[0].sameChecksum(ctx); err != nil {
		return row, err
	}
	j := judgement{config: c, program: p, site: row.Site}
	row.Measured, err = measure(ctx, s, j.afterRound)
	if err != nil || c.heaptrim == "" {
		return row, err
	}
	if row.Prediction, err = j.prediction(ctx); err != nil {
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
