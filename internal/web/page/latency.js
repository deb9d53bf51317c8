// Latency: requests and goroutines of the recorded trace, and what their time
// went into.
import { button, el, replace, select } from "./dom.js";
import { count, percent, seconds, shortName } from "./format.js";
import { term } from "./terms.js";

// The parts of a request's time, in the order of the bar. gc marks those that
// memory management takes for itself.
const parts = [
  ["running", "running", false, "On a processor, or descheduled by the operating system for shorter than the recording tells."],
  ["assist_cpu", "assist on CPU", true, "Marking in place of the collector, because the goroutine allocated."],
  ["assist_parked", "assist parked", true, "In an assist, waiting for others to mark."],
  ["sweep", "sweep", true, "Sweeping in order to allocate."],
  ["stw", "program stopped", true, "Waiting for the world to go on, or stopping it."],
  ["wait_mark", "waiting for a processor during marking", false, "Ready to run while the collector marked: some of it would have been without a collection too."],
  ["wait_outside", "waiting for a processor", false, "Ready to run, outside of a mark phase."],
  ["descheduled", "descheduled", false, "The operating system certainly ran something else: a lower bound, from what each thread ran and waited."],
  ["syscall", "system call", false, "In a system call."],
  ["blocked_network", "network", false, "Blocked on the network or a file that is polled."],
  ["blocked_channel", "channel", false, "Blocked on a channel or in a select."],
  ["blocked_sync", "lock", false, "Blocked on a lock, a condition or a group."],
  ["blocked_sleep", "asleep", false, "Asleep."],
  ["blocked_collector", "blocked on the collector", false, "Blocked on the collector, but not in an assist."],
  ["blocked_other", "blocked, other", false, "Blocked for another reason."],
  ["unknown", "unknown", false, "The trace does not say."],
];

const ns = (v) => seconds(v / 1e9);
const sum = (split) => Object.values(split).reduce((s, v) => s + v, 0);
const memory = (split) => parts.reduce((s, [key, , gc]) => s + (gc ? split[key] || 0 : 0), 0);

// bar shows a split; of is what its whole width stands for.
function bar(split, of) {
  const total = sum(split);
  return el("div", { class: "split", style: { width: `${Math.max(2, (100 * total) / of)}%` }, role: "img", "aria-label": words(split) },
    parts.filter(([key]) => split[key] > 0).map(([key, label, , what]) => el("div", {
      class: "p-" + key, style: { "flex-grow": String(split[key]) }, data: { tip: `${label}: ${ns(split[key])}, ${percent(split[key] / total)}. ${what}` },
    })));
}

// words lists the largest parts of a split.
function words(split) {
  const total = sum(split);
  return parts.filter(([key]) => split[key] > 0.005 * total).sort((a, b) => split[b[0]] - split[a[0]]).slice(0, 4).map(([key, label]) => `${label} ${percent(split[key] / total)}`).join(", ");
}

function legend(splits) {
  return el("ul", { class: "legend inline" }, parts.filter(([key]) => splits.some((s) => s[key] > 0)).map(([key, label, , what]) => el("li", {}, el("i", { class: "p-" + key }), el("span", { class: "term", tabIndex: 0, data: { tip: what } }, label))));
}

function line(label, value, split, of) {
  return el("li", {}, el("span", { class: "what" }, label), el("span", { class: "num" }, value), el("div", { class: "track" }, bar(split, of)), el("small", {}, words(split)));
}

// kindOf shows the requests of one name.
function kindOf(k) {
  const mean = (split, n) => Object.fromEntries(Object.entries(split).map(([key, v]) => [key, n > 0 ? v / n : 0]));
  const all = mean(k.parts_ns, k.count), slow = mean(k.slow_parts_ns, k.slow_count), most = Math.max(sum(slow), sum(all));
  const list = (title, rows) => (rows.length === 0 ? null : el("div", {}, el("h3", {}, title),
    el("ul", { class: "requests" }, rows.map((r) => line(`at ${ns(r.start_ns)}`, ns(r.length_ns), r.parts_ns, Math.max(...rows.map((x) => x.length_ns)))))));
  return el("div", {}, el("dl", { class: "figures" },
    [["requests", count(k.count)], ["median", ns(k.p50_ns)], ["90 % within", ns(k.p90_ns)], [term("p99", "99 % within"), ns(k.p99_ns)], ["longest", ns(k.max_ns)],
      ["memory management", `${percent(memory(k.parts_ns) / sum(k.parts_ns))} of all, ${percent(memory(k.slow_parts_ns) / Math.max(1, sum(k.slow_parts_ns)))} of the slowest hundredth`]]
      .map(([label, v]) => el("div", { class: "figure" }, el("dt", {}, label), el("dd", {}, v)))),
  legend([k.parts_ns, k.slow_parts_ns]),
  el("ul", { class: "requests" }, line("mean of all", ns(sum(all)), all, most), k.slow_count > 0 ? line(`mean of the slowest ${k.slow_count}`, ns(sum(slow)), slow, most) : null),
  list("The slowest", k.slowest), list("Those with the most memory management", k.most_memory));
}

function groups(list) {
  const rows = list.filter((g) => !g.system && memory(g.parts_ns) > 0).sort((a, b) => memory(b.parts_ns) - memory(a.parts_ns)).slice(0, 30);
  const paid = Math.max(1, ...rows.map((g) => memory(g.parts_ns)));
  const only = (split) => Object.fromEntries(parts.filter(([, , gc]) => gc).map(([key]) => [key, split[key] || 0]));
  return el("section", {}, el("h2", {}, "Delayed goroutines"),
    el("p", { class: "note" }, "Time that goroutines spent on memory management, by the function they began in, or the HTTP handler they served."),
    el("ul", { class: "requests" }, rows.map((g) => line(shortName(g.handler || g.start) || "not known", `${ns(memory(g.parts_ns))}, ${percent(memory(g.parts_ns) / sum(g.parts_ns))} of its time`, only(g.parts_ns), paid))));
}

// latencyView is there when the recording has a trace with delayed goroutines.
export const latencyView = {
  id: "latency",
  title: "Latency",
  there: (data) => Boolean(data.views.latency),
  make(data) {
    const v = data.views.latency, kinds = v.payers.requests;
    const box = el("div", {}), name = (k) => `${k.name} (${k.kind}, ${count(k.count)})`;
    const pick = (i) => replace(box, kinds.length > 0 ? kindOf(kinds[i]) : el("p", {}, "The trace has no tasks and no regions: mark a request with runtime/trace.NewTask or trace.WithRegion around it."));
    pick(0);
    const pauses = v.pauses.map((p) => `${p.reason} ${count(p.count)}×, longest ${ns(p.max_ns)}`).join("; ");
    const node = el("div", { class: "latency-view" }, v.problem && el("p", { class: "bad" }, `The trace is incomplete: ${v.problem}`),
      el("p", {}, `A trace of ${ns(v.length_ns)}: ${count(v.mark.count)} mark phases, ${percent(v.mark.total_ns / v.length_ns)} of the time; program stopped ${ns(v.payers.stw_ns)} in all${pauses ? ` (${pauses})` : ""}. A trace counts every event: its times have no sampling error.`),
      kinds.length > 1 ? select("Requests", kinds.map((k, i) => [String(i), name(k)]), "0", (i) => pick(Number(i))) : kinds.length === 1 ? el("h2", {}, name(kinds[0])) : null,
      box, groups(v.payers.groups), v.dropped > 0 ? el("p", { class: "note" }, `${v.dropped} more are in heaptrim trace -json.`) : null, button("Print", () => window.print(), { class: "quiet noprint" }));
    return { node, show() {} };
  },
};
