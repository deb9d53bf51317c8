package browser

import (
	"fmt"
	"strings"
	"testing"
)

// TestFlameNames: what a box of the flame graph has no room for is left out at the start of
// the name, which ends alike for few functions.
func TestFlameNames(t *testing.T) {
	p := pageOf(t, bundleOf(t, "benchmarks"))
	b := newTab(t, look{390, 844, false})
	b.open(p.url + "#view=flame")
	b.wait("document.querySelector('canvas.flame')")
	drawn := eval[[]string](b, `(() => {
		const texts = [], proto = CanvasRenderingContext2D.prototype, real = proto.fillText;
		proto.fillText = function (text, ...at) { texts.push(text); return real.call(this, text, ...at); };
		window.dispatchEvent(new Event("resize"));
		proto.fillText = real;
		return texts;
	})()`)
	cut := 0
	for _, text := range drawn {
		tail, shortened := strings.CutPrefix(text, "…")
		known := text == "all"
		for _, name := range p.data.Views.Flame.Functions.Name {
			known = known || strings.HasSuffix(name, tail)
		}
		if shortened {
			cut++
		}
		if !known {
			t.Errorf("%q is not the end of a name", text)
		}
	}
	if cut == 0 {
		t.Errorf("none of %d names is cut: it tests nothing", len(drawn))
	}
}

// TestFlameLegend: the runtime's work for memory has the overview's colours, which are named.
func TestFlameLegend(t *testing.T) {
	b := newTab(t, desktop)
	b.open(pageOf(t, bundleOf(t, "benchmarks")).url + "#view=flame")
	b.wait("document.querySelector('#view-flame .legend li')")
	for name, variable := range map[string]string{"allocating": "--alloc", "collecting": "--gc"} {
		item := fmt.Sprintf("[...document.querySelectorAll('#view-flame .legend li')].find((x) => x.innerText === %s)", quote(name))
		got := eval[string](b, "(%s)?.querySelector('i').style.background || ''", item)
		b.t.Logf("%s is %s", name, got)
		if same := eval[bool](b, `(() => {
			const probe = document.createElement("i");
			probe.style.background = getComputedStyle(document.documentElement).getPropertyValue(%s);
			return probe.style.background === %s;
		})()`, quote(variable), quote(got)); got == "" || !same {
			t.Errorf("%s is %q in the legend, want the overview's colour", name, got)
		}
	}
	if rows := eval[int](b, "document.querySelectorAll('#view-flame .controls > .row').length"); rows != 1 {
		t.Errorf("%d rows of controls, want 1", rows)
	}
}

// TestCallGraphNames: what a box of the call graph is called begins with the text that is seen
// on it, as people say it who speak to their browser.
func TestCallGraphNames(t *testing.T) {
	b := newTab(t, desktop)
	b.open(pageOf(t, bundleOf(t, "benchmarks")).url + "#view=calls")
	b.wait("document.querySelector('.calls .box')")
	for _, box := range eval[[][2]string](b, `[...document.querySelectorAll(".calls .box")].map((x) => [x.textContent.trim(), x.getAttribute("aria-label")])`) {
		if !strings.HasPrefix(box[1], box[0]) {
			t.Errorf("a box that shows %q is called %q", box[0], box[1])
		}
	}
}
