package live

import (
	"context"
	"debug/buildinfo"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/host"
)

// local describes the process, its machine and its modules, if the service runs on this machine. net/http/pprof
// does not report it, and a local address may be the end of a tunnel. So it reads
// /proc, on Linux, for a process of this user that listens at the address and has the
// service's command line. In all other cases they stay unknown.
func (s *pprofServer) local(ctx context.Context, command []string) (pid string, env evidence.Environment, built modules) {
	if runtime.GOOS != "linux" || len(command) == 0 || !onLoopback(ctx, s.base.Hostname()) {
		return "", evidence.Environment{}, modules{}
	}
	port, err := strconv.Atoi(s.base.Port())
	if err != nil {
		return "", evidence.Environment{}, modules{}
	}
	root := os.DirFS("/")
	pid = listener(root, port, command)
	if pid == "" {
		return "", evidence.Environment{}, modules{}
	}
	env = host.Environment()
	linuxProcess(root, pid, &env)
	built = fromBinary(filepath.Join("/proc", pid, "exe"), &env)
	return pid, env, built
}

func onLoopback(ctx context.Context, host string) bool {
	addrs, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil || len(addrs) == 0 {
		return false
	}
	return !slices.ContainsFunc(addrs, func(a net.IPAddr) bool { return !a.IP.IsLoopback() })
}

// listener returns the process that has the command line and listens at the TCP port,
// or "" if there is not exactly one.
func listener(root fs.FS, port int, command []string) string {
	sockets := listening(root, port)
	if len(sockets) == 0 {
		return ""
	}
	want := strings.Join(command, "\x00")
	procs, err := fs.ReadDir(root, "proc")
	if err != nil {
		return ""
	}
	found := ""
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		text, err := fs.ReadFile(root, path.Join("proc", p.Name(), "cmdline"))
		if err != nil || strings.TrimSuffix(string(text), "\x00") != want || !holds(root, p.Name(), sockets) {
			continue
		}
		if found != "" {
			return ""
		}
		found = p.Name()
	}
	return found
}

// listening returns the inodes of the sockets that listen at the port. The lines are
// "sl local_address rem_address st …", with the inode in column 9.
func listening(root fs.FS, port int) map[string]bool {
	const stateListen = "0A"
	inodes := map[string]bool{}
	for _, name := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		for _, line := range host.ReadLines(root, name) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != stateListen {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseInt(hex, 16, 32); err == nil && int(n) == port {
				inodes[f[9]] = true
			}
		}
	}
	return inodes
}

// holds reports whether a process has one of the sockets open.
func holds(root fs.FS, pid string, sockets map[string]bool) bool {
	dir := path.Join("proc", pid, "fd")
	fds, err := fs.ReadDir(root, dir)
	if err != nil {
		return false // another user's process
	}
	for _, fd := range fds {
		to, err := fs.ReadLink(root, path.Join(dir, fd.Name()))
		inode, isSocket := strings.CutPrefix(to, "socket:[")
		if err == nil && isSocket && sockets[strings.TrimSuffix(inode, "]")] {
			return true
		}
	}
	return false
}

// linuxProcess fills in the settings that the process was started with and the limits
// of its own cgroups. It does not see settings that the process changed later.
func linuxProcess(root fs.FS, pid string, e *evidence.Environment) {
	host.LimitsOf(root, pid, e)
	text, err := fs.ReadFile(root, path.Join("proc", pid, "environ"))
	if err != nil {
		return
	}
	e.GOGC, e.GOMEMLIMIT = "100", "off"
	for _, entry := range strings.Split(string(text), "\x00") {
		key, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "":
		case key == "GOGC":
			e.GOGC = host.StartGOGC(value)
		case key == "GOMEMLIMIT":
			e.GOMEMLIMIT = value
		case key == "GODEBUG":
			e.GODEBUG = value
		case key == "GOMAXPROCS":
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				e.GOMAXPROCS = n
			}
		}
	}
}

// modules are those that an executable was built from.
type modules struct {
	main         string // empty if not known
	dependencies []string
}

// fromBinary fills in what the go command recorded in an executable.
func fromBinary(name string, e *evidence.Environment) modules {
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return modules{}
	}
	e.GoVersion = info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "GOEXPERIMENT":
			e.Experiment = s.Value
		case "GOOS":
			e.GOOS = s.Value
		case "GOARCH":
			e.GOARCH = s.Value
		}
	}
	m := modules{main: info.Main.Path}
	for _, d := range info.Deps {
		m.dependencies = append(m.dependencies, d.Path)
	}
	return m
}
