// Package loadlog reads what load tools print at their end.
package loadlog

import (
	"bytes"
	"regexp"
	"strconv"
)

// loadCounter finds the number of finished requests in what a load tool
// printed: the sum of the first group over all matches.
type loadCounter struct {
	tool    string
	pattern *regexp.Regexp
}

// loadCounters lists the summaries that are understood, the most telling
// first.
func loadCounters() []loadCounter {
	f := func(tool, pattern string) loadCounter { return loadCounter{tool, regexp.MustCompile(pattern)} }
	return []loadCounter{
		f("wrk", `(?m)^\s*(\d+) requests in [\d.]+\w+, `),
		f("ab", `(?m)^Complete requests:\s+(\d+)\s*$`),
		f("k6", `(?m)^\s*http_reqs\.*:\s+(\d+)\s`),
		f("vegeta", `(?m)^Requests\s+\[total, rate(?:, throughput)?\]\s+(\d+),`),
		f("ghz", `(?m)^\s+Count:\s+(\d+)\s*$`),
		// hey and oha print a line per status code.
		f("hey", `(?m)^\s+\[\d{3}\]\s+(\d+) responses\s*$`),
	}
}

// Requests reads the number of requests from a load tool's output, 0 when
// it says nothing that is understood.
func Requests(output []byte) int64 {
	output = bytes.ReplaceAll(output, []byte("\r"), []byte("\n"))
	for _, c := range loadCounters() {
		sum := int64(0)
		for _, m := range c.pattern.FindAllSubmatch(output, -1) {
			n, err := strconv.ParseInt(string(m[1]), 10, 64)
			if err != nil {
				return 0 // beyond 64 bits: no load tool's figure
			}
			sum += n
		}
		if sum > 0 {
			return sum
		}
	}
	return 0
}
