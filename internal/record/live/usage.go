package live

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/host"
)

// usage is what a process has used since it began.
type usage struct {
	cpu    time.Duration // user and system time
	sleeps int64         // times that a thread which still runs went to sleep
}

// usageOf reads /proc; ok is false where it does not tell.
func usageOf(root fs.FS, pid string) (u usage, ok bool) {
	text, err := fs.ReadFile(root, path.Join("proc", pid, "stat"))
	if err != nil {
		return u, false
	}
	// The name in parentheses may hold spaces. Behind it utime and stime are the 12th and 13th column, in the ticks that
	// Linux shows to programs: proc(5).
	const user, system, tick = 11, 12, time.Second / 100
	columns := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(columns) <= system {
		return u, false
	}
	for _, c := range []string{columns[user], columns[system]} {
		n, err := strconv.ParseInt(c, 10, 48)
		if err != nil || n < 0 {
			return usage{}, false
		}
		u.cpu += time.Duration(n) * tick
	}
	threads, err := fs.ReadDir(root, path.Join("proc", pid, "task"))
	for _, t := range threads {
		for _, line := range host.ReadLines(root, path.Join("proc", pid, "task", t.Name(), "status")) {
			if count, is := strings.CutPrefix(line, "voluntary_ctxt_switches:"); is {
				n, _ := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
				u.sleeps += n
			}
		}
	}
	return u, err == nil
}

// used is what the service uses from now on for a time: zero if it does not run on this machine, or ctx ends before.
func (r *liveRecorder) used(ctx context.Context, length time.Duration) usage {
	if r.process == nil {
		return usage{}
	}
	before, known := r.process()
	if !known || !waitUntil(ctx, time.Now().Add(length)) {
		return usage{}
	}
	after, known := r.process()
	if !known || after.cpu <= before.cpu {
		return usage{}
	}
	return usage{after.cpu - before.cpu, max(after.sleeps-before.sleeps, 0)}
}
