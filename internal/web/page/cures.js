// The ranked cures: one row each, with all that is known of it below.
import { button, el, prose, replace, table } from "./dom.js";
import { beside, bytes, count, exactly, halfOf, percent, seconds, share, shortName, sizeSpan, span, unknown } from "./format.js";
import { change } from "./state.js";
import { explain, term } from "./terms.js";

const firstRows = 10;

const place = (f) => `${f.site.file}:${f.site.line}`;

// amounts writes what is allocated per operation or per second, whichever is known.
function amounts(f) {
  const c = f.cost, i = c.intervals;
  if (c.bytes_per_op !== null) return `${span(i.bytes_per_op, bytes, "")}/op, ${span(i.objects_per_op, count, "")} objects/op`;
  if (c.bytes_per_s !== null) return `${span(i.bytes_per_s, bytes, "")}/s, ${span(i.objects_per_s, count, "")} objects/s`;
  if (c.bytes !== null) return `${bytes(c.bytes)}, ${count(c.objects)} objects in all`;
  return unknown;
}

const columns = [["malloc", "malloc"], ["zeroing", "zeroing"], ["growcopy", "growslice copying"], ["assist", "mark assist"], ["churn", "churn"], ["retention", "retention"]];

function costRows(f) {
  return el("dl", { class: "costs" }, columns.filter(([k]) => f.cost.intervals[k] && f.cost.intervals[k].value !== 0)
    .map(([k, word]) => el("div", {}, el("dt", {}, term(word)), el("dd", {}, share(f.cost.intervals[k])))));
}

function escape(f) {
  if (!f.escape) return null;
  const steps = f.escape.flow.flatMap((s) => [`${s.dst} ← ${s.src}`, ...s.edges.map((e) => `   from ${e.expr} (${e.why}) at ${e.file}:${e.line}`)]);
  return el("div", {}, el("p", {}, term("escape", "On the heap because"), " ", prose(f.escape.reason), "."),
    steps.length > 0 && el("details", {}, el("summary", {}, "The compiler's explanation"), el("pre", {}, steps.join("\n"))));
}

function stacks(f) {
  const all = [{ share: f.stack_share, frames: f.stack }, ...f.stacks].filter((s) => s.frames.length > 0);
  if (all.length === 0) return null;
  return el("details", {}, el("summary", {}, `Called from ${all.length === 1 ? "one stack" : `${all.length} stacks`}`),
    all.map((s) => el("div", { class: "stack" }, s.share !== null && el("p", {}, `${percent(s.share)} of the cost`),
      el("ol", {}, s.frames.map((x) => el("li", {}, shortName(x.function), " ", el("small", {}, `${x.file.split("/").slice(-2).join("/")}:${x.line}`)))))));
}

function sizes(f) {
  if (f.sizes.length === 0) return null;
  const most = Math.max(...f.sizes.map((s) => s.objects || 0));
  return el("details", {}, el("summary", {}, "Sizes of the blocks"),
    el("ul", { class: "bars" }, f.sizes.map((s) => el("li", {}, el("span", {}, bytes(s.block_bytes)),
      el("i", { style: { width: `${(60 * (s.objects || 0)) / most}%` } }), el("span", {}, count(s.objects))))));
}

function mix(f) {
  if (f.mix.length < 2) return null;
  return el("p", { class: "why" }, "Allocates ", f.mix.map((m) => `${m.kind || "other"}${m.via ? ` in ${shortName(m.via)}` : ""} ${percent(m.objects_share)}`).join(", "), " of its objects.");
}

// callers names those of a helper that matter, and says where a change belongs.
function callers(f) {
  if (f.callers.length === 0) return null;
  const kept = ["result", "stored", "shared"].includes(f.life.end);
  const says = f.remedy.code !== "leave-it" ? "One change here serves its callers "
    : f.life.end === "frame" && f.life.function !== f.site.function ? "It dies in its callers, so a change belongs there: "
      : kept ? "What it makes is kept, so only its callers can ask for less: " : "Its callers are ";
  return el("p", {}, says, f.callers.map((c, i) => [i > 0 ? ", " : "",
    button(shortName(c.function), () => change({ view: "source", fn: c.function, line: c.line, file: c.file }), { class: "link" }), ` ${percent(c.share)}`]), ".");
}

function byRun(f) {
  if (f.by_run.length < 2) return null;
  return el("details", {}, el("summary", {}, "In each run"), table("Cost by run", [
    { title: "run", cell: (r) => r.run, class: "name" }, { title: "CPU", cell: (r) => share(r.cost.cpu_share) },
    { title: "bytes/op", cell: (r) => sizeSpan(r.cost.intervals.bytes_per_op) },
  ], f.by_run));
}

function others(f) {
  if (f.others.length === 0) return null;
  return el("details", {}, el("summary", {}, `${f.others.length === 1 ? "Another cure" : `${f.others.length} other cures`} that would fit`),
    el("ul", {}, f.others.map((o) => el("li", {}, el("span", { class: "code" }, o.code), " ", prose(o.text), ". ", o.prediction.cpu_share ? `Would save ${share(o.prediction.cpu_share)} of CPU.` : ""))));
}

// detail is everything the report says of one finding.
export function detail(f, inSource) {
  return el("div", { class: "detail" },
    inSource ? null : el("p", { class: "todo" }, el("span", { class: "chip" }, term("safety", f.remedy.safety || "none")), " ", f.remedy.text ? [prose(f.remedy.text), "."] : "No cure is named."),
    f.remedy.why && el("p", { class: "why" }, "Why: ", prose(f.remedy.why), "."),
    inSource && f.remedy.safety ? el("p", {}, el("span", { class: "chip" }, term("safety", f.remedy.safety))) : null,
    el("p", {}, term("saving", "Would save"), " ", el("b", {}, share(f.prediction.cpu_share)), " of CPU", beside(f.prediction),
      f.prediction.bytes_per_op !== null && `, ${bytes(f.prediction.bytes_per_op)}/op`, f.prediction.objects_per_op !== null && `, ${count(f.prediction.objects_per_op)} objects/op`,
      f.prediction.basis && el("small", {}, ` – ${f.prediction.basis}`)),
    el("p", {}, "Costs ", el("b", {}, share(f.cost.cpu_share)), ` of CPU; allocates ${amounts(f)}`, f.via && ` through ${f.via}`, f.run && ` in ${f.run}`, "."),
    costRows(f), escape(f), mix(f), callers(f),
    el("p", {}, term("lifetime", "Lifetime"), ": ", f.lifetime.class, f.lifetime.mean_ns !== null && `, ${seconds(f.lifetime.mean_ns / 1e9)} on average`, f.cost.in_use_bytes ? `; ${sizeSpan(f.cost.intervals.in_use_bytes)} in use` : "", "."),
    stacks(f), sizes(f), byRun(f), others(f),
    el("p", { class: "acts noprint" },
      inSource ? null : button("Show the source", () => change({ view: "source", fn: f.site.function, line: f.site.line, file: f.site.file })),
      button("Show in the flame graph", () => change({ view: "flame", q: exactly(f.site.function), zoom: null }))));
}

// entriesOf puts a head before the lines of each function that has several, with what they save
// together, and marks what cannot be told from the one above it.
function entriesOf(report) {
  const heads = new Map((report.functions || []).map((f) => [f.ranks[0], f]));
  const out = [];
  let above = null, aboveInFunction = null, left = 0;
  const tied = (a, b) => (a && b && Math.abs(a.value - b.value) <= halfOf(a) + halfOf(b) ? "tied" : "");
  for (const f of report.findings) {
    const head = heads.get(f.rank);
    if (head) {
      out.push({ head, mark: tied(head.prediction.cpu_share, above) });
      above = head.prediction.cpu_share, aboveInFunction = null, left = head.ranks.length;
    }
    const own = f.remedy.code === "leave-it" ? null : f.prediction.cpu_share;
    out.push({ f, mark: tied(own, left > 0 ? aboveInFunction : above), part: left > 0 });
    if (left > 0) aboveInFunction = own, left--;
    else above = own;
  }
  return out;
}

const signs = { tied: "=" };

function row(f, max, mark, part) {
  const saved = f.prediction.cpu_share;
  const width = (v) => `${Math.max(0, Math.min(100, (100 * v) / max))}%`;
  const bar = saved && max > 0 ? el("div", { class: "meter", "aria-hidden": "true" }, el("i", { style: { width: width(saved.value) } }), el("u", { style: { left: width(Math.max(saved.low, 0)), width: width(saved.high - Math.max(saved.low, 0)) } })) : null;
  const body = el("div", { class: "body" });
  const d = el("details", { class: part ? "cure part" : "cure", id: `cure-${f.rank}`, on: { toggle: () => d.open && body.childElementCount === 0 && replace(body, detail(f)) } },
    el("summary", {}, el("span", { class: "rank" }, f.rank, mark ? el("span", { class: "mark" }, term(mark, signs[mark])) : null),
      el("span", { class: "what" }, el("b", { class: "where" }, place(f)), el("span", { class: "title" }, ` ${f.title} in ${shortName(f.site.function)}`), el("span", { class: "code" }, f.remedy.code), el("span", { class: "text" }, prose(f.remedy.text))),
      el("span", { class: "saves" }, saved || f.remedy.code !== "leave-it" ? el("b", { data: { saving: f.rank } }, share(saved)) : el("span", { class: "dim" }, `costs ${share(f.cost.cpu_share)}`), bar)), body);
  return d;
}

function line(e, max) {
  if (e.f) return row(e.f, max, e.mark, e.part);
  const saved = e.head.prediction.cpu_share;
  return el("div", { class: "function-of-cures", data: { ranks: e.head.ranks.join(",") } },
    el("span", { class: "rank" }, e.mark ? el("span", { class: "mark" }, term(e.mark, signs[e.mark])) : null),
    el("span", { class: "what" }, el("b", { class: "where" }, shortName(e.head.function)), ` ${e.head.ranks.length} lines`),
    el("span", { class: "saves" }, saved ? el("b", {}, share(saved)) : null));
}

// advice is a row of what to change for the program as a whole.
function advice(a) {
  return el("details", { class: "cure advice" },
    el("summary", {}, el("span", { class: "rank" }),
      el("span", { class: "what" }, el("b", {}, a.title), " ", el("span", { class: "code" }, a.code), el("span", { class: "text" }, prose(a.text))),
      el("span", { class: "saves" }, a.prediction.cpu_share ? el("b", {}, share(a.prediction.cpu_share)) : null)),
    el("div", { class: "body" }, el("div", { class: "detail" },
      el("p", {}, el("span", { class: "chip" }, term("safety", a.safety)), " ", a.why && ["Why: ", prose(a.why), "."]),
      a.prediction.basis && el("p", { class: "why" }, "The saving is ", a.prediction.basis, "."))));
}

// shownOf says how many findings are listed and what shows the others, as the text report does.
function shownOf(report, hidden) {
  const rows = report.findings.length, below = report.below_threshold;
  if (hidden + below === 0) return null;
  const threshold = report.threshold ? [" of ", percent(report.threshold)] : null;
  return [`${rows - hidden} of ${rows + below} findings shown. `, hidden > 0 && `${hidden} more: the button above. `,
    below > 0 && [`${below} below the `, term("threshold", "threshold"), threshold, ": ", el("code", { class: "code" }, "-threshold 0"), "."]];
}

// cureList is the section of what to change: for the program as a whole, and line by line,
// each by what it saves.
export function cureList(report) {
  const wide = [...report.advice].sort((a, b) => (b.prediction.cpu_share ? b.prediction.cpu_share.value : 0) - (a.prediction.cpu_share ? a.prediction.cpu_share.value : 0));
  if (report.findings.length + wide.length === 0) return el("section", {}, el("h2", {}, "What to change"), el("p", {}, "Nothing: no line costs enough to be worth a change."), el("p", { class: "note shown" }, shownOf(report, 0)));
  const max = Math.max(0, ...report.findings.map((f) => (f.prediction.cpu_share ? f.prediction.cpu_share.high : 0)));
  const all = entriesOf(report), marks = all.map((e) => e.mark);
  const cut = all.findIndex((e) => e.f && e.f.rank > firstRows || e.head && e.head.ranks[0] > firstRows);
  const list = el("div", { class: "cures" }, (cut < 0 ? all : all.slice(0, cut)).map((e) => line(e, max)));
  const rest = cut < 0 ? [] : all.slice(cut), hidden = rest.filter((e) => e.f).length;
  const shown = el("p", { class: "note shown" }, shownOf(report, hidden));
  const more = hidden === 0 ? null : button(`Show ${hidden} more`, () => {
    rest.forEach((e) => list.append(line(e, max)));
    more.remove();
    replace(shown, shownOf(report, 0));
  });
  return el("section", { class: "what-to-change" }, el("h2", {}, "What to change"),
    wide.length > 0 ? [el("h3", {}, "The program as a whole"), el("div", { class: "cures" }, wide.map(advice))] : null,
    report.findings.length > 0 ? el("h3", {}, "Line by line") : null,
    list, more, shown, hidden > 0 && el("p", { class: "only-print" }, `${count(hidden)} more in the file itself.`),
    el("p", { class: "note" }, report.totals.memory_share ? "Ranked by the share of CPU that each saves, " : "Ranked by the bytes that each saves, ", term("saving", "predicted"), " with its ", term("interval", "95 % interval"), ". ",
      ["tied"].filter((k) => marks.includes(k)).map((k) => [el("b", {}, signs[k]), " ", explain(k), " "])));
}
