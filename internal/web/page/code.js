// The machine code of functions: each instruction with the samples that were
// taken on it, below the source line it comes from.
import { button, el, replace, select } from "./dom.js";
import { trimNote } from "./flame.js";
import { compile } from "./flame_filter.js";
import { flameTools } from "./flame_tools.js";
import { shortName } from "./format.js";
import { addresses, instructions } from "./code_lines.js";
import { measureNote } from "./measure.js";
import { Rest } from "./rest.js";
import { isFiltered, spotsOf } from "./spots.js";
import { resetPatch, stacksOf } from "./stacks.js";
import { change } from "./state.js";
import { term } from "./terms.js";

const most = 400; // functions in the list

class Code {
  constructor(data) {
    this.data = data;
    this.view = data.views.code;
    this.stacks = stacksOf(data);
    this.rest = new Rest(data, () => this.draw());
    let place = 1;
    this.functions = this.view.functions.map((f, index) => {
      const places = f.step.map(() => `@${place++}`);
      return { ...f, index, places };
    });
    this.tools = flameTools(this.stacks, { next: (step) => this.step(step), reset: () => change({ ...resetPatch(), quiet: null }) }, ["colour", "shape", "panes", "detail"]);
    this.choice = el("div", {});
    this.around = el("input", { type: "checkbox", id: "only-hot", on: { change: () => change({ quiet: this.around.checked ? "1" : null }) } });
    this.box = el("div", {});
    this.words = el("p", {});
    this.node = el("div", { class: "code-view" }, this.tools.node,
      el("div", { class: "row" }, this.choice, el("label", { class: "check" }, this.around, " only around samples")),
      this.box, this.notes(), trimNote(data.views.flame.trim));
  }

  notes() {
    const v = this.view, left = v.left === 0 ? null : this.data.views.version ? `The machine code of ${v.left} of the ${v.functions.length} functions is fetched when they are chosen. ` : `The machine code of the ${v.left} lightest of the ${v.functions.length} functions is left out of this file for its size; their addresses are here, and heaptrim view shows their instructions. `;
    return el("div", { class: "note code-notes" },
      el("p", {}, left, term("self"), ": samples on the instruction; ", term("total"), ": and on what it calls. They are counts of samples, with the same error as elsewhere; a processor may report an instruction a little behind the one that took the time. ", this.words),
      v.missing.length > 0 ? el("ul", {}, v.missing.map((m) => el("li", {}, "No machine code of ", m, "."))) : null);
  }

  // rank lists the functions that the search finds and that have any weight, the
  // heaviest first.
  rank(now) {
    const s = this.spots, { re } = compile(now.q);
    const list = this.functions.map((f) => ({ f, self: f.places.reduce((sum, p) => sum + s.self(p), 0), total: Math.max(0, ...f.places.map((p) => s.total(p))) }));
    return list.filter((x) => (x.self !== 0 || x.total !== 0) && (!re || re.test(x.f.name))).sort((a, b) => b.self - a.self || b.total - a.total || a.f.index - b.f.index);
  }

  show(now) {
    this.now = now;
    this.spots = spotsOf(this.stacks, now, "place");
    this.tools.show(now, this.spots.mode, { colour: "none", groups: new Set() });
    this.list = this.rank(now);
    this.tools.hits.textContent = !compile(now.q).re ? "" : this.list.length === 0 ? "no match" : `${this.list.length} function${this.list.length === 1 ? "" : "s"}`;
    this.at = this.list.findIndex((x) => x.f.name === now.fn);
    // A function that the search leaves out stays while it is chosen by name.
    this.current = this.at >= 0 ? this.list[this.at].f : this.functions.find((f) => f.name === now.fn) || (now.fn || this.list.length === 0 ? null : this.list[this.at = 0].f);
    this.around.checked = Boolean(now.quiet);
    const text = ({ f }) => [this.spots.writeAll(f.places, true).replace(/ ±.*| \(.*/, ""), shortName(f.name)].filter(Boolean).join("  ");
    const shown = this.list.slice(0, most).map((x, i) => [String(i), text(x)]), other = this.at < 0 || this.at >= most;
    if (other) shown.unshift(["-", this.current ? text({ f: this.current }) : "none"]);
    replace(this.choice, select(this.list.length > most ? `Function (${most} of ${this.list.length}; search for others)` : "Function", shown, other ? "-" : String(this.at), (i) => { if (this.list[Number(i)]) this.go(this.list[Number(i)].f); }));
    this.words.textContent = measureNote(this.stacks.m, this.spots.mode);
    this.draw();
  }

  go(f) {
    change({ fn: f.name });
  }

  step(by) {
    const n = this.list.length;
    if (n > 0) this.go(this.list[(this.at + by + n) % n].f);
  }

  // code is the machine code of a function: that of the data, or the server's.
  code(f) {
    if (f.code) return { files: this.view.files, texts: this.view.texts, code: f.code };
    const answer = this.rest.get("code.json", { function: f.index });
    if (answer === null) return { waiting: true };
    return answer && answer.code ? answer.code : { missing: answer && answer.missing };
  }

  draw() {
    const f = this.current, now = this.now;
    const filtered = isFiltered(now) ? el("p", { class: "note" }, "Only what the filters let through is counted. ", button("Count all", () => change({ focus: null, ignore: null, hide: null, show: null, from: null, prune: null, tagfocus: null, tagignore: null }), { class: "quiet" })) : null;
    if (!f) return replace(this.box, filtered, el("p", now.fn ? { class: "bad" } : {}, now.fn ? `No sample has an address in ${now.fn}.` : "Nothing that passes the filters has an address."));
    const o = { data: this.data, m: this.stacks.m, spots: this.spots, f, quiet: Boolean(now.quiet) }, code = this.code(f);
    const body = code.waiting ? el("p", { class: "dim" }, "Reading …") : code.code ? code.code.map((shape) => instructions({ ...o, code, shape })) : [
      el("p", { class: "note" }, code.missing ? `Its machine code is not here: ${code.missing}. ` : "Its machine code is not here. ", "These are the addresses that its samples have."), addresses(o)];
    return replace(this.box, this.heading(f), filtered, body);
  }

  heading(f) {
    const file = this.stacks.m.functions.name.indexOf(f.name), frame = this.stacks.m.frames.function.indexOf(file), source = frame < 0 ? "" : this.stacks.m.files[this.stacks.m.frames.file[frame]];
    return el("div", {}, el("h2", {}, shortName(f.name), " ", el("small", {}, `${source} in ${this.view.binaries[f.binary]}`)),
      el("p", { class: "acts" }, el("span", { data: { figure: "self" } }, `self ${this.spots.writeAll(f.places, true) || "0"}`), button("Source", () => change({ view: "source", fn: f.name, file: source, line: null }), { class: "quiet" }), button("Callers and callees", () => change({ view: "flame", pivot: f.name, detail: null, zoom: null, at: null }), { class: "quiet" })));
  }
}

// codeView is there when samples have addresses.
export const codeView = {
  id: "code",
  title: "Instructions",
  there: (data) => Boolean(data.views.code),
  make(data) {
    const c = new Code(data);
    c.node.code = c;
    return { node: c.node, show: (now) => c.show(now) };
  },
};
