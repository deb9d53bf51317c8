package browser

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestRecordingChanges serves a recording, puts another in its place, and takes
// up the page's offer to show it.
func TestRecordingChanges(t *testing.T) {
	browserPath(t)
	tool(t)
	bundle := filepath.Join(t.TempDir(), "shown.tar.zst")
	put := func(name string) {
		t.Helper()
		text, err := os.ReadFile(bundleOf(t, name))
		if err == nil {
			err = os.WriteFile(bundle, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("files")
	cmd := exec.Command(filepath.Join(built.dir, "heaptrim"), "view", bundle)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("interrupted: %v", err)
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	b := newTab(t, desktop)
	b.open(url + "#view=functions&weight=alloc_space")
	before := b.text("header h1")
	if eval[bool](b, "document.querySelector('.fresh').checkVisibility()") {
		t.Error("the page says that the recording has changed, and it has not")
	}
	put("service")
	b.wait("document.querySelector('.fresh').checkVisibility()")
	eval[bool](b, "(document.querySelector('.fresh button').click(), true)")
	b.afterReload("Boolean(document.querySelector('header h1') && document.querySelector('header h1').innerText !== %s && document.querySelector('.functions-view'))", quote(before))
	if got := b.text("header h1"); !strings.Contains(got, "gateway") {
		t.Errorf("after the change the page is of %q", got)
	}
	b.do(chromedp.Navigate("about:blank")) // it would miss its server
	for _, asked := range b.asked() {
		if !strings.HasPrefix(asked, url) && asked != "about:blank" && !strings.HasPrefix(asked, "data:,") {
			t.Errorf("the page asked for %s", asked)
		}
	}
}

// afterReload waits for an expression to become true while the page is being
// exchanged: until then it may have nothing to be asked in.
func (b *tab) afterReload(format string, args ...any) {
	b.t.Helper()
	for b.ctx.Err() == nil {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf(format, args...))); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("%s never became true", fmt.Sprintf(format, args...))
}
