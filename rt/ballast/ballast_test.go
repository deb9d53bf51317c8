package ballast

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
)

// steered sets o in the container c with a fast ticker, and stops it at the end of
// the test.
func steered(t *testing.T, o Options, c container) *Tuner {
	t.Helper()
	tu, err := set(o, c, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tu.Stop)
	return tu
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	// It is long because a machine may be busy, or stand still.
	const patience = 10 * time.Minute
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if ok() {
			return
		}
	}
	t.Errorf("%s: not within %v", what, patience)
}

// inForce returns the setting of the process.
func inForce() setting {
	r := newGauge().read()
	return setting{r.gogc, r.limit}
}

// node makes a live heap that the collector has to walk.
type node struct {
	next *node
	_    [120]byte
}

func chainOf(bytes int) *node {
	var head *node
	for range bytes / 128 {
		head = &node{next: head}
	}
	return head
}

var machine = host("proc/meminfo", "MemTotal: 67108864 kB\n")

func TestSteerFollowsTheLiveHeap(t *testing.T) {
	tu := steered(t, Options{Mode: Steer, Headroom: 128 << 20}, machine)
	live := chainOf(16 << 20)
	runtime.GC()
	near := func() bool {
		s := tu.Stats()
		goal := s.LiveHeap + 128<<20
		return math.Abs(float64(heapGoal()-goal)) < 0.04*float64(goal)
	}
	eventually(t, "goal is live heap + headroom", near)
	// Doubled, the setting is right after two collections at most: the one that finds
	// out, and the one before which the sentinel may have missed.
	more := chainOf(32 << 20)
	runtime.GC()
	runtime.GC()
	eventually(t, "goal follows", near)
	if s := tu.Stats(); s.Status != "steering" || s.LiveHeap < 48<<20 {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(live)
	runtime.KeepAlive(more)
}

func heapGoal() int64 {
	return readMetric("/gc/heap/goal:bytes")
}

// TestConverges counts collections that the pacer starts by itself: one after
// the live heap has doubled, the next goal is right.
func TestConverges(t *testing.T) {
	const memory = 512 << 20
	tu := steered(t, Options{MaxMemory: memory}, machine)
	live := chainOf(32 << 20)
	runtime.GC()
	live2 := chainOf(32 << 20)
	from := tu.Stats().Cycles
	var garbage []byte
	for tu.Stats().Cycles < from+2 {
		garbage = make([]byte, 1<<16)
	}
	eventually(t, "heap goal", func() bool {
		s := tu.Stats()
		total := heapGoal() + s.Beside
		return total <= memory && total >= memory*85/100
	})
	runtime.KeepAlive(live)
	runtime.KeepAlive(live2)
	runtime.KeepAlive(garbage)
}

func TestAutoFillsTheContainer(t *testing.T) {
	c := host("proc/meminfo", "MemTotal: 67108864 kB\n", "proc/self/cgroup", "0::/a/b\n", "proc/self/mountinfo", mountV2,
		"sys/fs/cgroup/a/memory.max", "536870912", "sys/fs/cgroup/a/b/memory.max", "max")
	before := inForce()
	tu := steered(t, Options{}, c)
	runtime.GC()
	eventually(t, "goal", func() bool {
		s := tu.Stats()
		total := heapGoal() + s.Beside
		return s.Memory == within(512<<20, 0.1) && total <= s.Memory && total >= s.Memory*85/100 && s.MemoryLimit <= s.Memory
	})
	tu.Stop()
	if got := inForce(); got != before {
		t.Errorf("after Stop %+v, before Set %+v", got, before)
	}
	if s := tu.Stats(); s.Status != "stopped" {
		t.Errorf("status %q after Stop", s.Status)
	}
}

func TestAutoWithoutLimitIsIdle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(130))
	before := inForce()
	tu := steered(t, Options{}, machine)
	runtime.GC()
	if got, s := inForce(), tu.Stats(); got != before || s.Status != "idle" || s.Adjustments != 0 {
		t.Errorf("%+v, before %+v; %+v", got, before, s)
	}
}

func TestLimitMode(t *testing.T) {
	if tu, err := set(Options{Mode: Limit}, machine, time.Second); err == nil {
		tu.Stop()
		t.Error("mode limit without a limit: no error")
	}
	steered(t, Options{Mode: Limit, MaxMemory: 1 << 30}, machine)
	if got, want := inForce(), (setting{gogcOff, 1 << 30}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestForeignMemory has memory come from C.
func TestForeignMemory(t *testing.T) {
	var foreign atomic.Int64
	c := machine
	c.anonymous = func() int64 { return newGauge().read().mapped + foreign.Load() }
	tu := steered(t, Options{MaxMemory: 1 << 30}, c)
	for _, bytes := range []int64{300 << 20, 0, 500 << 20} {
		foreign.Store(bytes)
		eventually(t, "the heap makes way", func() bool {
			s := tu.Stats()
			total := s.HeapGoal + s.Beside
			return s.Beside >= bytes && total <= 1<<30 && total > 850<<20 &&
				math.Abs(float64(s.MemoryLimit-(1<<30-bytes))) < 0.03*(1<<30)
		})
	}
}

// TestShortMemory is the death spiral's place: all memory is less than what lives.
func TestShortMemory(t *testing.T) {
	for _, mode := range []Mode{Auto, Steer, Limit} {
		live := chainOf(64 << 20)
		tu := steered(t, Options{Mode: mode, MaxMemory: 32 << 20}, machine)
		runtime.GC()
		eventually(t, mode.String(), func() bool {
			// It is the room of GOGC=100, of which stacks and globals have a part; a limit
			// that stands for it is a little higher.
			s := tu.Stats()
			return s.Short && heapGoal() >= s.LiveHeap*170/100 && heapGoal() <= s.LiveHeap*215/100+4<<20
		})
		tu.Stop()
		runtime.KeepAlive(live)
	}
}

// TestTightContainer has a limit that kills below what MinGOGC asks for: it is not
// exceeded, though nearly all of it is used.
func TestTightContainer(t *testing.T) {
	live := chainOf(64 << 20)
	runtime.GC()
	r := newGauge().read()
	limit := (r.live + r.nonHeap()) * 14 / 10
	c := host("proc/meminfo", "MemTotal: 67108864 kB\n", "proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV2,
		"sys/fs/cgroup/memory.max", strconv.FormatInt(limit, 10))
	tu := steered(t, Options{}, c)
	runtime.GC()
	eventually(t, "goal", func() bool {
		s := tu.Stats()
		total := heapGoal() + s.Beside
		return s.Short && s.Container == limit && s.MemoryLimit == within(limit, hardSlack) &&
			total <= within(limit, hardSlack) && total >= within(limit, 0.1)
	})
	runtime.KeepAlive(live)
}

func TestTwoTuners(t *testing.T) {
	tu := steered(t, Options{}, machine)
	for range 3 {
		if _, err := Set(Options{}); !errors.Is(err, ErrActive) {
			t.Errorf("second Set: %v, want %v", err, ErrActive)
		}
	}
	tu.Stop()
	tu.Stop() // again does nothing
	again := steered(t, Options{Mode: Steer, Headroom: 64 << 20}, machine)
	tu.Stop() // nor does it stop another
	if s := again.Stats(); s.Status != "steering" {
		t.Errorf("status %q", s.Status)
	}
}

// TestYields has somebody else – another package's tuner, the program – set GOGC or
// the limit meanwhile.
func TestYields(t *testing.T) {
	for name, change := range map[string]func(){
		"GOGC":  func() { debug.SetGCPercent(777) },
		"limit": func() { debug.SetMemoryLimit(7 << 30) },
	} {
		var log bytes.Buffer
		before := inForce()
		tu := steered(t, Options{MaxMemory: 1 << 30, Logger: slog.New(slog.NewTextHandler(&log, nil))}, machine)
		change()
		theirs := inForce()
		runtime.GC()
		eventually(t, name, func() bool { return tu.Stats().Status == "yielded" })
		for range 5 {
			runtime.GC()
		}
		tu.Stop()
		if got := inForce(); got != theirs {
			t.Errorf("%s: %+v, want it left at %+v", name, got, theirs)
		}
		if n := strings.Count(log.String(), "yields"); n != 1 {
			t.Errorf("%s: logged %d times:\n%s", name, n, &log)
		}
		debug.SetGCPercent(before.gogc)
		debug.SetMemoryLimit(before.limit)
	}
}

func TestOperatorWins(t *testing.T) {
	t.Run("GOGC", func(t *testing.T) {
		t.Setenv("GOGC", "100")
		for _, o := range []Options{{MaxMemory: 1 << 30}, {Mode: Classic, Ballast: 1 << 30}, {Mode: Steer, Headroom: 1 << 30}, {Mode: Limit, MaxMemory: 1 << 30}} {
			tu := steered(t, o, machine)
			runtime.GC()
			if got := inForce(); got.gogc != 100 || tu.Stats().Ballast != 0 {
				t.Errorf("%v: %+v, ballast %d", o.Mode, got, tu.Stats().Ballast)
			}
			tu.Stop()
		}
	})
	t.Run("GOMEMLIMIT", func(t *testing.T) {
		// What the runtime has made of the variable looks like this.
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
		for _, o := range []Options{{}, {MaxMemory: 8 << 30}, {Mode: Classic, Ballast: 4 << 30}, {Mode: Steer, Headroom: 2 << 30}, {Mode: Limit, MaxMemory: 1 << 30}} {
			tu := steered(t, o, machine)
			runtime.GC()
			s := tu.Stats()
			if s.MemoryLimit != 512<<20 || s.Memory != 512<<20 || s.HeapGoal > 512<<20 || s.Ballast != 0 {
				t.Errorf("%v: %+v", o.Mode, s)
			}
			tu.Stop()
		}
	})
}

// TestContainerChanges has the limit lowered, become unreadable, and raised.
func TestContainerChanges(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		// Renamed into place: a half-written limit would be a limit.
		if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/cgroup", "0::/\n")
	write("proc/self/mountinfo", mountV2)
	const file = "sys/fs/cgroup/memory.max"
	write(file, "1073741824")
	var log bytes.Buffer
	tu := steered(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, container{root: os.DirFS(root)})
	memory := func(want int64) func() bool {
		return func() bool {
			s := tu.Stats()
			return s.Memory == want && s.HeapGoal <= want && s.MemoryLimit <= want
		}
	}
	eventually(t, "1 GiB", memory(within(1<<30, 0.1)))
	garbage := make([]byte, 700<<20)
	runtime.GC() // finds it alive
	runtime.KeepAlive(garbage)
	write(file, "536870912")
	eventually(t, "512 MiB", memory(within(512<<20, 0.1)))
	eventually(t, "the heap is collected without allocation", func() bool { return newGauge().read().objects < 512<<20 })
	write(file, "garbage")
	eventually(t, "unreadable", func() bool {
		tu.mu.Lock()
		defer tu.mu.Unlock()
		return tu.counts.unreadable > 2
	})
	if !memory(within(512<<20, 0.1))() {
		t.Errorf("limit is lost when the file cannot be read: %+v", tu.Stats())
	}
	write(file, "2147483648")
	eventually(t, "2 GiB", memory(within(2<<30, 0.1)))
	tu.Stop()
	if n := strings.Count(log.String(), "keeping the last known"); n != 1 {
		t.Errorf("unreadable limit logged %d times:\n%s", n, &log)
	}
}

// TestOthersInTheContainer has another process take memory, and give it back.
func TestOthersInTheContainer(t *testing.T) {
	var others atomic.Int64
	root := &usage{host("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/memory.max", "1073741824",
		"sys/fs/cgroup/memory.stat", "inactive_file 1048576\n").root, &others}
	own := func() int64 { return 32 << 20 }
	others.Store(33 << 20) // no more than its own and files
	var log bytes.Buffer
	tu := steered(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, container{root: root, anonymous: own})
	for _, bytes := range []int64{0, 300 << 20, 100 << 20} {
		others.Store(33<<20 + bytes)
		eventually(t, "the process makes way", func() bool {
			s := tu.Stats()
			return s.Outside == bytes && s.Container == 1<<30 && s.Memory == within(1<<30-bytes, 0.1) && s.MemoryLimit <= s.Memory
		})
	}
	tu.Stop()
	if n := strings.Count(log.String(), "has changed"); n != 0 {
		t.Errorf("the limit has not changed, but that is logged:\n%s", &log)
	}
}

// usage is a file system in which a cgroup's usage changes.
type usage struct {
	fs.FS
	bytes *atomic.Int64
}

func (u *usage) Open(name string) (fs.File, error) {
	if path.Base(name) == "memory.current" {
		return fstest.MapFS{name: {Data: strconv.AppendInt(nil, u.bytes.Load(), 10)}}.Open(name)
	}
	return u.FS.Open(name)
}

func TestUnreadableContainer(t *testing.T) {
	c := host("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/memory.max", "?")
	before := inForce()
	tu, err := set(Options{}, c, time.Second)
	if err == nil {
		tu.Stop()
		t.Fatal("no error")
	}
	if want := "memory.max"; !strings.Contains(err.Error(), want) || inForce() != before {
		t.Errorf("%v: want the name of the file, and nothing changed: %+v, before %+v", err, inForce(), before)
	}
	// An error leaves no Tuner behind, and who says how much needs no file.
	steered(t, Options{MaxMemory: 1 << 30}, c)
}

// TestForcedInALoop collects as fast as it goes.
func TestForcedInALoop(t *testing.T) {
	tu := steered(t, Options{Mode: Steer, Headroom: 64 << 20}, machine)
	runtime.GC()
	eventually(t, "steering", func() bool { return tu.Stats().Adjustments > 0 })
	from := tu.Stats()
	for range 300 {
		runtime.GC()
	}
	s := tu.Stats()
	if n := s.Adjustments - from.Adjustments; n > 30 {
		t.Errorf("%d changes of the setting in 300 forced collections of the same heap", n)
	}
	if s.Alarms != 0 || s.Status != "steering" {
		t.Errorf("%+v", s)
	}
}

// TestSurvivesBlockedCleanups holds up every cleanup of the runtime for good: the
// ticker takes over.
func TestSurvivesBlockedCleanups(t *testing.T) {
	tu := steered(t, Options{Mode: Steer, Headroom: 64 << 20}, machine)
	release := make(chan struct{})
	defer close(release)
	for range 256 {
		runtime.AddCleanup(new(node), func(struct{}) { <-release }, struct{}{})
	}
	runtime.GC()
	runtime.GC()
	live := chainOf(64 << 20)
	for range 3 {
		runtime.GC()
	}
	eventually(t, "goal follows", func() bool {
		s := tu.Stats()
		goal := s.LiveHeap + 64<<20
		return s.LiveHeap > 64<<20 && math.Abs(float64(heapGoal()-goal)) < 0.04*float64(goal)
	})
	if tu.Stats().Late == 0 {
		t.Error("no collection was found by the ticker: the cleanups were not held up")
	}
	runtime.KeepAlive(live)
}

// TestSentinelLives counts that collections are told of by the sentinel, cycle
// after cycle, for long.
func TestSentinelLives(t *testing.T) {
	tu, err := set(Options{Mode: Steer, Headroom: 64 << 20}, machine, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer tu.Stop()
	for i := range 50 {
		runtime.GC()
		runtime.GC()
		want := tu.Stats().Cycles - 1 // the last may still be on its way
		eventually(t, "sentinel", func() bool {
			tu.mu.Lock()
			defer tu.mu.Unlock()
			return tu.applied.seen >= want
		})
		if t.Failed() {
			t.Fatalf("died after %d collections", 2*i)
		}
	}
}

func TestStopLeavesNothing(t *testing.T) {
	before, goroutines := inForce(), runtime.NumGoroutine()
	for range 20 {
		tu, err := set(Options{Mode: Classic, Ballast: 256 << 20}, machine, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		tu.Stop()
	}
	eventually(t, "goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	if got := inForce(); got != before {
		t.Errorf("%+v, before %+v", got, before)
	}
	eventually(t, "ballast is collected", func() bool {
		runtime.GC()
		return newGauge().read().live < 128<<20
	})
}

func TestClassic(t *testing.T) {
	const size = 512 << 20
	live := chainOf(32 << 20)
	tu := steered(t, Options{Mode: Classic, Ballast: size}, machine)
	eventually(t, "goal", func() bool {
		runtime.GC()
		s := tu.Stats()
		want := 2*s.LiveHeap + size
		goal := heapGoal() - s.Ballast
		return s.LiveHeap > 30<<20 && s.LiveHeap < 256<<20 && math.Abs(float64(goal-want)) < 0.04*float64(want)
	})
	if canStayVirtual && tu.Stats().Ballast != size {
		t.Errorf("the ballast's object has %d bytes, want all %d", tu.Stats().Ballast, size)
	}
	runtime.KeepAlive(live)
}

func readMetric(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
