// The recording over time, with one cursor and one zoom for all charts.
import { button, el, replace, select } from "./dom.js";
import { chart } from "./chart.js";
import { bytes, seconds, trimmed } from "./format.js";
import { change } from "./state.js";
import { onTheme } from "./theme.js";
import { term } from "./terms.js";

const at = (v) => seconds(v);

// rssNote says what is known of the resident set.
function rssNote(run) {
  const peak = run.peak_rss_bytes > 0 ? `largest resident set of the process ${bytes(run.peak_rss_bytes)}` : "";
  if (run.metrics.rss.length > 0) return peak;
  return [peak, "RSS over time was not recorded: held memory is close to it"].filter(Boolean).join("; ");
}

// charts lists what a run has data for.
function charts(run) {
  const c = run.cycles, m = run.metrics, out = [];
  const line = (label, values, color, more) => ({ label, values, color, ...more });
  if (c.at.length > 0) {
    out.push({ title: "Heap at each collection", xs: c.at, y: bytes, binary: true, series: [
      line("goal", c.goal, "line5", { kind: "steps", dash: [6, 4] }), line("end of marking", c.heap_end, "line2"), line("live after it", c.heap_live, "line1")] });
  }
  if (m.held.some((x) => x > 0)) { // of a live service, only its goroutines are counted
    out.push({ title: "Memory", note: rssNote(run), xs: m.at, y: bytes, binary: true, series: [
      ...(m.rss.length > 0 ? [line("RSS", m.rss.map((x) => x || null), "line3")] : []),
      line("held by Go", m.held, "line4"), line("goal", m.goal, "line5", { dash: [6, 4] }), line("heap objects", m.objects, "line2"), line("live", m.live, "line1")] });
    out.push({ title: "Allocation rate", xs: m.at, y: (v) => bytes(v) + "/s", binary: true, series: [line("allocated", m.alloc_rate, "line2")] });
    if (m.assist_cpu.some((x) => x > 0)) out.push({ title: "Mark assist", xs: m.at, y: (v) => trimmed(v), series: [line("processors busy", m.assist_cpu, "line4")] });
  }
  if (c.at.length > 0) {
    out.push({ title: "Pauses", note: run.thinned > 1 ? `the longest of every ${run.thinned} cycles` : "both of each cycle", xs: c.at, y: seconds, series: [line("program stopped", c.pause, "line2", { kind: "points" })] });
    out.push({ title: "CPU of each collection", xs: c.at, y: seconds, series: [
      line("background marking", c.background, "line1", { kind: "points" }), line("mark assist", c.assist, "line4", { kind: "points" }), line("idle marking", c.idle, "line5", { kind: "points" })] });
  }
  if (m.at.length > 0 && m.goroutines.some((x) => x > 0)) out.push({ title: "Goroutines", xs: m.at, y: (v) => trimmed(v), series: [line("goroutines", m.goroutines, "line3")] });
  return out;
}

class Time {
  constructor(data) {
    this.runs = data.views.time;
    this.box = el("div", { class: "charts" });
    this.choice = this.runs.length > 1 ? select("Run", this.runs.map((r) => [r.run, r.run]), this.runs[0].run, (v) => change({ run: v })) : null;
    this.node = el("div", { class: "time-view" },
      el("div", { class: "row" }, this.choice, button("Whole recording", () => this.zoom(null), { class: "quiet" })),
      el("p", { class: "note" }, "Drag over a chart to zoom into all of them, double-click for the whole. ", term("live heap", "Live heap"), ", ", term("heap goal"), ", ", term("pause", "pauses"), ", ", term("mark assist"), " and ", term("held memory"), " are as the runtime reported them, ", term("RSS"), " as the operating system did: counted, not sampled, so they have no interval."), this.box);
    onTheme(() => {
      this.drawn = "";
      if (!this.node.hidden) this.show({ run: this.run && this.run.run });
    });
  }

  show(now) {
    const run = this.runs.find((r) => r.run === now.run) || this.runs[0];
    if (this.choice) this.choice.querySelector("select").value = run.run;
    const width = Math.min(this.box.clientWidth || this.node.clientWidth, 1460);
    const key = `${run.run} ${width}`;
    if (key === this.drawn || width === 0) return;
    this.drawn = key;
    this.run = run;
    for (const p of this.plots || []) p.destroy();
    const two = width >= 900 ? Math.floor((width - 24) / 2) : width;
    const made = charts(run).map((o) => chart({ ...o, x: at, sync: "time", hooks: { setScale: [(p, key) => key === "x" && this.follow(p)] } }, two));
    this.plots = made.map((c) => c.plot);
    replace(this.box, made.map((c) => c.node));
    const all = charts(run).flatMap((o) => [o.xs[0], o.xs[o.xs.length - 1]]);
    this.whole = [Math.min(...all), Math.max(...all)];
    this.zoom(this.whole);
  }

  // follow brings the other charts to the zoom of one.
  follow(p) {
    if (this.moving) return;
    const { min, max } = p.scales.x;
    this.zoom([min, max]);
  }

  zoom(range) {
    const [min, max] = range || this.whole;
    this.moving = true;
    for (const p of this.plots) p.setScale("x", { min, max });
    this.moving = false;
  }
}

// timeView is there when any run has a log or metrics.
export const timeView = {
  id: "time",
  title: "Time",
  there: (data) => data.views.time.length > 0,
  make(data) {
    const t = new Time(data);
    t.node.time = t;
    return { node: t.node, show: (now) => t.show(now) };
  },
};
