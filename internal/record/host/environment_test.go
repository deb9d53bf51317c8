package host

import (
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

func TestLinuxHost(t *testing.T) {
	f := func(name string, fsys fstest.MapFS, want evidence.Environment) {
		t.Helper()
		var got evidence.Environment
		linuxHost(fsys, &got)
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	f("nothing", recordtest.Files(), evidence.Environment{})
	f("plain host", recordtest.Files(
		"proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\n\nprocessor\t: 1\nmodel name\t: Other\n",
		"proc/meminfo", "MemTotal:       16000 kB\nMemFree:  7 kB\n",
		"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n",
		"proc/sys/kernel/osrelease", "6.1.0\n",
	), evidence.Environment{CPUModel: "Fast CPU @ 3GHz", MemoryBytes: 16000 << 10, THP: "madvise", Kernel: "6.1.0"})
	f("nonsense", recordtest.Files(
		"proc/cpuinfo", "model name", "proc/meminfo", "MemTotal: -5 kB", "sys/kernel/mm/transparent_hugepage/enabled",
		"[",
		"proc/self/mountinfo", "1 2 3\n - cgroup2\n"+recordtest.MountV2, "proc/self/cgroup", "x\n0::/a\n:::\n",
		"sys/fs/cgroup/a/memory.max", "lots", "sys/fs/cgroup/a/cpu.max", "100000 0",
	), evidence.Environment{})
}

func TestCgroupLimits(t *testing.T) {
	f := func(name string, fsys fstest.MapFS, memory int64, cpu float64) {
		t.Helper()
		var got evidence.Environment
		linuxHost(fsys, &got)
		if got.CgroupLimit != memory || got.CgroupCPU != cpu {
			t.Errorf("%s: %d bytes, %v cores, want %d, %v", name, got.CgroupLimit, got.CgroupCPU, memory, cpu)
		}
	}
	f("v2, parent is tighter in memory", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountV2, "proc/self/cgroup", "0::/a.slice/b.service\n",
		"sys/fs/cgroup/a.slice/memory.max", "1000\n", "sys/fs/cgroup/a.slice/cpu.max", "max 100000\n",
		"sys/fs/cgroup/a.slice/b.service/memory.max", "5000\n", "sys/fs/cgroup/a.slice/b.service/cpu.max",
		"150000 100000\n",
	), 1000, 1.5)
	f("v2, parent is tighter in CPU", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountV2, "proc/self/cgroup", "0::/a/b\n",
		"sys/fs/cgroup/a/memory.max", "max\n", "sys/fs/cgroup/a/cpu.max", "50000 100000\n",
		"sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/b/cpu.max", "200000 100000\n",
	), 0, 0.5)
	f("v2, a container's own namespace", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountV2, "proc/self/cgroup", "0::/\n",
		"sys/fs/cgroup/memory.max", "2048\n", "sys/fs/cgroup/cpu.max", "200000 100000\n",
	), 2048, 2)
	f("v2, container without a namespace", recordtest.Files(
		"proc/self/mountinfo", "29 22 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		"proc/self/cgroup", "0::/docker/1f/inner\n",
		"sys/fs/cgroup/memory.max", "900\n", "sys/fs/cgroup/inner/memory.max", "max\n",
	), 900, 0)
	f("v2, group outside of the mount", recordtest.Files(
		"proc/self/mountinfo", "29 22 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		"proc/self/cgroup", "0::/../other\n", "sys/fs/cgroup/memory.max", "900\n",
	), 900, 0)
	f("v1", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountMemory+recordtest.MountCPU,
		"proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n3:freezer:/docker/x\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n",
		"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "4096\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "25000\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n",
	), 4096, 0.25)
	f("v1 without limits", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountMemory, "proc/self/cgroup", "5:memory:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n",
	), 0, 0)
	f("hybrid: v2 mounted beside v1", recordtest.Files(
		"proc/self/mountinfo", recordtest.MountMemory+"40 25 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		"proc/self/cgroup", "5:memory:/m\n0::/u\n",
		"sys/fs/cgroup/memory/m/memory.limit_in_bytes", "777\n", "sys/fs/cgroup/unified/u/memory.max", "888\n",
	), 777, 0)
	f("a limit above the host's memory", recordtest.Files(
		"proc/meminfo", "MemTotal: 4 kB\n", "proc/self/mountinfo", recordtest.MountV2, "proc/self/cgroup", "0::/\n",
		"sys/fs/cgroup/memory.max", "8192\n",
	), 0, 0)
}

func TestHostEnvironment(t *testing.T) {
	e := Environment()
	if e.GOOS != runtime.GOOS || e.GOARCH != runtime.GOARCH || e.NumCPU < 1 {
		t.Errorf("HostEnvironment() = %+v", e)
	}
	if e.GOOS == "linux" && (e.MemoryBytes == 0 || e.Kernel == "") {
		t.Errorf("HostEnvironment() on Linux = %+v, want memory and kernel", e)
	}
}
