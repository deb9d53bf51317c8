package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/web"
)

// viewing is where a served page is told of.
type viewing struct {
	std      stdio
	progress *progress
}

// serve answers until ctx is done, with what the files hold at each time.
func (f *viewFlags) serve(ctx context.Context, args []string, v viewing) error {
	before := f.fingerprint(args)
	page, done, err := f.page(ctx, args, v.progress)
	if err != nil {
		return err
	}
	v.progress.Close()
	shown := &shownPage{done: done}
	defer shown.close()
	s, err := web.NewServer(page)
	if err != nil {
		return err
	}
	l, err := web.Listen(f.addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(l) }()
	fmt.Fprintf(v.std.out, "http://%s/\n", l.Addr())
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.follow(watching, args, &followed{v: v, server: s, shown: shown, last: before})
	}()
	defer func() {
		stop()
		<-watched
	}()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// shownPage is the recording that is being served.
type shownPage struct{ done func() }

func (s *shownPage) close() {
	if s.done != nil {
		s.done()
	}
	s.done = nil
}

// followed is the state of following the files.
type followed struct {
	v      viewing
	server *web.Server
	shown  *shownPage
	last   string // fingerprint of what is shown, or could not be
}

const followEvery = time.Second

// follow shows the files anew when they have changed and then stayed the same
// for a while: a recording that is still being written changes again and again.
// One that cannot be shown is said to be so, once, and the old one stays.
func (f *viewFlags) follow(ctx context.Context, args []string, s *followed) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	seen := s.last
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := f.fingerprint(args)
		settled := now == seen
		seen = now
		if now == s.last || !settled {
			continue
		}
		s.last = now
		page, done, err := f.page(ctx, args, s.v.progress)
		if err == nil {
			if err = s.server.Show(page); err != nil {
				done()
			}
		}
		switch {
		case ctx.Err() != nil:
			if err == nil {
				done()
			}
			return
		case err != nil:
			fmt.Fprintf(s.v.std.err, "heaptrim view: the recording has changed and cannot be shown: %v\n", err)
		default:
			s.shown.close()
			s.shown.done = done
		}
	}
}

// fingerprint tells the files that the page is made from in one state from those
// in another. Of a bundle that is a directory, its manifest is rewritten with
// each part.
func (f *viewFlags) fingerprint(args []string) string {
	var b strings.Builder
	for _, name := range append([]string{f.base, f.proof, f.tuned, f.binary}, args...) {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			name = filepath.Join(name, "manifest.json")
		}
		info, err := os.Stat(name)
		if err != nil {
			fmt.Fprintf(&b, "%s: none\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s: %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}
