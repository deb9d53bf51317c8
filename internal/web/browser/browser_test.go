package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// shots is where screenshots go; git ignores it.
const shots = "screenshots"

// timeout of everything that is done in one tab. It is long because CI may have
// few processors.
const timeout = 10 * time.Minute

var keep = flag.String("bundles", "", "keep the recordings in `directory` and use those that are there")

// browserPath finds a browser, or skips the test.
func browserPath(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: 'make test' installs it where apt-get may")
	return ""
}

// allocator starts one browser for all tests of a process.
var allocator = sync.OnceValues(func() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true), chromedp.WSURLReadTimeout(timeout))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	closers = append(closers, cancel)
	browser, cancelBrowser := chromedp.NewContext(ctx)
	closers = append(closers, cancelBrowser)
	return browser, chromedp.Do(browser)
})

var closers []context.CancelFunc

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	for i := len(closers) - 1; i >= 0; i-- {
		closers[i]()
	}
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// tab is one page of the browser. What it asks the network for, and what goes
// wrong in it, fails the test at its end.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// look is a size of the window and a theme.
type look struct {
	width, height int64
	dark          bool
}

var desktop = look{1280, 900, false}

func newTab(t testing.TB, l look) *tab {
	t.Helper()
	browserPath(t)
	browser, err := allocator()
	if err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	ctx, cancelTime := context.WithTimeout(ctx, timeout)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancelTime()
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the page says: %s", p)
		}
	})
	if err := chromedp.Listen(ctx, b.event); err != nil {
		t.Fatal(err)
	}
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	b.do(chromedp.EmulateViewport(l.width, l.height), action(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		return err
	}))
	return b
}

func action(f func(context.Context, *chromedp.Target) error) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, f(ctx, t)
	}
}

func (b *tab) event(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, text)
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "WebGL") {
			return // of the driver that stands in for a graphics card
		}
		b.problems = append(b.problems, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// asked returns what the page has asked the network for so far.
func (b *tab) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads a page of this project and waits until it is there.
func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url), chromedp.WaitReady("html[data-ready]"))
}

// view moves to a view by its tab.
func (b *tab) view(id string) {
	b.t.Helper()
	b.do(chromedp.Click("#tab-"+id), chromedp.WaitVisible("#view-"+id))
}

// eval runs an expression in the page.
func eval[T any](b *tab, format string, args ...any) T {
	b.t.Helper()
	expression := fmt.Sprintf(format, args...)
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait polls until an expression is true, or the tab's time is over.
func (b *tab) wait(format string, args ...any) {
	b.t.Helper()
	expression := fmt.Sprintf(format, args...)
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(0))); err != nil {
		b.t.Fatalf("wait for %s: %v", expression, err)
	}
}

// text is what an element shows.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, "(document.querySelector(%s) || {}).innerText || ''", quote(selector))
}

func (b *tab) key(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// shot writes a screenshot of the whole page.
func (b *tab) shot(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(shots, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// built is the program and the recordings, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// tool builds heaptrim and returns how to run it.
func tool(t testing.TB) func(args ...string) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "heaptrim-browser-"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", filepath.Join(built.dir, "heaptrim"), "./cmd/heaptrim")
		cmd.Dir = root(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build heaptrim: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(built.dir, "heaptrim"), args...)
		cmd.Dir = root(t)
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != 3 {
			t.Fatalf("heaptrim %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
		} else if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out)
	}
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
