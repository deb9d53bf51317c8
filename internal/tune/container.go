package tune

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// ErrNoContainer means that no cgroup limits the memory of a process.
var ErrNoContainer = errors.New("no cgroup limits the memory of this process")

// Container returns the memory limit of a process by its cgroups: the tightest limit
// of its groups and their visible parents. root is the file system's root, pid the
// process id or "self". Page cache in active use, shared memory, sockets and the
// kernel's own structures count against the same limit; they are in Beside.
func Container(root fs.FS, pid string) (Constraint, error) {
	mounts := memoryMounts(root)
	text, err := fs.ReadFile(root, path.Join("proc", pid, "cgroup"))
	if err != nil {
		return Constraint{}, fmt.Errorf("%w: %w", ErrNoContainer, err)
	}
	var tightest group
	for line := range strings.Lines(string(text)) {
		// "0::/user.slice" in cgroup v2, "4:memory:/docker/1f" in v1.
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, name, ok := strings.Cut(rest, ":")
		for _, m := range mounts {
			if ok && m.serves(controllers) {
				tightest = m.tightest(root, name, tightest)
			}
		}
	}
	if tightest.limit == 0 {
		return Constraint{}, ErrNoContainer
	}
	return Constraint{
		Max: unit.Bytes(tightest.limit), Beside: tightest.beside(root),
		Source: fmt.Sprintf("cgroup v%d, /%s", tightest.version, tightest.folder),
	}, nil
}

// group is a cgroup with a limit.
type group struct {
	version int
	folder  string
	limit   int64
}

// mount is a cgroup hierarchy with the memory controller.
type mount struct {
	version   int
	at, shows string // mount point, and the group that is mounted there
}

// memoryMounts reads /proc/self/mountinfo, whose lines are
// "36 35 98:0 /root /mnt/point options [fields] - type source superoptions".
func memoryMounts(root fs.FS) []mount {
	text, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var out []mount
	for line := range bytes.Lines(text) {
		before, after, ok := strings.Cut(string(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := mount{at: strings.TrimPrefix(path.Clean(left[4]), "/"), shows: left[3]}
		switch {
		case right[0] == "cgroup2":
			m.version = 2
		case right[0] == "cgroup" && hasWord(right[2], "memory"):
			m.version = 1
		default:
			continue
		}
		out = append(out, m)
	}
	return out
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// serves reports whether a line of /proc/PID/cgroup with these controllers belongs to
// this hierarchy.
func (m mount) serves(controllers string) bool {
	if m.version == 2 {
		return controllers == ""
	}
	return hasWord(controllers, "memory")
}

// tightest walks from a group upwards to the mount point. A group outside of the mount
// belongs to a container's own view; then the mount point is used.
func (m mount) tightest(root fs.FS, name string, found group) group {
	rel, ok := strings.CutPrefix(path.Clean(name), strings.TrimSuffix(path.Clean(m.shows), "/"))
	if !ok || rel != "" && !strings.HasPrefix(rel, "/") {
		rel = ""
	}
	file := "memory.max"
	if m.version == 1 {
		file = "memory.limit_in_bytes"
	}
	for folder := path.Join(m.at, rel); ; folder = path.Dir(folder) {
		if limit := readLimit(root, path.Join(folder, file)); limit > 0 && (found.limit == 0 || limit < found.limit) {
			found = group{m.version, folder, limit}
		}
		if len(folder) <= len(m.at) {
			return found
		}
	}
}

// readLimit returns 0 for "max", for an empty file and for v1's "no limit", which is
// the largest number of whole pages.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n >= math.MaxInt64-1<<20 {
		return 0
	}
	return n
}

// beside returns the group's other memory that the kernel cannot reclaim without harm.
// Inactive page cache is not included: the kernel drops it before it kills a process.
func (g group) beside(root fs.FS) unit.Bytes {
	text, err := fs.ReadFile(root, path.Join(g.folder, "memory.stat"))
	if err != nil {
		return 0
	}
	keys := map[string]bool{"active_file": true, "shmem": true, "kernel": true, "sock": true}
	if g.version == 1 {
		keys = map[string]bool{"total_active_file": true, "total_shmem": true}
	}
	sum := int64(0)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 && keys[key] && sum < g.limit {
			sum += n
		}
	}
	return unit.Bytes(min(sum, g.limit))
}
