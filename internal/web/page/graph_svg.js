// Draws a graph that has been laid out, as SVG that can be moved, enlarged and
// walked through by keyboard.
import { hideTip, showTip } from "./tip.js";

const space = "http://www.w3.org/2000/svg";
const most = 8, margin = 20; // times and pixels
const readable = 0.62; // the smallest that text can be read at

// svg makes an SVG element; children are elements, texts or null.
export function svg(tag, attributes, ...children) {
  const node = document.createElementNS(space, tag);
  for (const [k, v] of Object.entries(attributes || {})) if (v !== null && v !== undefined) node.setAttribute(k, String(v));
  for (const c of children.flat()) if (c !== null && c !== undefined) node.append(c);
  return node;
}

// curve leads smoothly through points that follow each other downwards.
export function curve(points) {
  let d = `M${points[0].x.toFixed(1)},${points[0].y.toFixed(1)}`;
  for (let k = 1; k < points.length; k++) {
    const a = points[k - 1], b = points[k], mid = (a.y + b.y) / 2;
    d += `C${a.x.toFixed(1)},${mid.toFixed(1)} ${b.x.toFixed(1)},${mid.toFixed(1)} ${b.x.toFixed(1)},${b.y.toFixed(1)}`;
  }
  return d;
}

// Camera shows a part of a drawing in a box: drag or arrow keys move it, the
// wheel, two fingers or + and - enlarge it. moved is told where it stands, as
// text for the address.
export class Camera {
  constructor(box, root, moved) {
    this.box = box;
    this.root = root;
    this.moved = moved;
    this.size = { width: 1, height: 1 };
    this.at = { x: 0, y: 0, k: 1 };
    this.fingers = new Map();
    box.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    box.addEventListener("pointerdown", (e) => this.down(e));
    box.addEventListener("pointermove", (e) => this.drag(e));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) box.addEventListener(end, (e) => this.up(e));
  }

  // fit shows all, but no smaller than can be read: then the top, and the middle
  // of what must be seen.
  fit(size, first) {
    if (size) this.size = size;
    const w = this.box.clientWidth, h = this.box.clientHeight;
    // Where the filters leave nothing, the drawing has no size.
    const all = Math.min((w - 2 * margin) / (this.size.width || w), (h - 2 * margin) / (this.size.height || h), 1.2);
    const k = first ? Math.max(all, readable) : all;
    const x = first && this.size.width * k > w ? w / 2 - first.x * k : (w - this.size.width * k) / 2;
    const y = first && this.size.height * k > h ? Math.min(margin, h / 2 - first.y * k) : margin;
    this.set({ x, y, k });
  }

  // centre brings a point of the drawing into the middle.
  centre(p) {
    this.set({ k: this.at.k, x: this.box.clientWidth / 2 - p.x * this.at.k, y: this.box.clientHeight / 2 - p.y * this.at.k });
  }

  set(at) {
    this.at = at;
    this.root.setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) scale(${at.k.toFixed(4)})`);
  }

  // text and read carry the place through the address.
  text() {
    return [this.at.x, this.at.y].map((v) => v.toFixed(0)).concat(this.at.k.toFixed(3)).join(",");
  }

  read(text) {
    const [x, y, k] = (text || "").split(",").map(Number);
    if (![x, y, k].every(Number.isFinite) || !(k > 0.005 && k < 50)) return false;
    this.set({ x, y, k });
    return true;
  }

  zoom(factor, x, y) {
    const k = Math.min(most, Math.max(0.03, this.at.k * factor)), f = k / this.at.k;
    const cx = x === undefined ? this.box.clientWidth / 2 : x, cy = y === undefined ? this.box.clientHeight / 2 : y;
    this.set({ k, x: cx - (cx - this.at.x) * f, y: cy - (cy - this.at.y) * f });
    this.moved();
  }

  pan(dx, dy) {
    this.set({ ...this.at, x: this.at.x + dx, y: this.at.y + dy });
    this.moved();
  }

  point(e) {
    const r = this.box.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  }

  // The wheel is the page's until the reader has come into the graph.
  wheel(e) {
    if (!e.ctrlKey && !this.box.contains(document.activeElement)) return;
    e.preventDefault();
    const p = this.point(e);
    this.zoom(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.0016)), p.x, p.y);
  }

  down(e) {
    if (e.button > 0) return;
    this.fingers.set(e.pointerId, this.point(e));
    this.dragged = 0;
  }

  drag(e) {
    if (!this.fingers.has(e.pointerId)) return;
    const before = this.fingers.get(e.pointerId), p = this.point(e), dx = p.x - before.x, dy = p.y - before.y;
    const other = [...this.fingers].find(([id]) => id !== e.pointerId);
    this.dragged += Math.hypot(dx, dy);
    if (other) {
      const o = other[1], was = Math.hypot(before.x - o.x, before.y - o.y), now = Math.hypot(p.x - o.x, p.y - o.y);
      if (was > 0 && now > 0) this.zoom(now / was, (p.x + o.x) / 2, (p.y + o.y) / 2);
    } else if (this.dragged > 4) {
      hideTip();
      this.box.classList.add("dragging");
      this.set({ ...this.at, x: this.at.x + dx, y: this.at.y + dy });
    }
    this.fingers.set(e.pointerId, p);
  }

  up(e) {
    if (!this.fingers.delete(e.pointerId)) return;
    this.box.classList.remove("dragging");
    if (this.dragged > 4) this.moved();
  }

  // wasDrag reports whether the click that ends now was a move.
  wasDrag() {
    return this.dragged > 4;
  }
}

// tips shows a tooltip beside an element.
export function tips(node, content) {
  node.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, ...content()));
  node.addEventListener("mouseleave", () => hideTip());
}
