package loadlog

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// form is how a tool words its summary. Each pattern has the figure as its
// first group; one of a time has the unit as its second, and a figure of
// several terms is their sum.
type form struct {
	tool     string
	requests string
	failed   []string // counts that add up
	rate     string
	// heading stands before the quantiles; those behind its last match count. A
	// tool may print others under another heading.
	heading            string
	p50, p90, p99, max string
	unit               string // of times that have none beside them
	fix                func(*Summary, []byte)
}

// forms lists the tools, the most telling first. What they are made from: wrk
// 4.1 and hey 0.1.4 and ab 2.3 as they ran here; wrk2, oha 0.5 to 1.16, vegeta 8
// to 12, bombardier 1.2, k6 0.3x to 1.x and ghz 0.120 by their sources and by
// outputs that people published.
func forms() []form {
	const number, when = `([\d.]+)`, ` ?(ns|us|µs|ms|secs|sec|s|m|h)`
	percent := func(q, colon string) string {
		return `(?m)^\s*` + q + `(?:\.0+)?\s?%` + colon + number + when + `\.?\s*$`
	}
	in := func(q string) string { return percent(q, `%?\s+in\s+`) }
	return []form{
		{
			tool: "heaptrim load", requests: `(?m)^\s+(\d+) requests in [\d.]+s, \d+ due, `,
			failed: []string{`(?m)^\s+\d+ requests in [\d.]+s, \d+ due, (\d+) failed`, `(?m) failed, (\d+) not sent in time\s*$`},
			rate:   `(?m)^Requests/sec:\s+` + number + `\s*$`, heading: `(?m)^\s*Latency from when requests were due\s*$`,
			p50: percent("50", `\s+`), p90: percent("90", `\s+`), p99: percent("99", `\s+`), max: `(?m)^\s+max\s+` + number + when + `\s*$`,
		},
		{
			tool: "wrk", requests: `(?m)^\s*(\d+) requests in [\d.]+\w+, `,
			failed: []string{
				`(?m)^\s*Non-2xx or 3xx responses: (\d+)\s*$`, `(?m)^\s*Socket errors: connect (\d+)`, `(?m)^\s*Socket errors: connect \d+, read (\d+)`,
				`(?m)^\s*Socket errors: connect \d+, read \d+, write (\d+)`,
			},
			rate: `(?m)^Requests/sec:\s+` + number + `\s*$`, heading: `(?m)^\s*Latency Distribution(?: \(HdrHistogram - Recorded Latency\))?\s*$`,
			p50: percent("50", `\s+`), p90: percent("90", `\s+`), p99: percent("99", `\s+`),
			max: `(?m)^\s+Latency\s+\S+\s+\S+\s+` + number + when + `\s+[\d.]+%\s*$`,
		},
		{
			// A length that differs is no failure: pages are made anew each time.
			tool: "ab", requests: `(?m)^\s*Complete requests:\s+(\d+)\s*$`,
			failed: []string{
				`(?m)^\s*Non-2xx responses:\s+(\d+)\s*$`, `(?m)^\s*\(Connect: (\d+), Receive`, `(?m)^\s*\(Connect: \d+, Receive: (\d+)`,
				`(?m)^\s*\(Connect: .*Exceptions: (\d+)\)`,
			},
			rate: `(?m)^\s*Requests per second:\s+` + number + ` `, heading: `(?m)^\s*Percentage of the requests served within a certain time \(ms\)\s*$`,
			p50: `(?m)^\s*50%\s+` + number + `\s*$`, p90: `(?m)^\s*90%\s+` + number + `\s*$`, p99: `(?m)^\s*99%\s+` + number + `\s*$`,
			max: `(?m)^\s*100%\s+` + number + `(?: \(longest request\))?\s*$`, unit: "ms",
		},
		{
			tool: "k6", requests: `(?m)^\s*http_reqs\.*:\s+(\d+)\s`, rate: `(?m)^\s*http_reqs\.*:\s+\d+\s+` + number + `/s\s*$`,
			failed: []string{`(?m)^\s*http_req_failed\.*:\s.*?(\d+) out of \d+\s*$`, `(?m)^\s*http_req_failed\.*:\s.*✓ (\d+)\s+✗ \d+\s*$`},
			p50:    k6("med", number, when), p90: k6(`p\(90\)`, number, when), p99: k6(`p\(99\)`, number, when), max: k6("max", number, when),
		},
		{
			tool: "bombardier", requests: `(?m)^\s*1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)\s*$`,
			failed: []string{`(?m)^\s*1xx - .*4xx - (\d+), 5xx - (\d+)\s*$`, `(?m)^\s*others - (\d+)\s*$`},
			rate:   `(?m)^\s*Reqs/sec\s+` + number + `\s`, heading: `(?m)^\s*Latency Distribution\s*$`,
			p50: percent("50", `\s+`), p90: percent("90", `\s+`), p99: percent("99", `\s+`), max: `(?m)^\s*Latency[ \t]+\S+[ \t]+\S+[ \t]+` + number + when + `\s*$`,
		},
		{tool: "vegeta", requests: `(?m)^\s*Requests\s+\[total, rate(?:, throughput)?\]\s+(\d+),`, rate: `(?m)^\s*Requests\s+\[total, rate(?:, throughput)?\]\s+\d+, ` + number, fix: vegeta},
		{
			tool: "ghz", requests: `(?m)^\s+Count:\s+(\d+)\s*$`, rate: `(?m)^\s+Requests/sec:\s+` + number + `\s*$`,
			failed:  []string{`(?m)^\s+\[(?:Canceled|Unknown|InvalidArgument|DeadlineExceeded|NotFound|AlreadyExists|PermissionDenied|ResourceExhausted|FailedPrecondition|Aborted|OutOfRange|Unimplemented|Internal|Unavailable|DataLoss|Unauthenticated)\]\s+(\d+) responses\s*$`},
			heading: `(?m)^\s*Latency distribution:\s*$`, p50: in("50"), p90: in("90"), p99: in("99"), max: `(?m)^\s+Slowest:\s+` + number + when + `\s*$`,
		},
		{
			// hey and oha print a line per status.
			tool: "hey", requests: `(?m)^\s*\[\d{3}\]\s+(\d+) responses\s*$`, rate: `(?m)^\s*Requests/sec:\s+` + number + `\s*$`,
			heading: `(?m)^\s*(?:Latency|Response time) distribution:\s*$`, p50: in("50"), p90: in("90"), p99: in("99"), max: `(?m)^\s*Slowest:\s+` + number + when + `\s*$`,
			failed: []string{`(?m)^\s*\[[45]\d\d\]\s+(\d+) responses\s*$`}, fix: unanswered,
		},
	}
}

func k6(name, number, when string) string {
	return `(?m)^\s*http_req_duration\.*:\s.*\b` + name + `=` + number + when + `(?:\s|$)`
}

// read reads a summary of the form; false when the text is not of it.
func (f form) read(text []byte) (Summary, bool) {
	s := Summary{Tool: f.tool}
	n, loads := sum(f.requests, text)
	if loads == 0 {
		return s, false
	}
	s.Requests = n
	for _, p := range f.failed {
		n, _ := sum(p, text)
		s.Failed += n
	}
	if f.rate != "" {
		if m := regexp.MustCompile(f.rate).FindAllSubmatch(text, 2); len(m) == 1 {
			s.Rate = number(m[0][1])
		}
	}
	f.latency(&s, text)
	if f.fix != nil {
		f.fix(&s, text)
	}
	return s, true
}

// latency reads the quantiles and the longest of the last load.
func (f form) latency(s *Summary, text []byte) {
	if f.max != "" {
		s.Max = f.last(f.max, text)
	}
	at := regexp.MustCompile(f.heading).FindAllIndex(text, -1)
	switch {
	case f.p50 == "":
	case f.heading == "":
		s.P50, s.P90, s.P99 = f.last(f.p50, text), f.last(f.p90, text), f.last(f.p99, text)
	case len(at) > 0:
		behind := text[at[len(at)-1][1]:]
		s.P50, s.P90, s.P99 = f.first(f.p50, behind), f.first(f.p90, behind), f.first(f.p99, behind)
	}
}

// sum adds all groups of all matches, and counts the matches. What is beyond
// 2⁵³ is no load tool's figure, and spoils the sum.
func sum(pattern string, text []byte) (total int64, matches int) {
	const most = 1 << 53
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		matches++
		for _, g := range m[1:] {
			n, err := strconv.ParseInt(string(g), 10, 64)
			if err != nil || n > most || total > most {
				return most + 1, matches
			}
			total += n
		}
	}
	return total, matches
}

func number(text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// first is the time of the first match of a pattern in a text.
func (f form) first(pattern string, text []byte) time.Duration {
	return f.time(regexp.MustCompile(pattern).FindSubmatch(text))
}

// last is that of the last match.
func (f form) last(pattern string, text []byte) time.Duration {
	all := regexp.MustCompile(pattern).FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0
	}
	return f.time(all[len(all)-1])
}

// time is the time of a match, 0 of none.
func (f form) time(m [][]byte) time.Duration {
	if m == nil {
		return 0
	}
	unit := f.unit
	if unit == "" {
		unit = string(m[2])
	}
	d, _ := spell(number(m[1]), unit)
	return d
}

// unanswered adds the requests of hey and oha that nobody answered. Those that
// were under way when oha's time was over did not fail.
func unanswered(s *Summary, text []byte) {
	_, errors, ok := strings.Cut(string(text), "Error distribution:")
	if !ok {
		return
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*\[(\d{1,15})\]\s+(.*)$`).FindAllStringSubmatch(errors, -1) {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && !strings.Contains(m[2], "aborted due to deadline") && !strings.HasSuffix(m[2], " responses") {
			s.Failed += n
		}
	}
}

// vegeta reads the lines that name their columns, which changed between
// releases.
func vegeta(s *Summary, text []byte) {
	for _, m := range regexp.MustCompile(`(?m)^\s*Latencies\s+\[([^\]\n]*)\]\s+(.*?)\s*$`).FindAllSubmatch(text, -1) {
		names, values := strings.Split(string(m[1]), ","), strings.Split(string(m[2]), ",")
		for i, n := range names[:min(len(names), len(values))] {
			d, err := time.ParseDuration(strings.TrimSpace(values[i]))
			if err != nil {
				continue
			}
			switch strings.TrimSpace(n) {
			case "50":
				s.P50 = d
			case "90":
				s.P90 = d
			case "99":
				s.P99 = d
			case "max":
				s.Max = d
			}
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^\s*Status Codes\s+\[code:count\](.*)$`).FindAllSubmatch(text, -1) {
		for _, m := range regexp.MustCompile(`\b(\d{1,3}):(\d{1,15})\b`).FindAllSubmatch(line[1], -1) {
			// Status 0 is no answer.
			if code := number(m[1]); code == 0 || code >= 400 {
				s.Failed += int64(number(m[2]))
			}
		}
	}
}
