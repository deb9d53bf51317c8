// The overview: the headline, where CPU goes, what to change, what is missing.
import { button, el, prose, table } from "./dom.js";
import { beside, bytes, count, percent, seconds, share, shortName, span, trimmed, unknown } from "./format.js";
import { decompositionBar } from "./bar.js";
import { cureList } from "./cures.js";
import { term } from "./terms.js";

function headline(report) {
  const t = report.totals;
  if (!t.memory_share) return el("p", { class: "headline" }, t.samples ? `The CPU profile has only ${count(t.samples)} sample${t.samples === 1 ? "" : "s"}` : "No CPU profile was recorded", ": what follows is in bytes and objects.");
  const cures = report.findings.filter((f) => f.remedy.code && f.remedy.code !== "leave-it").length, of = report.together_of;
  const which = of === cures ? (cures === 1 ? "the cure below would" : `the ${cures} cures below would`) : `${of} of the ${cures} cures below would`;
  const saved = report.together.cpu_share;
  return el("p", { class: "headline" },
    term("memory management", "Memory management"), " takes ", el("b", { data: { figure: "memory_share" } }, share(t.memory_share)), " of CPU time",
    of > 0 && saved ? [`; ${which} save `,
      el("b", { data: { figure: "together" } }, share(saved)), " of CPU ", of === 1 ? term("saving", "in all") : term("saving", "together"), beside(report.together), "."] : ".");
}

function figure(word, label, value, note) {
  return value === unknown ? null : el("div", { class: "figure" },
    el("dt", {}, term(word, label)), el("dd", {}, value, note && el("small", {}, " " + note)));
}

function figures(report) {
  const t = report.totals;
  const ns = (v) => (v === null ? unknown : seconds(v / 1e9));
  const rate = (v, f) => (v === null ? unknown : f(v) + "/s");
  return el("dl", { class: "figures" },
    figure("collector", "Collector", share(t.collector_share), t.gctrace_share === null ? "of CPU" : `of CPU; gctrace, by the clock: ${percent(t.gctrace_share)}`),
    figure("allocation rate", "Allocation rate", rate(t.bytes_per_s, bytes)),
    figure("cycle", "Collections", rate(t.cycles_per_s, trimmed), t.cycles === null ? "" : `${count(t.cycles)} in all`),
    figure("live heap", "Live heap", bytes(t.live_heap_bytes), "median"),
    figure("heap goal", "Heap goal", t.no_heap_goal && t.heap_goal_bytes === null ? "none" : bytes(t.heap_goal_bytes), t.no_heap_goal ? "collection is off in the end" : "median"),
    figure("pause", "Pauses", ns(t.pause_p50_ns), t.pause_max_ns === null ? "" : `median, longest ${ns(t.pause_max_ns)}`),
    remainder(t.remainder));
}

// ofRun says of which of several runs the figures are.
function ofRun(report) {
  return report.runs.length < 2 || !report.totals.run ? null
    : el("p", { class: "note" }, `Collections, heap, pauses and rates are those of ${report.totals.run}, in a pass without a profile; shares of CPU are means of all ${count(report.runs.length)} runs.`);
}

// remainder is the unattributed cost of the collector, or the excess of the lines' charges over it.
function remainder(r) {
  const beyond = r && r.high < 0 && r.value <= -0.0005; // no less than a site needs for a row
  return beyond
    ? figure("overcharged", "Charged in excess", share({ value: -r.value, low: -r.high, high: -r.low }), "of CPU")
    : figure("remainder", "Unattributed", !r || Math.abs(r.value) < 0.0005 ? unknown : share(r), "of CPU");
}

function runs(report) {
  if (report.runs.length < 2) return null;
  const per = (v, f) => (v === null ? unknown : f(v));
  return el("section", {}, el("h2", {}, "Runs"),
    table("Runs", [
      { title: "run", cell: (r) => r.name, class: "name" },
      { title: "memory share", cell: (r) => share(r.memory_share) },
      { title: "time/op", cell: (r) => per(r.ns_per_op, (v) => seconds(v / 1e9)) },
      { title: "bytes/op", cell: (r) => per(r.bytes_per_op, bytes) },
      { title: "objects/op", cell: (r) => per(r.allocs_per_op, count) },
      { title: "cycles per 1000 ops", cell: (r) => per(r.cycles_per_1000_ops, trimmed) },
    ], report.runs));
}

function rules(report) {
  if (report.vet.length === 0) return null;
  return el("section", {}, el("h2", {}, "Source rules on hot lines"),
    table("Source rules", [
      { title: "line", cell: (h) => `${h.site.file}:${h.site.line}`, class: "name" },
      { title: "rule", cell: (h) => el("span", { class: "code" }, h.code) },
      { title: "what", cell: (h) => prose(h.message), class: "wide" },
      { title: "CPU below it", cell: (h) => share(h.cpu_share) },
    ], report.vet));
}

function missing(report) {
  if (report.missing.length + report.warnings.length === 0) return null;
  return el("section", { class: "missing" }, el("h2", {}, "Not known"),
    el("ul", {}, report.missing.map((m) => el("li", {}, "Not recorded: ", el("b", {}, m.what), m.adds && ` – would add ${m.adds}`, ".")),
      report.warnings.map((w) => el("li", {}, w))));
}

function environment(report) {
  const e = report.environment;
  const rows = [
    ["Go", [e.go_version, e.goos && `${e.goos}/${e.goarch}`].filter(Boolean).join(" ")], ["GOMAXPROCS", e.gomaxprocs], ["GOGC", e.gogc], ["GOMEMLIMIT", e.gomemlimit],
    ["GODEBUG", e.godebug], ["GOEXPERIMENT", e.goexperiment], ["CPU", [e.cpu_model, e.num_cpu && `${e.num_cpu} processors`].filter(Boolean).join(", ")],
    ["memory", e.memory_bytes && bytes(e.memory_bytes)], ["cgroup memory", e.cgroup_limit_bytes && bytes(e.cgroup_limit_bytes)], ["cgroup CPU", e.cgroup_cpu],
    ["huge pages", e.transparent_huge_pages], ["kernel", e.kernel], ["CPU sampled", report.totals.cpu_seconds && seconds(report.totals.cpu_seconds)],
    ["CPU samples", report.totals.samples && count(report.totals.samples)], ["written by", report.tool],
  ].filter(([, v]) => v);
  return el("details", { class: "environment" }, el("summary", {}, "Where and how this was recorded"),
    el("dl", {}, rows.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
}

// setApart lists what is allocated by tests and by nobody who can be named.
function setApart(report) {
  if (report.set_apart.length === 0) return null;
  return el("details", {}, el("summary", {}, `Excluded: ${report.set_apart.length} ${report.set_apart.length === 1 ? "line" : "lines"} without your code on the stack, of tests, or in CPU samples alone`),
    table("Excluded", [
      { title: "function", cell: (f) => shortName(f.site.function) || "–", class: "name" },
      { title: "line", cell: (f) => `${f.site.file}:${f.site.line}`, class: "name" },
      { title: "CPU", cell: (f) => share(f.cost.cpu_share) },
      { title: "bytes", cell: (f) => span(f.cost.intervals.bytes_per_op, bytes, "") === unknown ? bytes(f.cost.bytes) : bytes(f.cost.bytes_per_op) + "/op" },
    ], report.set_apart));
}

function served(data) {
  const parts = data.views.parts;
  if (!parts) return null;
  const command = (p) => (p.endsWith(".pprof") ? `go tool pprof -http=: ${location.origin}/bundle/${p}` : "");
  return el("details", { class: "served" }, el("summary", {}, `The recording: ${parts.length} files, and the report as JSON`),
    el("ul", {}, el("li", {}, el("a", { href: "report.json" }, "report.json")), parts.map((p) => el("li", {}, el("a", { href: "bundle/" + p.split("/").map(encodeURIComponent).join("/") }, p), " ", command(p) && el("code", { class: "code" }, command(p))))));
}

// overviewView is the first view.
export const overviewView = {
  id: "overview",
  title: "Overview",
  there: () => true,
  make(data) {
    const report = data.report;
    const node = el("div", { class: "overview" },
      el("section", { class: "first" }, headline(report)), cureList(report),
      el("section", {}, el("h2", {}, "Why"), report.totals.why && el("p", { class: "why", data: { figure: "why" } }, report.totals.why), decompositionBar(report), figures(report), ofRun(report)),
      runs(report), rules(report), missing(report), setApart(report), environment(report), served(data),
      el("p", { class: "note noprint" }, button("Print", () => window.print(), { class: "quiet" }), ` Shares are of CPU time without idle marking, ± is the ${""}`, term("interval", "95 % interval"), "."));
    return { node, show() {} };
  },
};
