// Instructions with what they weigh, below their lines of source.
import { el } from "./dom.js";

// instructionsOf sums the places of a function by the instruction they lie in.
function instructionsOf(f, shape) {
  const out = new Map();
  shape.at.forEach((at, i) => {
    if (at >= 0) out.set(at, [...(out.get(at) || []), f.places[i]]);
  });
  return out;
}

// text is a line of source, "" where it is not in the report. Files have base
// names only here: that of the function's own counts first.
function text({ data, m, f }, file, line) {
  const base = (x) => x.split("/").pop(), own = m.frames.function.findIndex((fn) => m.functions.name[fn] === f.name);
  const files = data.views.source.filter((s) => base(s.file) === file), there = files.find((s) => own >= 0 && s.file === m.files[m.frames.file[own]]) || (files.length === 1 ? files[0] : null);
  const part = there && there.parts.find((p) => line >= p.first && line < p.first + p.lines.length);
  return part ? part.lines[line - part.first].trim() : "";
}

const lineRow = (where, words, gap) => el("tr", { class: "line" }, el("td", { colSpan: 4 }, gap ? el("span", { class: "dim" }, "⋯ ") : null, el("span", { class: "where" }, where), " ", el("code", {}, words)));

const row = (spots, places, { hot, at, address, text: words }) => el("tr", { class: hot ? "hot" : "", data: { at } }, el("td", { class: "num", data: { label: "self" } }, spots.writeAll(places, true)), el("td", { class: "num", data: { label: "total" } }, spots.writeAll(places)), el("td", { class: "num address" }, address.toString(16)), el("td", { class: "text" }, el("code", {}, words)));

const table = (f, rows) => el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Instructions" }, el("table", { class: "listing machine" }, el("caption", { class: "unseen" }, `Instructions of ${f.name}`),
  el("thead", {}, el("tr", {}, ["self", "total", "address", "instruction"].map((t, i) => el("th", { scope: "col", class: i < 3 ? "num" : "" }, t)))), el("tbody", {}, rows)));

const selfOf = (spots, places) => places.reduce((sum, p) => sum + spots.self(p), 0);
const anyOf = (spots, places) => places.some((p) => spots.self(p) !== 0 || spots.total(p) !== 0);

// instructions lists one shape of a function's machine code; o: {data, m, spots,
// f, quiet, code, shape}. Quiet leaves out what is far from any sample.
export function instructions(o) {
  const { spots, f, quiet, code, shape } = o, at = instructionsOf(f, shape), most = Math.max(1e-12, ...[...at.values()].map((places) => selfOf(spots, places)));
  const hot = new Set([...at].filter(([, places]) => anyOf(spots, places)).map(([i]) => i)), near = (i) => [-3, -2, -1, 0, 1, 2, 3].some((d) => hot.has(i + d));
  let address = BigInt("0x" + shape.first), line = 0, place = "", gap = false;
  const rows = [];
  for (let i = 0; i < shape.step.length; i++) {
    address += BigInt(shape.step[i]);
    line += shape.line[i];
    if (quiet && !near(i)) {
      gap = true;
      continue;
    }
    const file = code.files[shape.file[i]], here = `${file}:${line}`;
    if (here !== place || gap) rows.push(lineRow(here, text(o, file, line), gap));
    place = here;
    gap = false;
    const places = at.get(i) || [];
    rows.push(row(spots, places, { hot: selfOf(spots, places) > most / 4, at: i, address, text: code.texts[shape.text[i]] }));
  }
  return table(f, rows);
}

// addresses lists the places of a function whose machine code is not here.
export function addresses(o) {
  const { m, spots, f } = o, frame = new Map();
  for (let i = 0; i < m.frames.line.length; i++) if (m.functions.name[m.frames.function[i]] === f.name) frame.set(`@${m.frames.place[i]}`, i);
  let address = BigInt("0x" + f.first), before = "";
  const rows = [];
  f.places.forEach((p, i) => {
    address += BigInt(f.step[i]);
    if (!anyOf(spots, [p])) return;
    const at = frame.get(p), file = at === undefined ? "" : m.files[m.frames.file[at]].split("/").pop(), where = at === undefined ? "" : `${file}:${m.frames.line[at]}`;
    if (where !== before) rows.push(lineRow(where, at === undefined ? "" : text(o, file, m.frames.line[at]), false));
    before = where;
    rows.push(row(spots, [p], { hot: false, at: i, address, text: "" }));
  });
  return table(f, rows);
}
