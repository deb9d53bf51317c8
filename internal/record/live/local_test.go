package live

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

// procTree is a /proc with two programs of the same command line: 7 listens at port
// 6060 (hex 17AC), 8 at another port.
func procTree() fstest.MapFS {
	fsys := recordtest.Files(
		"proc/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "+
			"inode\n"+
			"   0: 0100007F:17AC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1\n"+
			"   1: 0100007F:17AC 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 333 1\n"+
			"   2: short\n",
		"proc/net/tcp6", "   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0 "+
			"0:0 0 1000 0 222 1\n",
		"proc/7/cmdline", "server\x00-v\x00", "proc/8/cmdline", "server\x00-v\x00", "proc/uptime", "1",
		"proc/7/environ", "HOME=/\x00GOGC=50\x00GOMEMLIMIT=\x00GODEBUG=gctrace=1\x00GOMAXPROCS=3\x00",
		"proc/7/cgroup", "0::/svc\n", "proc/self/mountinfo", recordtest.MountV2, "sys/fs/cgroup/svc/memory.max",
		"4096\n",
	)
	for name, to := range map[string]string{"7/fd/3": "socket:[111]", "8/fd/3": "socket:[222]", "8/fd/4": "/dev/null",
		"8/fd/5": "socket:[333]"} {
		fsys["proc/"+name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink}
	}
	return fsys
}

func TestListener(t *testing.T) {
	f := func(port int, command, want string) {
		t.Helper()
		if got := listener(procTree(), port, strings.Fields(command)); got != want {
			t.Errorf("listener(%d, %q) = %q, want %q", port, command, got, want)
		}
	}
	f(6060, "server -v", "7")
	f(8080, "server -v", "8")
	f(6060, "server", "")
	f(6060, "kubectl port-forward", "")
	f(99, "server -v", "")
	twice := procTree()
	twice["proc/8/fd/6"] = &fstest.MapFile{Data: []byte("socket:[111]"), Mode: fs.ModeSymlink}
	if got := listener(twice, 6060, []string{"server", "-v"}); got != "" {
		t.Errorf("two processes share the socket: listener = %q, want none", got)
	}
}

func TestLinuxProcess(t *testing.T) {
	e := evidence.Environment{CgroupLimit: 1, CgroupCPU: 9, MemoryBytes: 1 << 20}
	linuxProcess(procTree(), "7", &e)
	want := evidence.Environment{GOGC: "50", GOMEMLIMIT: "off", GODEBUG: "gctrace=1", GOMAXPROCS: 3, CgroupLimit: 4096,
		MemoryBytes: 1 << 20}
	if e != want {
		t.Errorf("linuxProcess = %+v, want %+v", e, want)
	}
	e = evidence.Environment{}
	linuxProcess(procTree(), "8", &e)
	if e != (evidence.Environment{}) {
		t.Errorf("a process whose environment is not readable: %+v, want nothing", e)
	}
}

// TestUsage: times are in ticks of 10 ms, and each thread counts its sleeps.
func TestUsage(t *testing.T) {
	stat := func(name, user, system string) string {
		return "7 (" + name + ") S 1 7 7 0 -1 4194560 900 0 0 0 " + user + " " + system + " 0 0 20 0 9 0 100 1000 500\n"
	}
	f := func(stat string, want usage, known bool) {
		t.Helper()
		files := recordtest.Files("proc/7/stat", stat, "proc/7/task/7/status", "Name:\tx\nvoluntary_ctxt_switches:\t40\n"+
			"nonvoluntary_ctxt_switches:\t9\n", "proc/7/task/9/status", "voluntary_ctxt_switches:\t2\n", "proc/7/task/10/stat", "")
		if got, ok := usageOf(files, "7"); got != want || ok != known {
			t.Errorf("%q: %v, %v, want %v, %v", stat, got, ok, want, known)
		}
	}
	f(stat("server", "120", "30"), usage{1500 * time.Millisecond, 42}, true)
	f(stat("a) S (b", "1", "0"), usage{10 * time.Millisecond, 42}, true)
	f(stat("server", "-1", "0"), usage{}, false)
	f(stat("server", "99999999999999999999", "0"), usage{}, false)
	f("7 (cut", usage{}, false)
	f("", usage{}, false)
	if _, ok := usageOf(recordtest.Files("proc/8/stat", ""), "7"); ok {
		t.Error("the usage of a process that is not there is known")
	}
}
