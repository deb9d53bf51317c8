//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// cgroup is one that this program has made for a child: a container's limit, and the
// kernel that kills.
type cgroup struct {
	dir   string
	limit string // name of the file
}

// hierarchies are where a cgroup with a limit of memory can be made, and the name of
// its file: the old version and the new.
var hierarchies = []struct{ dir, limit, enabled string }{
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
	{"/sys/fs/cgroup", "memory.max", "/sys/fs/cgroup/memory.stat"},
}

// makeCgroup needs root.
func makeCgroup() (cgroup, error) {
	for _, h := range hierarchies {
		if _, err := os.Stat(h.enabled); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		g := cgroup{filepath.Join(h.dir, "heaptrim-lab-"+strconv.Itoa(os.Getpid())), h.limit}
		return g, os.Mkdir(g.dir, 0o755)
	}
	return cgroup{}, errors.New("no hierarchy of cgroups that can limit memory")
}

// join puts this process into the cgroup in dir; what it has taken before does not count.
func join(dir string) (cgroup, error) {
	g := cgroup{dir: dir}
	for _, h := range hierarchies {
		if _, err := os.Stat(filepath.Join(dir, h.limit)); err == nil {
			g.limit = h.limit
		}
	}
	if g.limit == "" {
		return g, fmt.Errorf("%s has no limit of memory", dir)
	}
	return g, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
}

// allow sets the limit, in bytes.
func (g cgroup) allow(bytes int64) error {
	return os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(bytes, 10)), 0)
}

// remove removes the cgroup, in which nobody must be left.
func (g cgroup) remove() error { return os.Remove(g.dir) }
