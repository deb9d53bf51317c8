package ballast

import (
	"strings"
	"testing"
	"testing/fstest"
)

const (
	mountV1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	mountV2 = "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
)

// host is a container whose root holds the files name, text, name, text …
func host(files ...string) container {
	root := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		root[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return container{root: root}
}

func TestLimits(t *testing.T) {
	f := func(name string, want limits, files ...string) {
		t.Helper()
		if got, err := host(files...).limits(); got != want || err != nil {
			t.Errorf("%s: limits = %+v, %v, want %+v", name, got, err, want)
		}
	}
	f("no Linux", limits{})
	f("no cgroups", limits{machine: 16 << 10}, "proc/meminfo", "MemFree: 1 kB\nMemTotal:        16 kB\n")
	f("v2", limits{cgroup: 4096},
		"proc/self/cgroup", "0::/svc\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/svc/memory.max", "4096\n")
	f("v2, a parent is tighter", limits{cgroup: 1000},
		"proc/self/cgroup", "0::/a.slice/b.service\n", "proc/self/mountinfo", mountV2,
		"sys/fs/cgroup/a.slice/b.service/memory.max", "5000\n", "sys/fs/cgroup/a.slice/memory.max", "1000\n")
	f("v2, high is tighter than max", limits{cgroup: 3000},
		"proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", mountV2,
		"sys/fs/cgroup/a/memory.max", "5000\n", "sys/fs/cgroup/a/memory.high", "3000\n")
	f("v2, no limit", limits{},
		"proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", mountV2,
		"sys/fs/cgroup/a/memory.max", "max\n", "sys/fs/cgroup/a/memory.high", "max\n")
	f("v2 in a container without a namespace", limits{cgroup: 900},
		"proc/self/cgroup", "0::/docker/1f/inner\n", "proc/self/mountinfo", "29 22 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		"sys/fs/cgroup/memory.max", "900\n", "sys/fs/cgroup/inner/memory.max", "max\n")
	f("v2, the path is the host's and what is mounted the container's", limits{cgroup: 700},
		"proc/self/cgroup", "0::/\n", "proc/self/mountinfo", "29 22 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		"sys/fs/cgroup/memory.max", "700\n")
	f("v2, the mount point has a space", limits{cgroup: 700},
		"proc/self/cgroup", "0::/\n", "proc/self/mountinfo", `29 22 0:26 / /cg\040roups ro - cgroup2 cgroup rw`+"\n",
		"cg roups/memory.max", "700\n")
	f("v1", limits{cgroup: 2048},
		"proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x/y\n", "proc/self/mountinfo", mountV1,
		"sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n",
		"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2048\n")
	f("v1 and v2 at once", limits{cgroup: 2048},
		"proc/self/cgroup", "4:memory:/x\n0::/u\n", "proc/self/mountinfo", mountV1+strings.ReplaceAll(mountV2, "/sys/fs/cgroup", "/sys/fs/cgroup/unified"),
		"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4096\n", "sys/fs/cgroup/unified/u/memory.max", "2048\n")
	f("lines that are not understood", limits{cgroup: 5},
		"proc/self/cgroup", "x\n:::\n0::/a\n", "proc/self/mountinfo", "1 2 3\n - cgroup2\n"+mountV2, "sys/fs/cgroup/a/memory.max", "5")
}

func TestLimitsErrors(t *testing.T) {
	f := func(wantErr string, want limits, files ...string) {
		t.Helper()
		got, err := host(files...).limits()
		if err == nil || !strings.Contains(err.Error(), wantErr) || got != want {
			t.Errorf("limits = %+v, %v, want %+v and an error with %q", got, err, want, wantErr)
		}
	}
	f(`/sys/fs/cgroup/a/memory.max: "lots" is not a limit`, limits{cgroup: 9},
		"proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/a/memory.max", "lots", "sys/fs/cgroup/memory.max", "9")
	f(`"-1" is not a limit`, limits{},
		"proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/memory.max", "-1")
	f("invalid argument", limits{}, // MapFS's answer to reading a directory
		"proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/memory.max/x", "a folder where a file should be")
	f("no MemTotal", limits{}, "proc/meminfo", "MemTotal: many kB\n")
}

func TestOutside(t *testing.T) {
	f := func(name string, own, want int64, files ...string) {
		t.Helper()
		c := host(append(files, "proc/self/cgroup", "4:memory:/x\n0::/u\n", "proc/self/mountinfo",
			mountV1+strings.ReplaceAll(mountV2, "/sys/fs/cgroup", "/sys/fs/cgroup/unified"))...)
		c.anonymous = func() int64 { return own }
		if got, err := c.limits(); got.outside != want || err != nil {
			t.Errorf("%s: outside = %d, %v, want %d", name, got.outside, err, want)
		}
	}
	const (
		v1 = "sys/fs/cgroup/memory/x/memory."
		v2 = "sys/fs/cgroup/unified/u/memory."
	)
	statV2 := "anon 700\nfile 300\ninactive_file 200\nactive_file 50\nshmem 50\nslab_reclaimable 5\nslab_unreclaimable 20\n"
	f("v2", 400, 1000-200-50-5-400, v2+"max", "5000", v2+"current", "1000\n", v2+"stat", statV2)
	f("v1, with the cgroups below it", 400, 1000-200-50-400, v1+"limit_in_bytes", "5000", v1+"usage_in_bytes", "1000\n",
		v1+"stat", "inactive_file 3\nactive_file 4\ntotal_inactive_file 200\ntotal_active_file 50\n")
	f("of the cgroup whose limit is tightest", 400, 500, v1+"limit_in_bytes", "6000", v1+"usage_in_bytes", "3000", v1+"stat", "",
		v2+"max", "5000", v2+"current", "900", v2+"stat", "")
	f("all is the process's", 400, 0, v2+"max", "5000", v2+"current", "390", v2+"stat", statV2)
	f("no limit", 400, 0, v2+"max", "max", v2+"current", "1000", v2+"stat", statV2)
	f("what the process has is not known", 0, 0, v2+"max", "5000", v2+"current", "1000", v2+"stat", statV2)
	f("no usage", 400, 0, v2+"max", "5000", v2+"stat", statV2)
	f("no stat: all of it may be files", 400, 0, v2+"max", "5000", v2+"current", "1000")
	f("not a number", 400, 0, v2+"max", "5000", v2+"current", "lots", v2+"stat", statV2)
	f("lines that are not understood", 400, 590, v2+"max", "5000", v2+"current", "1000", v2+"stat", "inactive_file\nactive_file x\n\ninactive_file 10\n")
}

func TestWhatIsLeft(t *testing.T) {
	f := func(l limits, container, hard int64) {
		t.Helper()
		if c, h := l.container(), l.hard(); c != container || h != hard {
			t.Errorf("%+v: container %d, hard %d, want %d and %d", l, c, h, container, hard)
		}
	}
	f(limits{}, 0, 0)
	f(limits{machine: gib}, 0, gib)
	f(limits{cgroup: gib, outside: 100 * mib, machine: 2 * gib}, gib-100*mib, gib-100*mib)
	f(limits{cgroup: 4 * gib, outside: gib, machine: 2 * gib}, 3*gib, 2*gib)
	f(limits{cgroup: gib, outside: 2 * gib}, minBytes, minBytes) // 0 would be none
}
