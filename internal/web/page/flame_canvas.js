// A flame graph on a canvas: layout of what is visible, drawing, pointing,
// keyboard. What the nodes mean is the caller's business.
import { el } from "./dom.js";
import { fitted } from "./format.js";
import { color, isDark } from "./theme.js";
import { hideTip, showTip } from "./tip.js";

const rowHeight = 20;
const narrowest = 0.8; // CSS pixels; what is narrower is drawn as one grey block with its neighbours
const maxRows = 500;

// FlameCanvas draws a tree that ordered() has prepared. Options: label (for
// screen readers), describe(node) → tooltip content, say(node) → text,
// choose(node), zoom(node), key(event, node) → true when it took the key.
export class FlameCanvas {
  constructor(options) {
    this.o = options;
    this.canvas = el("canvas", {
      class: "flame", tabIndex: 0, role: "application", "aria-roledescription": "flame graph", "aria-label": options.label,
      on: {
        mousemove: (e) => this.point(e), mouseleave: () => hideTip(), click: (e) => this.click(e),
        dblclick: (e) => e.preventDefault(), keydown: (e) => this.keydown(e),
      },
    });
    this.live = el("div", { class: "unseen", "aria-live": "polite" });
    this.node = el("div", { class: "flame-box" }, this.canvas, this.live);
    this.tree = null;
    this.root = 0;
    this.chosen = -1;
    this.found = null;
    this.up = false;
    this.stats = { layout: 0, draw: 0, boxes: 0 };
  }

  // set changes what is shown; draw must follow.
  set({ tree, paint, root, chosen, found, up }) {
    this.tree = tree;
    this.paint = paint;
    this.root = root < tree.n ? root : 0;
    this.chosen = chosen < tree.n ? chosen : -1;
    this.found = found;
    this.up = up;
  }

  // layout makes the rows: the callers of the zoomed node, itself, and what it
  // calls, as long as it is wide enough to be seen.
  layout(width) {
    const t = this.tree, rows = [];
    const above = [];
    for (let n = this.root; n > 0; ) above.push((n = t.parent[n]));
    for (const n of above.reverse()) rows.push({ x: [0], w: [width], node: [n] });
    let row = { x: [0], w: [width], node: [this.root] };
    while (row.node.length > 0 && rows.length < maxRows) {
      rows.push(row);
      row = this.nextRow(row);
    }
    this.rows = rows;
    this.first = above.length;
  }

  nextRow(row) {
    const t = this.tree, next = { x: [], w: [], node: [] };
    for (let i = 0; i < row.node.length; i++) {
      const n = row.node[i];
      if (n < 0) continue;
      const from = t.from[n], to = t.from[n + 1];
      if (from === to) continue;
      let sum = 0;
      for (let k = from; k < to; k++) sum += Math.max(0, t.span[t.list[k]]);
      const whole = Math.max(t.span[n], sum);
      if (!(whole > 0)) continue;
      const scale = row.w[i] / whole;
      let x = row.x[i], rest = 0;
      for (let k = from; k < to; k++) {
        const w = t.span[t.list[k]] * scale;
        if (w < narrowest) { // they come by width: the others are narrower still
          rest = sum * scale - (x - row.x[i]);
          break;
        }
        next.x.push(x);
        next.w.push(w);
        next.node.push(t.list[k]);
        x += w;
      }
      if (rest >= narrowest) {
        next.x.push(x);
        next.w.push(rest);
        next.node.push(-1);
      }
    }
    return next;
  }

  // draw lays out and paints for the width that the page gives.
  draw() {
    if (!this.tree) return;
    const width = this.node.clientWidth;
    if (width === 0) return;
    const t0 = performance.now();
    this.layout(width);
    const t1 = performance.now();
    const height = this.rows.length * rowHeight + 1, ratio = Math.min(window.devicePixelRatio || 1, 16000 / height);
    const c = this.canvas;
    if (c.width !== Math.round(width * ratio) || c.height !== Math.round(height * ratio)) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
      c.style.height = height + "px";
    }
    const g = c.getContext("2d", { alpha: false });
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.colours = { back: color("back"), text: color("flame-text"), rest: color("flame-rest"), mark: color("mark"), accent: color("accent") };
    g.fillStyle = this.colours.back;
    g.fillRect(0, 0, width, height);
    g.font = "12px " + color("mono");
    g.textBaseline = "middle";
    this.em = this.em || g.measureText("m").width;
    let boxes = 0;
    this.rows.forEach((row, depth) => {
      boxes += row.node.length;
      this.drawRow(g, row, depth);
    });
    this.stats = { layout: t1 - t0, draw: performance.now() - t1, boxes };
  }

  top(depth) {
    return (this.up ? this.rows.length - 1 - depth : depth) * rowHeight;
  }

  drawRow(g, row, depth) {
    const y = this.top(depth), t = this.tree;
    for (let i = 0; i < row.node.length; i++) {
      const n = row.node[i], x = row.x[i], w = row.w[i];
      if (n < 0) {
        g.fillStyle = this.colours.rest;
        g.fillRect(x, y, w, rowHeight - 1);
        continue;
      }
      const hit = this.found && n > 0 && this.found[t.label[n]];
      g.globalAlpha = depth < this.first ? 0.55 : this.found && !hit ? 0.45 : 1;
      g.fillStyle = hit ? this.colours.mark : this.paint(n);
      g.fillRect(x, y, Math.max(w - 0.7, 0.5), rowHeight - 1);
      if (w > 4 * this.em) this.write(g, n, { x, y, w, hit });
      g.globalAlpha = 1;
      if (n === this.chosen) {
        g.strokeStyle = this.colours.accent;
        g.lineWidth = 2;
        g.strokeRect(x + 1, y + 1, Math.max(w - 2.7, 1), rowHeight - 3);
      }
    }
  }

  write(g, n, box) {
    const room = Math.floor((box.w - 6) / this.em);
    const text = fitted(this.nameOf(n), room);
    g.fillStyle = box.hit && isDark() ? "#111" : this.colours.text;
    g.fillText(text, box.x + 3, box.y + rowHeight / 2);
  }

  // nameOf is the text of a node.
  nameOf(n) {
    return n === 0 ? this.o.rootName() : this.tree.labels.list[this.tree.label[n]].text;
  }

  at(e) {
    const box = this.canvas.getBoundingClientRect();
    const at = Math.floor((e.clientY - box.top) / rowHeight);
    const depth = this.up ? this.rows.length - 1 - at : at, row = this.rows && this.rows[depth];
    if (!row) return -1;
    const x = e.clientX - box.left;
    let low = 0, high = row.x.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (row.x[mid] <= x) low = mid;
      else high = mid - 1;
    }
    return row.x.length > 0 && x >= row.x[low] && x < row.x[low] + row.w[low] ? row.node[low] : -1;
  }

  point(e) {
    const n = this.at(e);
    this.canvas.style.cursor = n >= 0 ? "pointer" : "";
    if (n < 0) hideTip();
    else showTip(e.clientX, e.clientY, ...this.o.describe(n));
  }

  // click zooms; with shift, or on the zoomed node, it only chooses.
  click(e) {
    const n = this.at(e);
    if (n < 0) return;
    hideTip();
    this.canvas.focus({ preventScroll: true });
    if (e.shiftKey) this.o.choose(n);
    else this.o.zoom(n);
  }

  // choose marks a node and reads it out.
  choose(n) {
    this.live.textContent = this.o.say(n);
    this.o.choose(n);
  }

  keydown(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.tree) return;
    const t = this.tree, n = this.chosen >= 0 ? this.chosen : this.root;
    const shown = (node) => node >= 0 && t.span[node] > 0;
    const down = this.up ? "ArrowUp" : "ArrowDown", up = this.up ? "ArrowDown" : "ArrowUp";
    const sibling = (step) => {
      if (n === 0) return -1;
      const from = t.from[t.parent[n]], to = t.from[t.parent[n] + 1], k = t.list.subarray(from, to).indexOf(n) + step;
      return k >= 0 && k < to - from ? t.list[from + k] : -1;
    };
    let to = -2;
    if (e.key === down) to = t.from[n] < t.from[n + 1] ? t.list[t.from[n]] : -1;
    else if (e.key === up) to = n > 0 ? t.parent[n] : -1;
    else if (e.key === "ArrowRight") to = sibling(1);
    else if (e.key === "ArrowLeft") to = sibling(-1);
    else if (e.key === "Enter" || e.key === " ") this.o.zoom(n);
    else if (e.key === "Backspace" || e.key === "Escape") this.o.zoom(this.root > 0 ? t.parent[this.root] : 0);
    else if (e.key === "Home") this.o.zoom(0);
    else return;
    e.preventDefault();
    e.stopPropagation();
    if (shown(to)) this.choose(to);
  }
}
