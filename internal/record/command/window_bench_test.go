package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// jsonServiceSource decodes, changes and encodes one document per request and keeps
// some of them, so its allocations resemble those of services.
const jsonServiceSource = `package main

import (
	"encoding/json"
	"net/http"
	"os"
	"sync"
)

type item struct {
	ID    int
	Name  string
	Tags  []string
	Attrs map[string]string
}

var (
	mu   sync.Mutex
	keep [20000][]item
	next int
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var items []item
		if err := json.NewDecoder(r.Body).Decode(&items); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		for i := range items {
			items[i].Tags = append(items[i].Tags, items[i].Name)
		}
		mu.Lock()
		keep[next%len(keep)] = items
		next++
		mu.Unlock()
		json.NewEncoder(w).Encode(items)
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		panic(err)
	}
}
`

// benchService is the running service, plain or with the recorder.
type benchService struct {
	addr    string
	dir     string // the recorder's directory; "": plain
	process *process.Process
}

// BenchmarkRecording measures what a window of the timing pass costs a JSON service.
// Each of b.N rounds starts two new processes, one plain and one with the recorder,
// and loads them in turn, the second with and without a window.
//
// It reports the median over the rounds, with its standard error, for throughput and
// for CPU time per request. The window is compared with the plain process, and with
// the same process without a window, because processes differ by some percent. Run it
// on a quiet machine:
//
//	go test ./internal/record/command -run '^$' -bench Recording -benchtime 20x
func BenchmarkRecording(b *testing.B) { benchmarkWindow(b, recorder.Options{CPU: true}, false) }

// BenchmarkTracing measures a window with an execution trace in the same way: with
// plain net/http, and with requests as tasks in a changed net/http.
func BenchmarkTracing(b *testing.B) {
	o := traceOptions()
	b.Run("plain", func(b *testing.B) { benchmarkWindow(b, o, false) })
	b.Run("requests", func(b *testing.B) { benchmarkWindow(b, o, true) })
}

func benchmarkWindow(b *testing.B, o recorder.Options, requests bool) {
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/service\n\ngo 1.21\n",
		"main.go": jsonServiceSource} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	tool := gocmd.Tool{Dir: dir}
	p, err := tool.MainPackage(context.Background(), ".")
	if err != nil {
		b.Fatal(err)
	}
	var also map[string]string
	if requests {
		if also, err = requestOverlay(context.Background(), b.TempDir(), tool); err != nil {
			b.Fatal(err)
		}
	}
	overlay, _, err := commandOverlay(b.TempDir(), p, also)
	if err != nil {
		b.Fatal(err)
	}
	build := func(name string, flags ...string) string {
		bin := filepath.Join(dir, name)
		if _, err := tool.Output(context.Background(), "build", append(flags, "-o", bin, ".")...); err != nil {
			b.Fatal(err)
		}
		return bin
	}
	bins := [2]string{build("plain.exe"), build("recorded.exe", "-overlay", overlay)}
	var plain, itself [2][]float64
	for b.Loop() {
		r := benchRound(b, bins, o)
		for i := range plain {
			plain[i] = append(plain[i], r.plain[i])
			itself[i] = append(itself[i], r.itself[i])
		}
	}
	for i, unit := range []string{"%throughput-lost", "%CPU/request-more"} {
		for _, of := range []struct {
			rounds []float64
			name   string
		}{{plain[i], ""}, {itself[i], "-in-process"}} {
			if m, e := medianError(of.rounds); !math.IsNaN(m) {
				b.ReportMetric(m, unit+of.name)
				b.ReportMetric(e, "±"+unit+of.name)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// medianError returns the median and an estimate of its standard error.
func medianError(v []float64) (median, stderr float64) {
	slices.Sort(v)
	mean, ss := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		ss += (x - mean) * (x - mean)
	}
	n := float64(len(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, 1.25 * math.Sqrt(ss/max(1, n-1)/n)
}

// roundCost is the cost of a window in one round, in percent: the loss of throughput
// and the additional CPU time per request.
type roundCost struct {
	plain  [2]float64 // compared with the plain process
	itself [2]float64 // compared with the same process without a window
}

// benchRound runs one round with new processes, because the speed of the same program
// differs by some percent between processes.
func benchRound(b *testing.B, bins [2]string, o recorder.Options) roundCost {
	b.Helper()
	const turn = 3 * time.Second
	plain, recorded := startBenchService(b, bins[0], ""), startBenchService(b, bins[1], b.TempDir())
	defer plain.process.End(time.Second)
	defer recorded.process.End(time.Second)
	for _, s := range []benchService{plain, recorded} {
		s.load(b, turn) // fills the documents that it keeps
	}
	var without, window, idle benchTurn
	without.add(plain.load(b, turn))
	window.add(recorded.window(b, o, turn))
	idle.add(recorded.load(b, turn))
	idle.add(recorded.load(b, turn)) // in reverse order, so that drift cancels out
	window.add(recorded.window(b, o, turn))
	without.add(plain.load(b, turn))
	return roundCost{window.beside(without), window.beside(idle)}
}

func startBenchService(b *testing.B, bin, dir string) benchService {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Skip(err)
	}
	s := benchService{addr: l.Addr().String(), dir: dir}
	l.Close()
	cmd := exec.Command(bin, s.addr)
	cmd.Env = os.Environ()
	if dir != "" {
		cmd.Env = append(append(cmd.Env, recorder.Env(dir, recorder.Options{})...), "GODEBUG=gctrace=1,gcpacertrace=1")
	}
	if s.process, err = process.Start(cmd, &process.Tail{}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.process.End(time.Second) })
	err = s.process.WaitFor(context.Background(), 20*time.Millisecond, func() bool {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// benchTurn holds the figures of one turn, or the sums of several turns of equal
// length.
type benchTurn struct {
	rate float64 // requests/s
	cpu  float64 // seconds per request; NaN if unknown
}

func (t *benchTurn) add(u benchTurn) { t.rate, t.cpu = t.rate+u.rate, t.cpu+u.cpu }

func (t *benchTurn) beside(u benchTurn) [2]float64 {
	return [2]float64{100 * (1 - t.rate/u.rate), 100 * (t.cpu/u.cpu - 1)}
}

// window loads the service for d while its recorder has an open window.
func (s benchService) window(b *testing.B, o recorder.Options, d time.Duration) benchTurn {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := recorder.Start(ctx, s.dir, o); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := recorder.Stop(ctx, s.dir); err != nil {
			b.Fatal(err)
		}
	}()
	return s.load(b, d)
}

// load loads the service for d.
func (s benchService) load(b *testing.B, d time.Duration) benchTurn {
	b.Helper()
	var n atomic.Int64
	var clients sync.WaitGroup
	cpu, begin := s.cpu(), time.Now()
	for range 4 {
		clients.Go(func() {
			if err := hammer(s.addr, begin.Add(d), &n); err != nil {
				b.Error(err)
			}
		})
	}
	clients.Wait()
	took := time.Since(begin)
	return benchTurn{float64(n.Load()) / took.Seconds(), (s.cpu() - cpu) / float64(n.Load())}
}

// cpu returns the process's CPU time so far in seconds.
func (s benchService) cpu() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Cmd.Process.Pid))
	if err != nil {
		return math.NaN()
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// hammer sends one request after the other with as little work as possible: client and
// service share the CPUs, so a heavy client would hide the service.
func hammer(addr string, until time.Time, n *atomic.Int64) error {
	body := `[` + strings.TrimSuffix(strings.Repeat(`{"ID":7,"Name":"item","Tags":["a","b"],"Attrs":{"k":"v"}},`, 10),
		",") + `]`
	request := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	// Every response is as long as the first, which arrives in one piece.
	buf := make([]byte, 64<<10)
	length := 0
	for time.Now().Before(until) {
		if _, err := c.Write(request); err != nil {
			return err
		}
		if length > 0 {
			_, err = io.ReadFull(c, buf[:length])
		} else if length, err = c.Read(buf); err == nil && !bytes.Contains(buf[:length], []byte("200 OK")) {
			return fmt.Errorf("got %.200q", buf[:length])
		}
		if err != nil {
			return err
		}
		n.Add(1)
	}
	return nil
}
