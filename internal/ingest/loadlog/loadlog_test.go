package loadlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
)

func TestRequests(t *testing.T) {
	f := func(tool, output string, want int64) {
		t.Helper()
		if got := loadlog.Requests([]byte(output)); got != want {
			t.Errorf("%s: got %d requests, want %d", tool, got, want)
		}
	}
	f("wrk twice", "  100 requests in 1.00s, 4.51MB read\n  200 requests in 1.00s, 4.51MB read\n", 300)
	f("ab", "Concurrency Level:      8\nTime taken for tests:   1.204 seconds\nComplete requests:      5000\nFailed requests:        0\n", 5000)
	f("k6", "    http_req_waiting...............: avg=1.1ms\n    http_reqs......................: 48210  1606.9/s\n", 48210)
	f("k6 1.x", "    HTTP\n    http_reqs..............: 913 182.4/s\n", 913)
	f("carriage returns", "working\r  12 requests in 1.00s, 1MB read\r\n", 12)
	f("nothing", "", 0)
	f("something else", "I made 100 requests, all fine\n", 0)
	f("too big to be true", "Complete requests:      99999999999999999999\n", 0)
	f("a sum that is too big", strings.Repeat("  9007199254740991 requests in 1.00s, 1MB read\n", 3000), 0)
}

// wants is what the files of testdata should be read as.
func wants() map[string]loadlog.Summary {
	return map[string]loadlog.Summary{
		"wrk-4.1.txt":               {Tool: "wrk", Requests: 53571, Failed: 13480, Rate: 48725.63, P50: 57 * us, P90: 96 * us, P99: 3950 * us, Max: 10480 * us},
		"wrk-no-latency.txt":        {Tool: "wrk", Requests: 27841, Rate: 1855.92, Max: 23100 * us},
		"wrk2.txt":                  {Tool: "wrk", Requests: 60018, Rate: 2000.28, P50: 6670 * us, P90: 8290 * us, P99: 9180 * us, Max: 9200 * us},
		"wrk2-uncorrected.txt":      {Tool: "wrk", Requests: 6004, Failed: 835, Rate: 100.05, P50: 32990 * us, P90: 39940 * us, P99: 46560 * us},
		"ab-2.3.txt":                {Tool: "ab", Requests: 300, Failed: 81, Rate: 13303.77, P90: 1000 * us, P99: 3000 * us, Max: 3000 * us},
		"ab-2.3-lengths.txt":        {Tool: "ab", Requests: 10, Rate: 9.03, P50: 109 * ms, P90: 122 * ms, P99: 122 * ms, Max: 122 * ms},
		"hey-0.1.4.txt":             {Tool: "hey", Requests: 17095, Failed: 4272, Rate: 17074.9552, P50: 200 * us, P90: 300 * us, P99: 800 * us, Max: 42500 * us},
		"hey-errors.txt":            {Tool: "hey", Requests: 9996, Failed: 9998, Rate: 2364.8065, P50: 7400 * us, P90: 17600 * us, P99: 2170800 * us, Max: 3993 * ms},
		"hey-percent.txt":           {Tool: "hey", Requests: 484931, Rate: 16163.1469, P50: 2300 * us, P90: 5500 * us, P99: 16 * ms, Max: 66100 * us},
		"hey-few.txt":               {Tool: "hey", Requests: 99, Failed: 79, Rate: 107.776, P50: 24400 * us, P90: 32100 * us, Max: 90900 * us},
		"hey.csv":                   {Tool: "hey", Requests: 5, P50: 100 * us, P90: 3400 * us, P99: 3400 * us, Max: 3400 * us},
		"oha-0.5.txt":               {Tool: "hey", Requests: 100000, Failed: 100000, Rate: 184995.9121, P50: 200 * us, P90: 500 * us, P99: 900 * us, Max: 6900 * us},
		"oha-1.4.txt":               {Tool: "hey", Requests: 119539, Rate: 11953.5539, P50: 800 * us, P90: 1000 * us, P99: 1200 * us, Max: 4500 * us},
		"oha-1.16.json":             {Tool: "oha", Requests: 11492, Failed: 5, Rate: 1149.2, P50: 8700 * us, P90: 18 * ms, P99: 48100 * us, Max: 51200 * us},
		"vegeta-12.txt":             {Tool: "vegeta", Requests: 2640, Failed: 1186, Rate: 60, P50: 160355 * us, P90: 679439 * us, P99: 866838 * us, Max: 1042 * ms},
		"vegeta-8.txt":              {Tool: "vegeta", Requests: 1200, Rate: 120, P50: 210 * ms, P99: 480 * ms, Max: 1100 * ms},
		"vegeta-12.json":            {Tool: "vegeta", Requests: 50, Failed: 30, Rate: 10.20424385097531, P50: 2249552, P90: 3489329, P99: 52527168, Max: 52527168},
		"vegeta-open.json":          {Tool: "vegeta", Requests: 10, Max: 23259687},
		"bombardier-1.2.txt":        {Tool: "bombardier", Requests: 44115, Failed: 468, Rate: 1452.79, P50: 23730 * us, P90: 27280 * us, P99: 109200 * ms, Max: 151200 * ms},
		"bombardier-no-latency.txt": {Tool: "bombardier", Requests: 91771, Failed: 8229, Rate: 8782.77, Max: 376650 * us},
		"bombardier-1.2.json":       {Tool: "bombardier", Requests: 20000, Rate: 297.81464, P50: 305 * us, P90: 707 * us, P99: 1997471 * us, Max: 67174264 * us},
		"k6-1.txt":                  {Tool: "k6", Requests: 913, Failed: 4, Rate: 182.4, P50: 5310 * us, P90: 7020 * us, P99: 12500 * us, Max: 61 * ms},
		"ghz-0.120.txt":             {Tool: "ghz", Requests: 200, Failed: 3, Rate: 1101.53, P50: 27650 * us, P90: 64280 * us, P99: 69020 * us, Max: 69600 * us},
		"ghz-0.120.json":            {Tool: "ghz", Requests: 200, Rate: 4368.2, P50: 7940750, P90: 13417560, P99: 21163709, Max: 21164413},
		"heaptrim.txt":              {Tool: "heaptrim load", Requests: 986, Failed: 14, Rate: 98.57, P50: 1234 * us, P90: 2345 * us, P99: 9876 * us, Max: 45678 * us},
	}
}

const us, ms = time.Microsecond, time.Millisecond

// TestRead reads outputs of the tools, testdata/README.md says of which releases
// and from where.
func TestRead(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range outputs(t) {
		name := filepath.Base(file)
		seen[name] = true
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := loadlog.Read(text)
		// Nanoseconds of a decimal number are rounded.
		for _, d := range []*time.Duration{&got.P50, &got.P90, &got.P99, &got.Max} {
			*d = d.Round(time.Nanosecond * 10)
		}
		want, known := wants()[name]
		for _, d := range []*time.Duration{&want.P50, &want.P90, &want.P99, &want.Max} {
			*d = d.Round(time.Nanosecond * 10)
		}
		if !known || !ok || got != want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", name, got, ok, want)
		}
	}
	for name := range wants() {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

func outputs(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, pattern := range []string{"*.txt", "*.json", "*.csv"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, files...)
	}
	return out
}

// TestMixed: what stands around a summary does not change it.
func TestMixed(t *testing.T) {
	text, err := os.ReadFile("testdata/wrk-4.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := loadlog.Read(text)
	f := func(output string, want loadlog.Summary) {
		t.Helper()
		if got, ok := loadlog.Read([]byte(output)); !ok || got != want {
			t.Errorf("got %+v, %v, want %+v in\n%s", got, ok, want, output)
		}
	}
	f("waiting…\n"+string(text)+"bye\n", want)
	f("\x1b[32m"+strings.ReplaceAll(string(text), "\n", "\x1b[0m\r\n"), want)
	twice := want
	twice.Requests, twice.Failed, twice.Rate = 2*want.Requests, 2*want.Failed, 0
	f(string(text)+string(text), twice)
	last := twice
	last.P50, last.Max = 90*us, 20*ms
	second := strings.NewReplacer("50%   57.00us", "50%   90.00us", "10.48ms", "20.00ms").Replace(string(text))
	f(string(text)+second, last)
	k6 := "    http_reqs....: 10 5/s\n    http_req_duration....: avg=2ms med=%s p(90)=3ms p(99)=4ms max=%s\n"
	f(fmt.Sprintf(k6, "1ms", "9ms")+fmt.Sprintf(k6, "2ms", "5ms"), loadlog.Summary{Tool: "k6", Requests: 20, P50: 2 * ms, P90: 3 * ms, P99: 4 * ms, Max: 5 * ms})
	json, err := os.ReadFile("testdata/oha-1.16.json")
	if err != nil {
		t.Fatal(err)
	}
	oha, _ := loadlog.Read(json)
	f("{broken\n{\"other\": 1}\n"+string(json), oha)
	f("first\n{\"other\": {\n\"deep\": 1}}\n"+string(json), oha)
}

func TestShare(t *testing.T) {
	f := func(requests, failed int64, want float64) {
		t.Helper()
		if got := (loadlog.Summary{Requests: requests, Failed: failed}).Share(); got != want {
			t.Errorf("%d failed beside %d: %v, want %v", failed, requests, got, want)
		}
	}
	f(0, 0, 0)
	f(100, 0, 0)
	f(100, 25, 0.25)
	f(0, 7, 1)
	f(5, 20, 1)
}

// TestHostile: what no load tool means is not taken for a figure.
// TestOrder: quantiles that fall are none.
func TestOrder(t *testing.T) {
	text := "Summary:\n  Requests/sec:\t100.0\n\nLatency distribution:\n  50%% in %s secs\n  90%% in %s secs\n  99%% in %s secs\n\n" +
		"Status code distribution:\n  [200]\t1000 responses\n"
	for _, c := range []struct {
		p50, p90, p99 string
		known         bool
	}{{"0.0010", "0.0020", "0.0030", true}, {"0.0010", "0.0010", "0.0010", true}, {"0.0030", "0.0020", "0.0010", false}, {"0.0010", "0.0030", "0.0020", false}} {
		s, ok := loadlog.Read(fmt.Appendf(nil, text, c.p50, c.p90, c.p99))
		if !ok || s.Requests != 1000 || (s.P50 > 0) != c.known || (s.P99 > 0) != c.known {
			t.Errorf("%+v: %+v, %v", c, s, ok)
		}
	}
}

func TestHostile(t *testing.T) {
	f := func(output string) {
		t.Helper()
		got, ok := loadlog.Read([]byte(output))
		if got.P50 != 0 || got.P99 != 0 || got.Max != 0 || got.Rate != 0 {
			t.Errorf("%q: got %+v, %v, want no figure", output, got, ok)
		}
	}
	f("  10 requests in 1.00s, 1MB read\n  Latency Distribution\n     50%    -1.00ms\n     99%    nan\n")
	f("  10 requests in 1.00s, 1MB read\n  Latency Distribution\n     50%    1e300s\n     99%    99999999999999999999999999.0h\n")
	f("  10 requests in 1.00s, 1MB read\nRequests/sec:   1.2.3\n")
	f("     50%    1.00ms\n     99%    1.00ms\n")
	f(`{"summary":{"requestsPerSec":-1,"slowest":1e400},"latencyPercentiles":{"p50":null,"p99":-3},"statusCodeDistribution":{"200":5}}`)
	f(`{"summary":{"requestsPerSec":"many"},"latencyPercentiles":{"p50":"x"},"statusCodeDistribution":{"200":-5,"x":3}}`)
	f(strings.Repeat("{\n", 100000))
	f(strings.Repeat(`{"a":`, 20000))
	f("Latencies     [50, 99, max]  , ,\nRequests [total, rate] 3, x\n")
}

func FuzzRead(f *testing.F) {
	for _, file := range outputs(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, ok := loadlog.Read(text)
		if !ok && s != (loadlog.Summary{}) {
			t.Errorf("not understood, and %+v", s)
		}
		if s.Requests < 0 || s.Failed < 0 || !(s.Rate >= 0) || s.P50 < 0 || s.P90 < 0 || s.P99 < 0 || s.Max < 0 || s.Share() < 0 || s.Share() > 1 {
			t.Errorf("%+v", s)
		}
	})
}
