package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// states are what screenshots are taken of, as what stands behind the # of the
// page's address.
var states = []struct{ name, hash string }{
	{"overview", "view=overview"},
	{"flame", "view=flame"},
	{"flame-buckets", "view=flame&weight=memory&colour=bucket&q=json"},
	{"flame-callers", "view=flame&pivot=runtime.mallocgc&shape=flame"},
	{"calls", "view=calls"},
	{"calls-chosen", "view=calls&node=runtime.mallocgc&weight=memory"},
	{"calls-paths", "view=calls&paths=1&weight=alloc_space&inline=off&nodes=40"},
	{"functions", "view=functions&node=runtime.mallocgc"},
	{"figures", "view=functions&weight=alloc_space&mean=1&unit=B&div=2"},
	{"figures-time", "view=flame&weight=cpu&unit=ms&rel=shown&focus=json&prune=Unmarshal"},
	{"labels", "view=flame&weight=alloc_space&tagroot=bytes"},
	{"code", "view=code"},
	{"source", "view=source"},
	{"time", "view=time"},
	{"whatif", "view=whatif"},
	{"latency", "view=latency"},
}

// TestScreenshots writes what the page looks like at both widths in both
// themes, and checks what can be checked of that: nothing stands out of the
// window, and every text can be read on its background.
func TestScreenshots(t *testing.T) {
	if testing.Short() {
		t.Skip("takes three dozen screenshots")
	}
	browserPath(t)
	p := pageOf(t, bundleOf(t, "service"))
	difference := pageOf(t, bundleOf(t, "service"), "-base", bundleOf(t, "files"))
	for _, l := range []look{{1280, 900, false}, {1280, 900, true}, {390, 844, false}, {390, 844, true}} {
		theme := map[bool]string{false: "light", true: "dark"}[l.dark]
		t.Run(fmt.Sprintf("%d-%s", l.width, theme), func(t *testing.T) {
			b := newTab(t, l)
			for _, s := range states {
				b.open(p.url + "#" + s.hash)
				checkLook(t, b, l, s.name)
				b.shot(fmt.Sprintf("%s-%d-%s", s.name, l.width, theme))
			}
			b.open(difference.url + "#view=flame")
			checkLook(t, b, l, "flame-difference")
			b.shot(fmt.Sprintf("flame-difference-%d-%s", l.width, theme))
		})
	}
}

func checkLook(t *testing.T, b *tab, l look, name string) {
	t.Helper()
	b.wait("document.querySelector('main > :not([hidden])')")
	if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
		t.Errorf("%s: the page is %d wide in a window of %d", name, wide, l.width)
	}
	poor := eval[[]string](b, contrastScript)
	if len(poor) > 0 {
		t.Errorf("%s: texts with little contrast: %s", name, strings.Join(poor[:min(len(poor), 5)], "; "))
	}
	nameless := eval[[]string](b, "[...document.querySelectorAll('button, a, input, select, canvas.flame')].filter((e) => e.offsetParent !== null && !e.textContent.trim() && !e.getAttribute('aria-label') && !e.title && !e.closest('label')).map((e) => e.outerHTML.slice(0, 80))")
	if len(nameless) > 0 {
		t.Errorf("%s: a screen reader has no name for %v", name, nameless)
	}
}

// contrastScript lists texts whose colour differs too little from what is
// behind: 4.5 to 1, as the Web Content Accessibility Guidelines 2 ask for at
// level AA.
const contrastScript = `(() => {
	const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const rgb = (css) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] > 200) return c; } return 'white'; };
	const out = [];
	for (const e of document.querySelectorAll('main *, header *')) {
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
		if (!own || e.offsetParent === null || e.closest('.seg, .unseen, .skip, option')) continue;
		const a = light(rgb(getComputedStyle(e).color)), b = light(rgb(behind(e)));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) out.push(e.className + ' "' + e.textContent.slice(0, 20) + '" ' + ratio.toFixed(2));
	}
	return out })()`

func media(name string) chromedp.Action[chromedp.Void] {
	return action(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
		return err
	})
}

func printPDF(ctx context.Context, t *chromedp.Target) ([]byte, error) {
	r, err := cdp.Call(ctx, t, cdppage.PrintToPDF, cdppage.PrintToPDFParams{})
	return r.Data, err
}
