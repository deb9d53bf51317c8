// Command run compares the live heap and the resident set that heaptrim reports of a
// service with those of the service without heaptrim: for three sizes, in turns.
//
//	go build -o /tmp/heaptrim ../cmd/heaptrim && go run ./weight/run -heaptrim /tmp/heaptrim
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	heaptrim string
	rounds   int
	length   time.Duration
	rate     int
	addr     string
	sizes    []int // of what the service keeps, in MiB
}

func main() {
	var o options
	flag.StringVar(&o.heaptrim, "heaptrim", "heaptrim", "the `program` to judge")
	flag.IntVar(&o.rounds, "rounds", 8, "runs with and without a recorder, each")
	flag.DurationVar(&o.length, "for", 4*time.Second, "`length` of a load; heaptrim ends a second one after 5s")
	flag.IntVar(&o.rate, "rate", 100, "requests a second")
	keep := flag.String("keep", "1,48,220", "`MiB` that the services keep")
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8095", "`address` of the service")
	flag.Parse()
	for _, text := range strings.Split(*keep, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "run:", err)
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

// figures of one run, in bytes.
type figures struct{ live, resident, ownLive, ownResident float64 }

func run(o options) error {
	tmp, err := os.MkdirTemp("", "weight-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	bin := filepath.Join(tmp, "server")
	if out, err := exec.Command("go", "build", "-o", bin, "./weight/server").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	fmt.Println("| keeps | figure | without | quartiles | with, subtracted | off by | allowed | recorder |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|")
	for _, keep := range o.sizes {
		var without, with []figures
		for range o.rounds {
			f, err := plain(o, bin, keep)
			if err != nil {
				return err
			}
			g, err := recorded(o, tmp, keep)
			if err != nil {
				return err
			}
			without, with = append(without, f), append(with, g)
			fmt.Fprintf(os.Stderr, "%d MiB: %.2f and %.2f MiB live, %.2f and %.2f MiB resident\n", keep, f.live/mib, g.live/mib,
				f.resident/mib, g.resident/mib)
		}
		c := comparison{without, with}
		c.row(fmt.Sprintf("%d MiB | live heap", keep), func(f figures) (float64, float64) { return f.live, f.ownLive })
		c.row(fmt.Sprintf("%d MiB | resident set", keep), func(f figures) (float64, float64) { return f.resident, f.ownResident })
	}
	return nil
}

const mib = 1 << 20

// comparison is the runs of one size.
type comparison struct{ without, with []figures }

// row prints one comparison. Medians may differ by 3 % or the interquartile range of the
// runs without a recorder, whichever is larger.
func (c comparison) row(name string, of func(figures) (value, own float64)) {
	var a, b, own []float64
	for _, f := range c.without {
		v, _ := of(f)
		a = append(a, v/mib)
	}
	for _, f := range c.with {
		v, o := of(f)
		b, own = append(b, v/mib), append(own, o/mib)
	}
	low, mid, high := quantile(a, 0.25), quantile(a, 0.5), quantile(a, 0.75)
	off, allowed := quantile(b, 0.5)-mid, math.Max(0.03*mid, high-low)
	verdict := "met"
	if math.Abs(off) > allowed {
		verdict = "**missed**"
	}
	fmt.Printf("| %s | %.2f | %.2f to %.2f | %.2f | %+.2f | %.2f, %s | %.2f |\n", name, mid, low, high,
		quantile(b, 0.5), off, allowed, verdict, quantile(own, 0.5))
}

// quantile interpolates between the two values beside it.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

func (o options) load() string {
	return fmt.Sprintf("%s load -rate %d -for %v http://%s/", o.heaptrim, o.rate, o.length, o.addr)
}

// plain runs the service as it is.
func plain(o options, bin string, keep int) (figures, error) {
	cmd := exec.Command(bin, "-addr", o.addr, "-keep", strconv.Itoa(keep))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return figures{}, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	var err error
	for range 200 {
		if _, err = get(o, "/live"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return figures{}, err
	}
	if out, err := exec.Command("sh", "-c", o.load()).CombinedOutput(); err != nil {
		return figures{}, fmt.Errorf("load: %w\n%s", err, out)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return figures{}, err
	}
	live, err := get(o, "/live")
	if err != nil {
		return figures{}, err
	}
	var f figures
	if f.live, err = strconv.ParseFloat(strings.TrimSpace(live), 64); err != nil {
		return f, err
	}
	_, peak, found := strings.Cut(string(status), "VmHWM:")
	if !found {
		return f, errors.New("the service has ended")
	}
	kib, err := strconv.ParseFloat(strings.Fields(peak)[0], 64)
	f.resident = kib * 1024
	return f, err
}

func get(o options, path string) (string, error) {
	resp, err := http.Get("http://" + o.addr + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// recorded lets heaptrim record the service under the same load.
func recorded(o options, tmp string, keep int) (figures, error) {
	file := filepath.Join(tmp, "report.json")
	cmd := exec.Command(o.heaptrim, "check", "-html", "", "-json", file, "-trace", "0", "-escapes=false", "-exec", "./weight/server",
		"-ready", "http://"+o.addr+"/live", "-load", o.load(), "--", "-addr", o.addr, "-keep", strconv.Itoa(keep))
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 3 { // findings
		return figures{}, fmt.Errorf("check: %w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return figures{}, err
	}
	var report struct {
		Totals struct {
			Live        float64 `json:"live_heap_bytes"`
			Resident    float64 `json:"resident_bytes"`
			OwnLive     float64 `json:"recorder_live_bytes"`
			OwnResident float64 `json:"recorder_resident_bytes"`
		} `json:"totals"`
	}
	err = json.Unmarshal(text, &report)
	t := report.Totals
	return figures{t.Live, t.Resident, t.OwnLive, t.OwnResident}, err
}
