package prove

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteBench writes the runs of one side, by its place in Result.Sides, as Go
// benchmark text with a line for each run: `benchstat a.txt b.txt` compares the two. The
// headings are the same on all sides, because benchstat would otherwise put
// them into different tables; which side it is stands in a comment. Runs that
// log collections are lines of their own, with their own units.
func WriteBench(w io.Writer, r *Result, side int) error {
	b := bufio.NewWriter(w)
	s := r.Sides[side]
	fmt.Fprintf(b, "# heaptrim prove, side %s: %s\n", Letter(side), oneLine(s.Spec))
	fmt.Fprintf(b, "# %s %s\n", s.GoVersion, oneLine(strings.Join(s.Env, " ")))
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\n", r.Environment.GOOS, r.Environment.GOARCH)
	if r.Environment.CPUModel != "" {
		fmt.Fprintf(b, "cpu: %s\n", oneLine(r.Environment.CPUModel))
	}
	seen := map[string]bool{}
	for _, m := range metrics() {
		if seen[m.Unit] {
			continue
		}
		seen[m.Unit] = true
		switch {
		case m.Sense > 0 && !strings.HasSuffix(m.Unit, "/s"):
			fmt.Fprintf(b, "Unit %s better=higher\n", m.Unit)
		case m.Sense < 0 && !strings.HasSuffix(m.Unit, "/op"):
			fmt.Fprintf(b, "Unit %s better=lower\n", m.Unit)
		}
	}
	pkg := ""
	for _, c := range r.Comparisons {
		// Each comparison has the runs of A; those of the first will do.
		if c.Side != max(side, 1) {
			continue
		}
		if c.Package != pkg {
			pkg = c.Package
			fmt.Fprintf(b, "\npkg: %s\n", pkg)
		}
		for _, run := range c.Runs {
			if run.Side == min(side, 1) && len(run.Values) > 0 {
				benchLine(b, c, run)
			}
		}
	}
	return b.Flush()
}

func benchLine(b *bufio.Writer, c Comparison, run Sample) {
	name := c.Name
	if run.Procs > 1 {
		name += fmt.Sprintf("-%d", run.Procs)
	}
	fmt.Fprintf(b, "%s\t%8d", name, max(c.Iterations, 1))
	units := slices.Collect(maps.Keys(run.Values))
	seen := map[string]bool{}
	for _, m := range metricsFor("", nil, units) {
		if seen[m.Unit] {
			continue
		}
		seen[m.Unit] = true
		fmt.Fprintf(b, "\t%s %s", strconv.FormatFloat(run.Values[m.Unit], 'f', -1, 64), m.Unit)
	}
	b.WriteByte('\n')
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
