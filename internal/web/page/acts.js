// What can be done with a function, wherever one is shown.
import { button, el } from "./dom.js";
import { toggleFilter } from "./flame_tools.js";
import { exactly } from "./format.js";
import { isCode } from "./stacks.js";
import { change } from "./state.js";

// pattern is the expression that a filter takes a label by: expressions hold for
// functions and files, so that of a place is that of its function.
function pattern(o, l) {
  if (o.detail === "package" && l.pkg) return exactly(l.pkg).replace(/\$$/, "\\.");
  return exactly(o.detail === "file" && l.file ? l.file : o.m.functions.name[l.fn]);
}

const codeNames = new WeakMap();

// hasCode reports whether the machine code of a function is there.
function hasCode(data, name) {
  if (!codeNames.has(data)) codeNames.set(data, new Set(data.views.code ? data.views.code.functions.map((f) => f.name) : []));
  return codeNames.get(data).has(name);
}

// toSource shows the source of a label.
function toSource(m, l, detail) {
  change({ view: "source", fn: m.functions.name[l.fn], file: l.file, line: detail === "line" || detail === "address" ? l.line : null });
}

// acts makes the buttons for a label; o: {data, m, detail, here}, here being the
// view that needs no button to itself.
export function acts(o, l) {
  if (!isCode(l)) return null;
  const act = (label, f, key) => button(label, f, { class: "quiet", title: key || "" });
  const name = o.m.functions.name[l.fn], single = o.detail !== "file" && o.detail !== "package";
  return el("p", { class: "acts noprint" },
    act("Focus", () => toggleFilter("focus", pattern(o, l)), "f"), act("Ignore", () => toggleFilter("ignore", pattern(o, l)), "i"), act("Hide", () => toggleFilter("hide", pattern(o, l)), "h"), act("Show from", () => toggleFilter("from", pattern(o, l))),
    act("Callers and callees", () => change({ view: "flame", pivot: l.text, zoom: null, at: null }), "c"),
    o.here === "functions" ? null : act("Peek", () => change({ view: "functions", node: l.text }), "p"),
    o.here === "calls" ? null : act("Call graph", () => change({ view: "calls", node: l.text, cam: null }), "g"),
    act("Source", () => toSource(o.m, l, o.detail), "s"),
    single && hasCode(o.data, name) ? act("Instructions", () => change({ view: "code", fn: name })) : null,
    act("Copy name", () => navigator.clipboard.writeText(l.text)));
}

// actKeys are the same by keyboard.
export function actKeys(o, l) {
  if (!isCode(l)) return {};
  return {
    f: () => toggleFilter("focus", pattern(o, l)), i: () => toggleFilter("ignore", pattern(o, l)), h: () => toggleFilter("hide", pattern(o, l)), s: () => toSource(o.m, l, o.detail),
    c: () => change({ view: "flame", pivot: l.text, zoom: null, at: null }), p: () => change({ view: "functions", node: l.text }), g: () => change({ view: "calls", node: l.text, cam: null }),
  };
}

// isFree reports whether a key is meant for the page and not for a field.
export function isFree(e) {
  return !(e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, dialog"));
}
