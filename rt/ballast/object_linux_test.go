package ballast

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// residents are cases that run in a process of their own, where the memory is what
// they made of it. Each prints how many bytes of memory the ballast took.
var residents = map[string]func() (int64, error){
	"fresh": func() (int64, error) { return grown(10<<30, func() {}) },
	"fresh, collected": func() (int64, error) {
		return grown(10<<30, func() {
			for range 5 {
				runtime.GC()
			}
		})
	},
	// A heap that was used and freed is what a ballast becomes resident from.
	"from used memory": func() (int64, error) {
		use(1 << 30)
		return grown(1<<30, runtime.GC)
	},
	"made again": func() (int64, error) {
		for range 3 {
			if _, err := grown(2<<30, runtime.GC); err != nil {
				return 0, err
			}
			use(256 << 20)
		}
		return grown(2<<30, runtime.GC)
	},
	"no address space": func() (int64, error) {
		limit := syscall.Rlimit{Cur: 3 << 30, Max: 3 << 30}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			return 0, err
		}
		return grown(8<<30, runtime.GC)
	},
}

// use dirties size bytes of heap and frees them.
func use(size int) {
	kept := make([][]byte, 0, size>>23)
	for range size >> 23 {
		b := make([]byte, 8<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	runtime.KeepAlive(kept)
	kept = nil
	runtime.GC()
}

// grown returns by how much the resident memory grows with a ballast, after then has
// run. What is resident of the object itself is an error.
func grown(size int64, then func()) (int64, error) {
	debug.FreeOSMemory()
	before := anonymous()
	tu, err := set(Options{Mode: Classic, Ballast: size}, container{root: os.DirFS("/"), anonymous: anonymous}, time.Second)
	if err != nil {
		return 0, err
	}
	defer tu.Stop()
	then()
	var inside int64
	for _, p := range tu.held.object.pieces {
		n, err := resident(wholePages(p))
		if err != nil {
			return 0, err
		}
		inside += n
	}
	if inside > 0 {
		return 0, fmt.Errorf("%d bytes of the object are resident", inside)
	}
	return anonymous() - before, nil
}

func TestBallastIsNotResident(t *testing.T) {
	if name := os.Getenv("BALLAST_CASE"); name != "" {
		n, err := residents[name]()
		fmt.Printf("grown=%d err=%v\n", n, err)
		os.Exit(0)
	}
	if bits.UintSize < 64 {
		t.Skip("no ballast object on 32 bits")
	}
	for name := range residents {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBallastIsNotResident$")
		cmd.Env = append(os.Environ(), "BALLAST_CASE="+name, "GOGC=", "GOMEMLIMIT=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		_, rest, _ := strings.Cut(string(out), "grown=")
		number, problem, ok := strings.Cut(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), " err=")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || problem != "<nil>" {
			t.Errorf("%s: %s", name, out)
			continue
		}
		// The race detector has shadow memory for what the runtime tells it of.
		if limit := int64(5 << 20); n > limit && !raceEnabled {
			t.Errorf("%s: resident memory grew by %d KiB, want at most %d", name, n>>10, limit>>10)
		}
		t.Logf("%s: %d KiB", name, n>>10)
	}
}
