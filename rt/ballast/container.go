package ballast

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// container finds out how much memory the process may use. It reads files of
// Linux below root; elsewhere there are none, and no limits.
type container struct {
	root fs.FS
	// anonymous returns the resident memory of the process that no file backs; nil
	// stands for one that is not known.
	anonymous func() int64
}

// limits are in bytes; 0 is none.
type limits struct {
	cgroup  int64 // the tightest of the process's cgroup and those above it
	outside int64 // of that, what others have; 0 if it is not known
	machine int64 // physical memory
}

// container is what the cgroup leaves to this process.
func (l limits) container() int64 {
	if l.cgroup == 0 {
		return 0
	}
	return max(minBytes, l.cgroup-l.outside)
}

// hard is beyond which the kernel kills.
func (l limits) hard() int64 { return tighter(l.container(), l.machine) }

// limits returns the limits of now. A file that is not there sets no limit. With an
// error, one that cannot be read or understood, the others' limits are returned.
func (c container) limits() (limits, error) {
	var l limits
	var errs []error
	note := func(err error) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	machine, err := c.machine()
	note(err)
	l.machine = machine
	folders, err := c.folders()
	note(err)
	var tightest folder
	for _, f := range folders {
		limit, err := c.limit(f)
		note(err)
		if limit > 0 && (l.cgroup == 0 || limit < l.cgroup) {
			l.cgroup, tightest = limit, f
		}
	}
	l.outside = c.outside(tightest)
	return l, errors.Join(errs...)
}

func (c container) machine() (int64, error) {
	data, err := fs.ReadFile(c.root, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			if err == nil && kb > 0 && kb < maxBytes>>10 {
				return kb << 10, nil
			}
		}
	}
	return 0, errors.New("/proc/meminfo: no MemTotal in kB")
}

// folder is where a cgroup is mounted.
type folder struct {
	path string
	v2   bool
}

// folders lists the process's cgroups that can limit memory, and those above.
func (c container) folders() ([]folder, error) {
	memberships, err := fs.ReadFile(c.root, "proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := fs.ReadFile(c.root, "proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var list []folder
	for line := range strings.Lines(string(memberships)) {
		// hierarchy-ID:controllers:path, cgroups(7)
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		v2 := f[0] == "0" && f[1] == ""
		if !v2 && !listed(f[1], "memory") {
			continue
		}
		for _, dir := range chain(mounts, v2, f[2]) {
			list = append(list, folder{dir, v2})
		}
	}
	return list, nil
}

// chain returns where the cgroup and all above it are mounted, innermost first.
func chain(mountinfo []byte, v2 bool, cgroup string) []string {
	for lines := bufio.NewScanner(bytes.NewReader(mountinfo)); lines.Scan(); {
		root, point, ok := cgroupMount(lines.Text(), v2)
		if !ok {
			continue
		}
		// In a container, what is mounted may be the container's own cgroup, while
		// the path is told from the host's root; or the other way round.
		rel, below := strings.CutPrefix(path.Clean("/"+cgroup)+"/", strings.TrimSuffix(root, "/")+"/")
		if !below {
			rel = ""
		}
		// mountinfo writes spaces and the like in octal; of these only the space is seen.
		top := strings.TrimPrefix(strings.ReplaceAll(point, `\040`, " "), "/")
		dir := path.Join(top, rel)
		list := []string{dir}
		for dir != top && dir != "." {
			dir = path.Dir(dir)
			list = append(list, dir)
		}
		return list
	}
	return nil
}

// cgroupMount reads a line of mountinfo (proc(5)): the root of the mount in its file
// system and where it is mounted, if it is what was asked for.
func cgroupMount(line string, v2 bool) (root, point string, ok bool) {
	left, right, found := strings.Cut(line, " - ")
	l, r := strings.Fields(left), strings.Fields(right)
	if !found || len(l) < 6 || len(r) < 3 {
		return "", "", false
	}
	if v2 {
		return l[3], l[4], r[0] == "cgroup2"
	}
	return l[3], l[4], r[0] == "cgroup" && listed(r[2], "memory")
}

func listed(list, name string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == name {
			return true
		}
	}
	return false
}

// limit returns the tightest limit of one cgroup; 0 is none.
func (c container) limit(f folder) (int64, error) {
	files := []string{"memory.limit_in_bytes"}
	if f.v2 {
		// Above memory.high the kernel does not kill but slows down and reclaims, which
		// is no better.
		files = []string{"memory.max", "memory.high"}
	}
	var tightest int64
	for _, file := range files {
		name := path.Join(f.path, file)
		data, err := fs.ReadFile(c.root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the root cgroup, or the controller is not enabled here
		}
		if err != nil {
			return tightest, err
		}
		text := strings.TrimSpace(string(data))
		if text == "max" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return tightest, fmt.Errorf("/%s: %.40q is not a limit", name, text)
		}
		// v1 says none by the largest multiple of the page size.
		if n > 0 && n < maxBytes && (tightest == 0 || int64(n) < tightest) {
			tightest = int64(n)
		}
	}
	return tightest, nil
}

// outside returns what counts against the limit of a cgroup, cannot be reclaimed, and is
// not this process's: what the kernel has for it (page tables, sockets), files that live in
// memory, other processes. It is 0 where that is not known.
func (c container) outside(f folder) int64 {
	if f.path == "" || c.anonymous == nil {
		return 0
	}
	// Read first: what is taken meanwhile rather counts twice than not at all.
	own := c.anonymous()
	usage, reclaimable := "memory.usage_in_bytes", []string{"total_active_file", "total_inactive_file"}
	if f.v2 {
		usage, reclaimable = "memory.current", []string{"active_file", "inactive_file", "slab_reclaimable"}
	}
	data, err := fs.ReadFile(c.root, path.Join(f.path, usage))
	if err != nil || own == 0 {
		return 0
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0
	}
	// Without it, all files in memory would count.
	stat, err := fs.ReadFile(c.root, path.Join(f.path, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(stat)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && slices.Contains(reclaimable, key) {
			used -= n
		}
	}
	return max(0, used-own)
}
