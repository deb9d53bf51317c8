// The source of a function: each line with what it costs, why it allocates and
// what to do about it.
import { button, el, replace, select } from "./dom.js";
import { trimNote } from "./flame.js";
import { compile } from "./flame_filter.js";
import { flameTools } from "./flame_tools.js";
import { shortName } from "./format.js";
import { measureNote } from "./measure.js";
import { Rest } from "./rest.js";
import { editors, jump, listing } from "./source_lines.js";
import { isFiltered, spotsOf } from "./spots.js";
import { isCode, resetPatch, stacksOf } from "./stacks.js";
import { change, state } from "./state.js";

const most = 400; // functions in the list

// partOf finds the lines of the data that a place stands in.
function partOf(data, file, line) {
  const f = data.views.source.find((s) => s.file === file);
  return f ? f.parts.find((p) => line >= p.first && line < p.first + p.lines.length) : null;
}

class Source {
  constructor(data) {
    this.data = data;
    this.stacks = data.views.flame ? stacksOf(data) : null;
    this.rest = new Rest(data, () => this.draw());
    this.editor = "VS Code";
    this.tools = this.stacks ? flameTools(this.stacks, { next: (step) => this.step(step), reset: () => change(resetPatch()) }, ["colour", "shape", "panes", "detail"]) : null;
    this.choice = el("div", {});
    this.box = el("div", {});
    this.node = el("div", { class: "source-view" }, this.tools && this.tools.node,
      el("div", { class: "row" }, this.choice, select("Editor", Object.keys(editors).map((k) => [k, k]), this.editor, (v) => { this.editor = v; this.draw(); })),
      this.box, this.cutNote(), this.stacks ? trimNote(data.views.flame.trim) : null);
  }

  cutNote() {
    const { source_cut: cut, version } = this.data.views;
    return cut > 0 ? el("p", { class: "note" }, version ? `The source of ${cut} functions is read when they are chosen.` : `The source of the ${cut} lightest functions is left out of this file for its size; their lines are here by number, and heaptrim view shows them.`) : null;
  }

  // functions lists those of the findings, then those with any weight, the
  // heaviest first, that the search finds.
  functions(now) {
    const list = new Map(), { re } = compile(now.q);
    const add = (name, file, line, rank) => {
      const key = `${name}\n${file}`;
      if (!list.has(key) && (!re || re.test(name))) list.set(key, { name, file, line, rank });
    };
    for (const f of this.data.report.findings) add(f.site.function, f.site.file, f.site.line, f.rank);
    if (this.stacks) {
      const s = spotsOf(this.stacks, now, "filefunction"), functions = this.stacks.m.functions;
      const order = s.list.map((l, i) => ({ l, total: s.sums.total[i], self: s.sums.self[i] })).filter((x) => isCode(x.l) && x.l.file && x.total !== 0);
      for (const { l } of order.sort((a, b) => b.total - a.total || b.self - a.self)) add(functions.name[l.fn], l.file, l.line, 0);
    }
    return [...list.values()];
  }

  show(now) {
    this.now = now;
    this.list = this.functions(now);
    if (this.tools) {
      this.spots = spotsOf(this.stacks, now, "spot");
      this.tools.show(now, this.spots.mode, { colour: "none", groups: new Set() });
      this.tools.hits.textContent = !compile(now.q).re ? "" : this.list.length === 0 ? "no match" : `${this.list.length} function${this.list.length === 1 ? "" : "s"}`;
    }
    this.at = this.list.findIndex((f) => f.name === now.fn && (!now.file || f.file === now.file));
    this.current = this.at >= 0 ? this.list[this.at] : now.fn ? { name: now.fn, file: now.file || "", line: Number(now.line) || 0, rank: 0 } : this.list[this.at = 0];
    this.line = Number(now.line) || (this.current ? this.current.line : 0);
    const short = (f) => `${f.rank ? `${f.rank}. ` : ""}${shortName(f.name)} – ${f.file.split("/").slice(-2).join("/")}`;
    const shown = this.list.slice(0, most).map((f, i) => [String(i), short(f)]);
    if (this.at < 0 || this.at >= most) shown.unshift(["-", this.current ? short(this.current) : "none"]);
    replace(this.choice, select(this.list.length > most ? `Function (${most} of ${this.list.length}; search for others)` : "Function", shown, this.at < 0 || this.at >= most ? "-" : String(this.at), (i) => this.go(this.list[Number(i)])));
    this.draw();
  }

  go(f) {
    if (f) change({ fn: f.name, file: f.file, line: f.line });
  }

  step(by) {
    const n = this.list.length;
    if (n > 0) this.go(this.list[(this.at + by + n) % n]);
  }

  // part is the text of the current function: that of the data, or the server's.
  part() {
    const f = this.current, own = partOf(this.data, f.file, this.line) || partOf(this.data, f.file, f.line);
    if (own || !this.stacks) return { part: own };
    const m = this.stacks.m, file = m.files.indexOf(f.file), there = (line) => m.frames.line.some((l, i) => l === line && m.frames.file[i] === file);
    const line = [this.line, f.line].find(there);
    const answer = file < 0 || line === undefined ? undefined : this.rest.get("source.json", { file, line });
    if (answer === null) return { waiting: true };
    return answer && answer.part ? answer : { part: null, missing: answer && answer.missing };
  }

  draw() {
    const f = this.current, now = this.now;
    if (!f) return replace(this.box, el("p", {}, this.list.length === 0 && now.q ? "No function of this name has samples." : "Nothing that passes the filters has a line of source."));
    const head = el("h2", {}, shortName(f.name), " ", el("small", {}, jump(this.data.report, this.editor, f.file, this.line || f.line)));
    const filtered = isFiltered(now) ? el("p", { class: "note" }, "Only what the filters let through is counted. ", button("Count all", () => change({ focus: null, ignore: null, hide: null, show: null, from: null, prune: null, tagfocus: null, tagignore: null }), { class: "quiet" })) : null;
    const { part, waiting, missing } = this.part();
    if (waiting) return replace(this.box, head, el("p", { class: "dim" }, "Reading …"));
    const words = part ? null : el("p", { class: "note" }, `The source of this function is not here${missing ? ": " + missing : this.data.views.source_cut > 0 ? "; these are its lines by number" : ": its file was not there when the report was made"}.`);
    return replace(this.box, head, filtered, words, listing({ data: this.data, stacks: this.stacks, now, f, part, line: this.line }),
      this.stacks ? el("p", { class: "note" }, measureNote(this.stacks.m, this.spots.mode)) : null);
  }
}

// sourceView is there when there is any source or any stack.
export const sourceView = {
  id: "source",
  title: "Source",
  there: (data) => data.views.source.length > 0 || Boolean(data.views.flame),
  make(data) {
    const s = new Source(data);
    s.node.source = s;
    return { node: s.node, show: () => s.show(state()) };
  },
};
