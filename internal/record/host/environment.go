// Package host describes the machine of a recording and the runtime settings that a
// program starts with there.
package host

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Environment describes the machine that this process runs on and its cgroup limits:
// GOOS, GOARCH, NumCPU, memory, limits, huge pages, CPU model and kernel. Unknown
// values stay zero, and so do the fields that belong to a Go program. Details are
// known on Linux only.
func Environment() evidence.Environment {
	e := evidence.Environment{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, NumCPU: runtime.NumCPU()}
	if runtime.GOOS == "linux" {
		linuxHost(os.DirFS("/"), &e)
	}
	return e
}

// linuxHost fills in the values from files below root, the file system's root.
func linuxHost(root fs.FS, e *evidence.Environment) {
	e.CPUModel = cpuModel(root)
	e.MemoryBytes = keyedKiB(root, "proc/meminfo", "MemTotal")
	e.THP = bracketed(readLine(root, "sys/kernel/mm/transparent_hugepage/enabled"))
	e.Kernel = readLine(root, "proc/sys/kernel/osrelease")
	LimitsOf(root, "self", e)
}

// LimitsOf fills in the cgroup limits of a process.
func LimitsOf(root fs.FS, pid string, e *evidence.Environment) {
	e.CgroupLimit, e.CgroupCPU = 0, 0
	for _, g := range cgroups(root, pid) {
		g.tighten(root, e)
	}
	// A limit above the host's memory has no effect; cgroup v1 writes "no limit" that way.
	if e.MemoryBytes > 0 && e.CgroupLimit >= e.MemoryBytes {
		e.CgroupLimit = 0
	}
}

// cpuModel returns the first processor's name. Some ARM kernels have none.
func cpuModel(root fs.FS) string {
	for _, line := range ReadLines(root, "proc/cpuinfo") {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// keyedKiB reads a "Key:   123 kB" line; 0 if there is none.
func keyedKiB(root fs.FS, name, key string) int64 {
	for _, line := range ReadLines(root, name) {
		rest, ok := strings.CutPrefix(line, key+":")
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64>>10 {
			return 0
		}
		return n << 10
	}
	return 0
}

// bracketed returns the chosen word of "always [madvise] never".
func bracketed(line string) string {
	_, rest, _ := strings.Cut(line, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}

// cgroup is a group of this process in one hierarchy, with the folders from its own up
// to the top that is visible here.
type cgroup struct {
	version int
	folders []string // below the root of the file system, innermost first
}

// cgroups returns the groups of a process that can limit its memory or CPU. It skips
// files that are missing or malformed.
func cgroups(root fs.FS, pid string) []cgroup {
	mounts := cgroupMounts(root)
	var groups []cgroup
	for _, line := range ReadLines(root, path.Join("proc", pid, "cgroup")) {
		// "0::/user.slice" in cgroup v2, "4:cpu,cpuacct:/docker/1f" in v1.
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for _, m := range mounts {
			if m.serves(controllers) {
				groups = append(groups, cgroup{m.version, m.upward(group)})
				break
			}
		}
	}
	return groups
}

// cgroupMount says where a hierarchy is mounted and which part of it the mount shows.
type cgroupMount struct {
	version     int
	controllers []string // of cgroup v1
	at          string   // mount point, without leading slash
	shows       string   // path in the hierarchy that the mount point shows
}

// cgroupMounts reads /proc/self/mountinfo, whose lines are
// "36 35 98:0 /root /mnt/point options [fields] - type source superoptions".
func cgroupMounts(root fs.FS) []cgroupMount {
	var mounts []cgroupMount
	for _, line := range ReadLines(root, "proc/self/mountinfo") {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 1 {
			continue
		}
		m := cgroupMount{shows: left[3], at: strings.TrimPrefix(path.Clean(left[4]), "/")}
		switch right[0] {
		case "cgroup2":
			m.version = 2
		case "cgroup":
			m.version, m.controllers = 1, strings.Split(right[len(right)-1], ",")
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// serves reports whether this mount is the hierarchy of a /proc/self/cgroup line with
// these controllers.
func (m cgroupMount) serves(controllers string) bool {
	if controllers == "" {
		return m.version == 2
	}
	for _, want := range strings.Split(controllers, ",") {
		for _, have := range m.controllers {
			if want == have && (want == "memory" || want == "cpu") {
				return true
			}
		}
	}
	return false
}

// upward lists the folders of group and its parents as far as the mount shows them. A
// group outside of the mount belongs to a container's own view; then the top of the
// mount is used.
func (m cgroupMount) upward(group string) []string {
	rel, ok := strings.CutPrefix(path.Clean(group), strings.TrimSuffix(path.Clean(m.shows), "/"))
	if !ok || rel != "" && !strings.HasPrefix(rel, "/") {
		rel = ""
	}
	folder := path.Join(m.at, rel)
	var folders []string
	for ; len(folder) > len(m.at); folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	return append(folders, m.at)
}

// tighten lowers the limits of e to the lowest that g or one of its parents sets.
func (g cgroup) tighten(root fs.FS, e *evidence.Environment) {
	for _, folder := range g.folders {
		memory, cpu := int64(0), 0.0
		if g.version == 2 {
			memory = limit(readLine(root, path.Join(folder, "memory.max")))
			quota, period, _ := strings.Cut(readLine(root, path.Join(folder, "cpu.max")), " ")
			cpu = cores(quota, period)
		} else {
			memory = limit(readLine(root, path.Join(folder, "memory.limit_in_bytes")))
			cpu = cores(readLine(root, path.Join(folder, "cpu.cfs_quota_us")),
				readLine(root, path.Join(folder, "cpu.cfs_period_us")))
		}
		if memory > 0 && (e.CgroupLimit == 0 || memory < e.CgroupLimit) {
			e.CgroupLimit = memory
		}
		if cpu > 0 && (e.CgroupCPU == 0 || cpu < e.CgroupCPU) {
			e.CgroupCPU = cpu
		}
	}
}

// limit parses a memory limit. It returns 0 for "max", for an empty text and for v1's
// "no limit", which is the largest number of whole pages.
func limit(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n >= math.MaxInt64-1<<20 {
		return 0
	}
	return n
}

// cores turns a quota and a period in microseconds into cores; 0 means no limit.
func cores(quota, period string) float64 {
	q, errQ := strconv.ParseInt(quota, 10, 64)
	p, errP := strconv.ParseInt(period, 10, 64)
	if errQ != nil || errP != nil || q <= 0 || p <= 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// readLine returns the first line of a file, or "".
func readLine(root fs.FS, name string) string {
	lines := ReadLines(root, name)
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[0])
}

// ReadLines returns the lines of a file that the kernel makes, which are short. It
// returns none if the file cannot be read.
func ReadLines(root fs.FS, name string) []string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return nil
	}
	var lines []string
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines
}
