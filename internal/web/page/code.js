// The machine code of the hottest functions: each instruction with the samples
// that were taken on it, below the source line it comes from.
import { button, el, replace, select } from "./dom.js";
import { bytes, count, shortName } from "./format.js";
import { change } from "./state.js";
import { term } from "./terms.js";

const cpuUnit = 1e-7; // shares of CPU are counted in this
const weights = {
  cpu: ["CPU", (v) => share(v * cpuUnit)], alloc_space: ["allocated bytes", bytes], alloc_objects: ["allocated objects", count],
  inuse_space: ["bytes in use", bytes], inuse_objects: ["objects in use", count],
};

function share(v) {
  const p = 100 * v;
  return `${p.toFixed(p < 0.995 ? 2 : 1)} %`;
}

// sums adds up a column of a function.
function sums(f, weight) {
  const c = f.weights[weight], out = { self: 0, total: 0 };
  if (c) for (let i = 0; i < c.at.length; i++) {
    out.self += c.self[i];
    out.total = Math.max(out.total, c.total[i]);
  }
  return out;
}

class Code {
  constructor(data) {
    this.data = data;
    this.view = data.views.code;
    const there = Object.keys(weights).filter((w) => this.view.functions.some((f) => f.weights[w]));
    this.there = there.length > 0 ? there : ["cpu"];
    this.weight = select("Weight", this.there.map((w) => [w, weights[w][0]]), this.there[0], (v) => change({ weight: v }));
    this.search = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Find a function", spellcheck: false, autocomplete: "off", on: { input: () => this.fill() } });
    this.choice = el("div", {});
    this.around = el("input", { type: "checkbox", id: "only-hot", on: { change: () => change({ quiet: this.around.checked ? "1" : null }) } });
    this.box = el("div", {});
    this.node = el("div", { class: "code-view" },
      el("div", { class: "row" }, this.weight, el("label", { class: "field" }, el("span", {}, "Find"), this.search), this.choice, el("label", { class: "check" }, this.around, " only around samples")),
      this.box, this.notes());
  }

  notes() {
    const v = this.view, few = v.functions.length;
    return el("div", { class: "note" },
      few > 0 ? el("p", {}, `The machine code of ${few} functions is here`, v.left > 0 ? `, those with the most samples; ${v.left} others have samples too. ` : ". ", "Filters do not apply to it. ", term("self"), ": samples on the instruction; ", term("total"), ": and on what it calls. They are counts of samples, with the same error as elsewhere; a processor may report an instruction a little behind the one that took the time.") : null,
      v.missing.length > 0 ? el("ul", {}, v.missing.map((m) => el("li", {}, "No machine code of ", m, "."))) : null,
      few === 0 && v.missing.length === 0 ? el("p", {}, "None of the recorded addresses lies in the machine code that is at hand.") : null);
  }

  // fill lists the functions, heaviest first, that the search finds.
  fill() {
    const by = this.current.weight, f = this.view.functions;
    const rank = f.map((x, i) => ({ i, ...sums(x, by) })).sort((a, b) => b.self - a.self || b.total - a.total || a.i - b.i);
    const list = rank.filter(({ i }) => f[i].name.toLowerCase().includes(this.search.value.toLowerCase()));
    replace(this.choice, select("Function", list.map(({ i, self }) => [String(i), `${weights[by][1](self)}  ${shortName(f[i].name)}`]), String(this.current.at), (i) => change({ fn: f[Number(i)].name, shape: null })));
  }

  show(now) {
    const f = this.view.functions, weight = this.there.includes(now.weight) ? now.weight : this.there[0];
    let at = f.findIndex((x) => x.name === now.fn);
    const missing = now.fn && at < 0;
    if (at < 0) at = f.map((x, i) => ({ i, self: sums(x, weight).self })).sort((a, b) => b.self - a.self || a.i - b.i).map((x) => x.i)[0];
    const key = JSON.stringify([at, weight, now.quiet, missing]);
    if (key === this.key) return;
    this.key = key;
    this.current = { at, weight };
    this.weight.querySelector("select").value = weight;
    this.around.checked = Boolean(now.quiet);
    if (at === undefined) return;
    this.fill();
    replace(this.box, missing ? el("p", { class: "bad" }, `The machine code of ${now.fn} is not here; this is the heaviest that is.`) : null, this.heading(f[at], weight), this.listing(f[at], weight, Boolean(now.quiet)));
  }

  heading(f, weight) {
    const s = sums(f, weight), text = weights[weight][1];
    return el("div", {}, el("h2", {}, shortName(f.name), " ", el("small", {}, `${f.source} in ${f.binary}`)),
      el("p", { class: "acts" }, el("span", { data: { figure: "self" } }, `self ${text(s.self)}`), button("Source", () => change({ view: "source", fn: f.name, file: f.source }), { class: "quiet" }), button("Callers and callees", () => change({ view: "flame", pivot: f.name, detail: null, zoom: null, at: null }), { class: "quiet" })));
  }

  // text is a line of source, "" where it is not in the report. Files have base
  // names only here: that of the function's own counts first.
  text(f, file, line) {
    const base = (x) => x.split("/").pop();
    const files = this.data.views.source.filter((s) => base(s.file) === file), own = files.find((s) => s.file === f.source) || (files.length === 1 ? files[0] : null);
    const part = own && own.parts.find((p) => line >= p.first && line < p.first + p.lines.length);
    return part ? part.lines[line - part.first].trim() : "";
  }

  listing(f, weight, quiet) {
    const c = f.weights[weight] || { at: [], self: [], total: [] }, at = new Map(c.at.map((i, k) => [i, k])), text = weights[weight][1];
    const near = (i) => [-3, -2, -1, 0, 1, 2, 3].some((d) => at.has(i + d)), most = Math.max(1e-9, ...c.self);
    let address = BigInt("0x" + f.first), place = "", gap = false;
    const rows = [];
    for (let i = 0; i < f.step.length; i++) {
      address += BigInt(f.step[i]);
      if (quiet && !near(i)) {
        gap = true;
        continue;
      }
      const file = this.view.files[f.file[i]], here = `${file}:${f.line[i]}`;
      if (here !== place || gap) rows.push(el("tr", { class: "line" }, el("td", { colSpan: 4 }, gap ? el("span", { class: "dim" }, "⋯ ") : null, el("span", { class: "where" }, here), " ", el("code", {}, this.text(f, file, f.line[i])))));
      place = here;
      gap = false;
      const k = at.get(i), self = k === undefined ? 0 : c.self[k], total = k === undefined ? 0 : c.total[k];
      rows.push(el("tr", { class: self > most / 4 ? "hot" : "", data: { at: i } }, el("td", { class: "num" }, self ? text(self) : ""), el("td", { class: "num" }, total ? text(total) : ""), el("td", { class: "num address" }, address.toString(16)), el("td", { class: "text" }, el("code", {}, this.view.texts[f.text[i]]))));
    }
    return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Instructions" }, el("table", { class: "listing machine" }, el("caption", { class: "unseen" }, `Instructions of ${f.name}`),
      el("thead", {}, el("tr", {}, ["self", "total", "address", "instruction"].map((t, i) => el("th", { scope: "col", class: i < 3 ? "num" : "" }, t)))), el("tbody", {}, rows)));
  }
}

// codeView is there when samples have addresses.
export const codeView = {
  id: "code",
  title: "Instructions",
  there: (data) => Boolean(data.views.code),
  make(data) {
    const c = new Code(data);
    return { node: c.node, show: (now) => c.show(now) };
  },
};
