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
