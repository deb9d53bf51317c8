package loadlog_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
)

func TestRequests(t *testing.T) {
	f := func(tool, output string, want int64) {
		t.Helper()
		if got := loadlog.Requests([]byte(output)); got != want {
			t.Errorf("%s: got %d requests, want %d", tool, got, want)
		}
	}
	f("wrk", "Running 15s test @ http://127.0.0.1:8080/\n  1 threads and 16 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     8.67ms    1.02ms  23.10ms   90.35%\n    Req/Sec     1.86k   104.93     2.02k    84.00%\n  27841 requests in 15.00s, 4.51MB read\nRequests/sec:   1855.92\nTransfer/sec:    307.93KB\n", 27841)
	f("wrk twice", "  100 requests in 1.00s, 4.51MB read\n  200 requests in 1.00s, 4.51MB read\n", 300)
	f("ab", "Concurrency Level:      8\nTime taken for tests:   1.204 seconds\nComplete requests:      5000\nFailed requests:        0\n", 5000)
	f("hey", "Summary:\n  Total:\t2.0042 secs\n  Requests/sec:\t9011.3\n\nStatus code distribution:\n  [200]\t18000 responses\n  [503]\t60 responses\n", 18060)
	f("k6", "    http_req_waiting...............: avg=1.1ms\n    http_reqs......................: 48210  1606.9/s\n", 48210)
	f("k6 1.x", "    HTTP\n    http_reqs..............: 913 182.4/s\n", 913)
	f("vegeta", "Requests      [total, rate, throughput]         1500, 50.03, 49.98\nDuration      [total, attack, wait]             30s\n", 1500)
	f("ghz", "Summary:\n  Count:\t2000\n  Total:\t1.2 s\n", 2000)
	f("carriage returns", "working\r  12 requests in 1.00s, 1MB read\r\n", 12)
	f("nothing", "", 0)
	f("something else", "I made 100 requests, all fine\n", 0)
	f("too big to be true", "Complete requests:      99999999999999999999\n", 0)
}
