package limits

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestParse(t *testing.T) {
	f, err := Parse("l", []byte("# a canary\nalloc-per-request <= 64 KiB\nalloc-rate <= 50MiB/s\ngc-share <= 10%\nrequests http://h/metrics http_requests_total\n"))
	if err != nil || len(f.Limits) != 3 || f.Limits[0].Max != 65536 || f.Limits[1].Max != 50<<20 || f.Limits[2].Max != 0.1 || f.Requests.Name != "http_requests_total" {
		t.Errorf("%+v, %v", f, err)
	}
	for text, want := range map[string]string{
		"":                          "no limit",
		"gc-share <= 10":            "l:1: want gc-share <= PERCENT%",
		"\ngc-share < 10%":          "l:2: want alloc-per-request <= SIZE",
		"alloc-rate <= 5MiB":        "want alloc-rate <= SIZE/s",
		"alloc-per-request <= 1KiB": "needs a line requests URL COUNTER",
		"heap <= 5MiB":              "want one of",
	} {
		if _, err := Parse("l", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}

func TestCount(t *testing.T) {
	f := func(text string, want float64, ok bool) {
		t.Helper()
		if got, err := Count("req", []byte(text)); got != want || (err == nil) != ok {
			t.Errorf("Count(%q) = %v, %v, want %v, %v", text, got, err, want, ok)
		}
	}
	f("# HELP req\nreq{code=\"200\"} 5\nreq{code=\"a } b\"} 2 1234\nrequests 7\n", 7, true)
	f("req 3\n", 3, true)
	f("other 3\n", 0, false)
	f("req x\n", 0, false)
	f(`{"req": 12, "x": {}}`, 12, true)
	f(`{"req": "a"}`, 0, false)
}

func TestJudge(t *testing.T) {
	l := Limit{GCShare, 0.1}
	f := func(v stats.Interval, why string, want State) {
		t.Helper()
		if got := judge(l, v, why).State; got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	f(stats.Interval{Value: 0.05, Low: 0.01, High: 0.2}, "", Within)
	f(stats.Interval{Value: 0.12, Low: 0.09, High: 0.2}, "", Perhaps)
	f(stats.Interval{Value: 0.15, Low: 0.11, High: 0.2}, "", Above)
	f(stats.Interval{}, "no profile", NotKnown)
}
