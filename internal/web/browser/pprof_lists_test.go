package browser

import (
	"bufio"
	"bytes"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// filterCase is filters as the page's address and as pprof has them.
type filterCase struct {
	name    string
	filters map[string]string // by the name that pprof has for them
	heap    bool              // of the heap only
}

// filterCases are those that the source and the instructions are compared under.
// No expression matches the name of the test's binary, which pprof's hold for too.
var filterCases = []filterCase{
	{name: "none"},
	{name: "hide", filters: map[string]string{"hide": `^encoding/json\.`}},
	{name: "hide some", filters: map[string]string{"hide": `^encoding/json\.(\(\*decodeState\)|checkValid|\(\*scanner\))|^reflect\.|^sync\.`}},
	{name: "show", filters: map[string]string{"show": `^encoding/json\.|^runtime\.`}},
	{name: "show from", filters: map[string]string{"show_from": `^encoding/json\.\(\*decodeState\)\.`}},
	{name: "hide and show from", filters: map[string]string{"hide": `^encoding/json\.Unmarshal$`, "show_from": `^encoding/json\.(Unmarshal|\(\*decodeState\)\.object)$`}},
	{name: "focus and ignore", filters: map[string]string{"focus": `^encoding/json\.`, "ignore": `checkValid`}},
	{name: "focus, hide and show from", filters: map[string]string{"focus": `json\.\(\*decodeState\)`, "hide": `\.\(\*decodeState\)\.value$|^reflect\.`, "show_from": `json\.\(\*Decoder\)\.Decode`}},
	{name: "label", filters: map[string]string{"tagfocus": "1025b:"}, heap: true},
	{name: "label and hide", filters: map[string]string{"tagignore": "1025b:", "hide": `^encoding/json\.`}, heap: true},
}

var inAddress = map[string]string{"show_from": "from"}

// hash are the filters as the page's address has them. Of the heap, the page
// leaves out what the runtime has on the stack while it allocates.
func (c filterCase) hash(heap bool) string {
	q := url.Values{}
	for name, text := range c.with(heap) {
		if short := inAddress[name]; short != "" {
			name = short
		}
		q.Set(name, text)
	}
	return q.Encode()
}

func (c filterCase) with(heap bool) map[string]string {
	out := map[string]string{}
	for name, text := range c.filters {
		out[name] = text
	}
	if heap {
		out["hide"] = strings.TrimPrefix(out["hide"]+"|/src/runtime/", "|")
	}
	return out
}

// pprofText is what go tool pprof prints of a profile under the filters.
func pprofText(t *testing.T, c filterCase, heap bool, args ...string) []byte {
	t.Helper()
	all := []string{"tool", "pprof", "-unit=ms"}
	if heap {
		all = []string{"tool", "pprof", "-unit=B", "-sample_index=alloc_space"}
	}
	for name, text := range c.with(heap) {
		all = append(all, "-"+name+"="+text)
	}
	cmd := exec.Command("go", append(all, args...)...)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, said.Bytes())
	}
	return out
}

// TestSourceOfPprof compares what lines of source weigh with what go tool pprof
// -list prints under the same filters.
func TestSourceOfPprof(t *testing.T) {
	eachFilter(t, func(t *testing.T, b *tab, c filterCase, o pprofOf) {
		want := listOf(t, pprofText(t, c, o.heap, "-list=.", o.profile))
		b.open(o.page.url + "#view=source&" + o.weight + "&" + c.hash(o.heap))
		type spot struct {
			File        string
			Line        int
			Self, Total float64
		}
		got, files := map[line]weights{}, map[string]bool{}
		for _, s := range eval[[]spot](b, `(() => {
			const s = document.querySelector('.source-view').source.spots, unit = s.mode.kind === 'time' ? 1e6 : 1;
			return s.list.map((l, i) => ({ File: l.file, Line: l.line, Self: s.sums.self[i] / unit, Total: s.sums.total[i] / unit })).filter((x) => x.File && x.Total !== 0) })()`) {
			got[line{s.File, s.Line}] = weights{s.Self, s.Total}
			files[s.File] = true
		}
		short := func(file string) string {
			for f := range files {
				if strings.HasSuffix(file, "/"+f) {
					return f
				}
			}
			return file
		}
		known, listed := map[line]bool{}, map[string]bool{}
		for at, w := range want {
			at.file = short(at.file)
			known[at], listed[at.file] = true, true
			g := got[at]
			// pprof lists a line for each function that stands on it, as a nested one may.
			if !alike(g.Self, w.Self) || w.functions == 1 && !alike(g.Total, w.Total) {
				t.Errorf("%s:%d: the page has %v, pprof %v", at.file, at.line, g, w.weights)
			}
		}
		// -list prints a function from its first line on, and some instructions have
		// one before that: -top has them.
		var top map[line]weights
		for at, g := range got {
			if !listed[at.file] || known[at] {
				continue
			}
			if top == nil {
				top = map[line]weights{}
				for at, w := range linesOf(t, pprofText(t, c, o.heap, "-top", "-lines", "-nodecount=1000000", "-nodefraction=0", o.profile)) {
					top[line{short(at.file), at.line}] = w
				}
			}
			if w := top[at]; !alike(g.Self, w.Self) || !alike(g.Total, w.Total) {
				t.Errorf("%s:%d: the page has %v, pprof does not list it and has %v", at.file, at.line, g, w)
			}
		}
		if len(want) < 5 {
			t.Errorf("pprof lists %d lines: they test nothing", len(want))
		}
	})
}

// TestInstructionsOfPprof compares what instructions weigh with what go tool
// pprof -disasm prints under the same filters.
func TestInstructionsOfPprof(t *testing.T) {
	eachFilter(t, func(t *testing.T, b *tab, c filterCase, o pprofOf) {
		want := disassemblyOf(t, pprofText(t, c, o.heap, "-disasm=json|reflect|strconv", o.binary, o.profile))
		b.open(o.page.url + "#view=code&" + o.weight + "&" + c.hash(o.heap))
		b.wait("document.querySelector('.code-view .code-notes')")
		type instruction struct {
			Address     string
			Self, Total float64
		}
		got := map[string]weights{}
		for _, x := range eval[[]instruction](b, `(() => {
			const v = document.querySelector('.code-view').code, s = v.spots, unit = s.mode.kind === 'time' ? 1e6 : 1, out = [];
			for (const f of v.functions) for (const shape of f.code || []) {
				let address = BigInt('0x' + shape.first);
				const all = shape.step.map((d) => { address += BigInt(d); return { Address: address.toString(16), Self: 0, Total: 0 }; });
				shape.at.forEach((at, i) => { if (at >= 0) { all[at].Self += s.self(f.places[i]) / unit; all[at].Total += s.total(f.places[i]) / unit; } });
				out.push(...all);
			}
			return out })()`) {
			got[x.Address] = weights{x.Self, x.Total}
		}
		found := 0
		for address, w := range want {
			g, ok := got[address]
			if !ok {
				continue // there was no room for this function
			}
			found++
			if !alike(g.Self, w.Self) || !alike(g.Total, w.Total) {
				t.Errorf("instruction at %s: the page has %v, pprof %v", address, g, w)
			}
		}
		if len(c.filters["show"])+len(c.filters["hide"]) == 0 && found < 20 {
			t.Errorf("%d of pprof's %d instructions are on the page", found, len(want))
		}
	})
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 0.006*math.Abs(b)+1 }

// pprofOf is a profile with the page that shows it.
type pprofOf struct {
	profile, binary string
	heap            bool
	weight          string // as the page's address has it
	page            page
}

// eachFilter runs a comparison for both kinds of profiles under all filters.
func eachFilter(t *testing.T, compare func(*testing.T, *tab, filterCase, pprofOf)) {
	browserPath(t)
	bundle := bundleOf(t, "files")
	dir := filepath.Dir(bundle)
	binary := filepath.Join(dir, "gateway.test")
	p := pageOf(t, bundle, "-nodes", "1000000", "-binary", binary)
	b := newTab(t, desktop)
	for _, o := range []pprofOf{
		{filepath.Join(dir, "cpu.pprof"), binary, false, "weight=cpu&unit=ms", p},
		{filepath.Join(dir, "allocs.pprof"), binary, true, "weight=alloc_space&unit=B", p},
	} {
		for _, c := range filterCases {
			if c.heap && !o.heap {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(o.profile), ".pprof")+"/"+c.name, func(t *testing.T) {
				b.t = t
				compare(t, b, c, o)
			})
		}
	}
	b.t = t
}

type line struct {
	file string
	line int
}

type lineWeights struct {
	weights
	functions int // that have weight on the line
}

var (
	routine = regexp.MustCompile(`^ROUTINE =+ (.*) in (/.*)$`)
	listRow = regexp.MustCompile(`^\s*(\S+)\s+(\S+)\s+(\d+):`)
	lineRow = regexp.MustCompile(`(?m)^ *(\d\S*) +\S+% +\S+% +(\d\S*) +\S+% +.* (/\S+):(\d+)(?: \(.*\))?$`)
	codeRow = regexp.MustCompile(`^\s*(\S+)\s+(\S+)\s+([0-9a-f]+): `)
)

// linesOf reads what -top -lines prints: what lines weigh, of all functions that stand
// on them.
func linesOf(t *testing.T, text []byte) map[line]weights {
	t.Helper()
	out := map[line]weights{}
	for _, m := range lineRow.FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(m[4]))
		if err != nil {
			t.Fatal(err)
		}
		at := line{string(m[3]), n}
		out[at] = weights{out[at].Self + amountOf(t, string(m[1])), out[at].Total + amountOf(t, string(m[2]))}
	}
	if len(out) == 0 {
		t.Errorf("pprof -top has no lines: %.300s", text)
	}
	return out
}

// listOf reads what -list prints: lines with any weight.
func listOf(t *testing.T, text []byte) map[line]lineWeights {
	t.Helper()
	out := map[line]lineWeights{}
	file := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := routine.FindStringSubmatch(lines.Text()); m != nil {
			file = m[2]
			continue
		}
		m := listRow.FindStringSubmatch(lines.Text())
		if m == nil || m[1] == "." && m[2] == "." {
			continue
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		w := out[line{file, n}]
		out[line{file, n}] = lineWeights{weights{w.Self + amountOf(t, m[1]), w.Total + amountOf(t, m[2])}, w.functions + 1}
	}
	return out
}

// disassemblyOf reads what -disasm prints: instructions with any weight.
func disassemblyOf(t *testing.T, text []byte) map[string]weights {
	t.Helper()
	out := map[string]weights{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := codeRow.FindStringSubmatch(lines.Text()); m != nil && (m[1] != "." || m[2] != ".") {
			out[m[3]] = weights{amountOf(t, m[1]), amountOf(t, m[2])}
		}
	}
	return out
}

// amountOf reads a figure of pprof with its unit; a point is nothing.
func amountOf(t *testing.T, text string) float64 {
	t.Helper()
	if text == "." {
		return 0
	}
	x, err := strconv.ParseFloat(strings.TrimRight(text, "Bms"), 64)
	if err != nil {
		t.Fatalf("figure %q: %v", text, err)
	}
	return x
}
