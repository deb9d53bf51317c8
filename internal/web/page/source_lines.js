// Lines of source with what they weigh, and what heaptrim says of them.
import { button, el, prose } from "./dom.js";
import { share } from "./format.js";
import { detail } from "./cures.js";
import { plain } from "./measure.js";
import { spotsOf } from "./spots.js";
import { term } from "./terms.js";

// editors are links that open a line in an editor.
export const editors = {
  "VS Code": (path, line) => `vscode://file${encodeURI(path)}:${line}`,
  "GoLand": (path, line) => `goland://open?file=${encodeURIComponent(path)}&line=${line}`,
  "Zed": (path, line) => `zed://file${encodeURI(path)}:${line}`,
};

// jump is a link that opens a line in an editor, where the file's place on disk
// is known, and the place to copy.
export function jump(report, editor, file, line) {
  const root = report.target.module_dir, path = file.startsWith("/") || /^[A-Za-z]:/.test(file) ? file : root ? `${root}/${file}` : "";
  const copy = button("Copy", () => navigator.clipboard.writeText(`${file}:${line}`).then(() => { copy.textContent = "Copied"; }), { class: "quiet", title: "Copy file:line" });
  return el("span", { class: "jump" }, path && editors[editor] ? el("a", { href: editors[editor](path.startsWith("/") ? path : "/" + path, line) }, `${file}:${line}`) : `${file}:${line}`, " ", copy);
}

// What stands beside the weight that is chosen.
const beside = [["cost", "CPU + GC", "cost"], ["alloc_space", "bytes", "alloc_space"], ["alloc_objects", "objects", "alloc_objects"]];

// columns are what is shown of each line: {title, text(spot)}.
function columns(stacks, now) {
  if (!stacks) return [];
  const own = spotsOf(stacks, now, "spot");
  const out = [
    { id: "self", label: "self", title: term("self"), text: (s) => own.write(s, true) },
    { id: "total", label: "total", title: term("total"), text: (s) => own.write(s), heat: (s) => own.total(s) },
  ];
  if (own.compare) out.push({ id: "change", label: "change", title: "change", text: (s) => (own.change(s) === 0 ? "" : plain(own.mode, own.change(s))) });
  for (const [id, title, word] of beside) {
    if (id === own.mode.id || !stacks.modes.some((x) => x.id === id)) continue;
    const other = spotsOf(stacks, { ...now, weight: id, unit: "", mean: "" }, "spot");
    out.push({ id, label: title, title: term(word, title), text: (s) => other.write(s) });
  }
  return out;
}

// bare are the lines of a function that stand in stacks, without their text.
function bare(stacks, f) {
  if (!stacks) return [];
  const { frames, functions, files } = stacks.m, lines = new Set();
  for (let i = 0; i < frames.line.length; i++) if (functions.name[frames.function[i]] === f.name && files[frames.file[i]] === f.file) lines.add(frames.line[i]);
  return [...lines].sort((a, b) => a - b).map((line) => ({ line, text: "" }));
}

// listing is a function's lines; o: {data, stacks, now, f, part, line}. Without a
// part, only lines that stand in stacks are there, by number.
export function listing({ data, stacks, now, f, part, line }) {
  const cells = columns(stacks, now), file = stacks ? stacks.m.files.indexOf(f.file) : -1, spot = (n) => `${file}:${n}`;
  const lines = part ? part.lines.map((text, i) => ({ line: part.first + i, text })) : bare(stacks, f);
  const heat = (cells.find((c) => c.heat) || { heat: () => 0 }).heat, most = Math.max(1e-12, ...lines.map((l) => heat(spot(l.line))));
  const findings = data.report.findings.filter((x) => x.site.file === f.file);
  const rows = lines.flatMap((l) => row({ ...l, cells, spot: spot(l.line), here: l.line === line, heat: Math.max(0, heat(spot(l.line)) / most), found: findings.filter((x) => x.site.line === l.line) }));
  const num = (title, id) => el("th", { scope: "col", class: "num", data: { column: id } }, title);
  return el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Source with costs" }, el("table", { class: "listing lines" },
    el("caption", { class: "unseen" }, `Source of ${f.name}`),
    el("thead", {}, el("tr", {}, cells.map((c) => num(c.title, c.id)), num("line", "line"), el("th", { scope: "col" }, "source"))),
    el("tbody", {}, rows)));
}

function row({ line, text, cells, spot, here, heat, found }) {
  const tr = el("tr", { class: (found.length > 0 ? "hot " : "") + (here ? "here" : ""), data: { line: String(line) } },
    cells.map((c, i) => el("td", { class: "num", data: { column: c.id, label: c.label }, style: i === 0 && heat > 0 ? { "box-shadow": `inset ${Math.round(2 + 6 * Math.min(1, heat))}px 0 0 var(--alloc)` } : {} }, c.text(spot))),
    el("td", { class: "num dim lineno" }, String(line)), el("td", { class: "text" }, el("code", {}, text.replace(/\t/g, "    ") || " ")));
  if (found.length === 0) return [tr];
  return [tr, el("tr", { class: "about" }, el("td", { colspan: String(cells.length + 2) }, found.map((x) => el("details", { open: here },
    el("summary", {}, el("span", { class: "code" }, x.remedy.code), " ", x.escape ? el("span", { class: "dim" }, prose(x.escape.reason), ". ") : null, prose(x.remedy.text || x.title), ". ", x.prediction.cpu_share ? el("b", {}, `Would save ${share(x.prediction.cpu_share)} of CPU.`) : ""),
    detail(x, true)))))];
}
