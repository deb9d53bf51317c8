// Package serve serves the page of a recording and shows it anew when its files change.
package serve

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

// Options say what is served and where.
type Options struct {
	Address string
	Files   []string // that the page is made from; empty names count as none
	// Page makes the page of the files as they are. What it shows of them is there until done is
	// called.
	Page  func(ctx context.Context) (page web.ServerOptions, done func(), err error)
	Ready func(url string)    // called when the page can be asked for
	Warn  func(problem error) // called when the files have changed and cannot be shown
}

// Run answers until ctx is done, with what the files hold at each time.
func Run(ctx context.Context, o Options) error {
	before := o.fingerprint()
	page, done, err := o.Page(ctx)
	if err != nil {
		return err
	}
	shown := &shownPage{done: done}
	defer shown.close()
	s, err := web.NewServer(page)
	if err != nil {
		return err
	}
	l, err := web.Listen(o.Address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(l) }()
	o.Ready(fmt.Sprintf("http://%s/", l.Addr()))
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		o.follow(watching, &followed{server: s, shown: shown, last: before})
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
	server *web.Server
	shown  *shownPage
	last   string // fingerprint of what is shown, or could not be
}

const followEvery = time.Second

// follow shows the files anew when they have changed and then stayed the same
// for a while: a recording that is still being written changes again and again.
// One that cannot be shown is said to be so, once, and the old one stays.
func (o Options) follow(ctx context.Context, s *followed) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	seen := s.last
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := o.fingerprint()
		settled := now == seen
		seen = now
		if now == s.last || !settled {
			continue
		}
		s.last = now
		page, done, err := o.Page(ctx)
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
			o.Warn(err)
		default:
			s.shown.close()
			s.shown.done = done
		}
	}
}

// fingerprint tells the files that the page is made from in one state from those
// in another. Of a bundle that is a directory, its manifest is rewritten with
// each part.
func (o Options) fingerprint() string {
	var b strings.Builder
	for _, name := range o.Files {
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
