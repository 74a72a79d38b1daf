// Lines over an axis: time courses, spectra, profiles, sweeps along one axis.

/**
 * `data()` gives { n, x(i), lines: [{ label, colour, y(i) }], quiet: [y(i)], xLabel, yLabel, logY, dots, xText(i),
 * pick(i), marks: [{ i, label }] }; colours are places in the theme, quiet lines are drawn faintly behind.
 */
class Lines extends Picture {
  constructor(label, data, height = 280) {
    super(label);
    this.data = data;
    this.height = height;
    this.reset();
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      this.from = this.place(e)[0];
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      const x = this.place(e)[0];
      this.cursor = this.index(x);
      this.to = this.from !== undefined && Math.abs(x - this.from) > 5 ? x : undefined;
      later();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (this.to !== undefined) {
        const [a, b] = [this.index(this.from), this.index(this.to)].sort((p, q) => p - q);
        if (b > a + 1) [this.lo, this.hi] = [a, b];
      } else if (this.from !== undefined && this.d?.pick) this.d.pick(this.index(this.place(e)[0]));
      this.from = this.to = undefined;
      later();
    });
    canvas.addEventListener("pointercancel", () => { this.from = this.to = undefined; later(); });
    canvas.addEventListener("pointerleave", () => { if (this.d && !this.d.pick) { this.cursor = undefined; later(); } });
    canvas.addEventListener("dblclick", () => { this.reset(); later(); });
  }
  reset() { this.lo = 0; this.hi = Infinity; }
  key(key, by) {
    if (!this.d) return false;
    const last = Math.min(this.hi, this.d.n - 1), at = this.cursor ?? Math.round((this.lo + last) / 2);
    const move = (to) => {
      this.cursor = Math.max(0, Math.min(this.d.n - 1, to));
      const width = last - this.lo;
      if (this.cursor < this.lo) { this.lo = this.cursor; this.hi = this.lo + width; }
      if (this.cursor > last) { this.hi = this.cursor; this.lo = this.hi - width; }
      this.d.pick?.(this.cursor);
    };
    const zoom = (factor) => {
      const half = Math.max(2, ((last - this.lo) * factor) / 2);
      this.lo = Math.max(0, Math.round(at - half));
      this.hi = Math.min(this.d.n - 1, Math.round(at + half));
    };
    switch (key) {
      case "ArrowLeft": move(at - by); break;
      case "ArrowRight": move(at + by); break;
      case "Home": move(0); break;
      case "End": move(this.d.n - 1); break;
      case "+": case "=": zoom(0.5); break;
      case "-": case "−": case "_": zoom(2); break;
      case "0": case "Escape": this.reset(); break;
      case "b": case "B": if (!this.d.marks?.length) return false; move(this.d.marks[0].i); break;
      default: return false;
    }
    return true;
  }
  /** The sample nearest to a place. */
  index(px) {
    if (!this.frame) return 0;
    const { left, width, x0, x1 } = this.frame, x = x0 + ((px - left) / width) * (x1 - x0), d = this.d;
    let a = 0, b = d.n - 1;
    while (b - a > 1) { const m = (a + b) >> 1; if (d.x(m) <= x) a = m; else b = m; }
    return Math.abs(d.x(a) - x) <= Math.abs(d.x(b) - x) ? a : b;
  }
  draw() {
    const d = (this.d = this.data());
    const [c, width, height, t] = this.begin(this.height);
    if (!d || !d.n) { this.readout.textContent = ""; return; }
    const lo = Math.max(0, Math.min(this.lo, d.n - 1)), hi = Math.max(lo, Math.min(this.hi, d.n - 1));
    let y0 = Infinity, y1 = -Infinity;
    const see = (y) => {
      for (let i = lo; i <= hi; i++) {
        const v = y(i);
        if (Number.isFinite(v) && (!d.logY || v > 0)) { if (v < y0) y0 = v; if (v > y1) y1 = v; }
      }
    };
    d.lines.forEach((l) => see(l.y));
    (d.quiet ?? []).forEach(see);
    if (y0 > y1) { y0 = d.logY ? 0.1 : 0; y1 = 1; }
    if (d.logY) y0 = Math.max(y0, y1 * 1e-9);
    if (d.zeroY) { y0 = Math.min(0, y0); }
    const scale = d.logY ? Math.log10 : (v) => v;
    let s0 = scale(y0), s1 = scale(y1);
    if (!(s1 > s0)) { const e = Math.abs(s0) * 0.1 || 1; s0 -= e; s1 += e; }
    const margin = (s1 - s0) * 0.05;
    if (!(d.zeroY && y0 === 0)) s0 -= margin;
    s1 += margin;
    const yTicks = d.logY ? decades(10 ** s0, 10 ** s1) : ticks(s0, s1, height / 55);
    const yTexts = yTicks.at.map(yTicks.text);
    const left = Math.max(30, ...yTexts.map((s) => c.measureText(s).width)) + 30, right = width - 12;
    const top = 10, bottom = height - 42;
    let x0 = d.x(lo), x1 = d.x(hi);
    if (!(x1 > x0)) { x0 -= 0.5; x1 += 0.5; } else if (d.dots) { const e = (x1 - x0) * 0.02; x0 -= e; x1 += e; }
    this.frame = { left, width: right - left, x0, x1 };
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const py = (v) => bottom - ((scale(v) - s0) / (s1 - s0)) * (bottom - top);
    c.textBaseline = "middle"; c.textAlign = "right"; c.lineWidth = 1;
    yTicks.at.forEach((v, k) => {
      const y = Math.round(py(v)) + 0.5;
      c.strokeStyle = t.grid; c.beginPath(); c.moveTo(left, y); c.lineTo(right, y); c.stroke();
      c.fillStyle = t.soft; c.fillText(yTexts[k], left - 8, y);
    });
    c.textAlign = "center"; c.textBaseline = "top";
    const xTicks = ticks(x0, x1, (right - left) / 90);
    for (const v of xTicks.at) {
      if (d.integers && (Math.abs(v - Math.round(v)) > 1e-9 || v < -0.5 || v > d.n - 0.5)) continue;
      const x = Math.round(px(v)) + 0.5;
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(x, bottom); c.lineTo(x, bottom + 4); c.stroke();
      c.fillStyle = t.soft;
      const text = d.integers ? (d.n <= 12 ? fit(c, d.xText(Math.round(v)), (right - left) / d.n - 8) : String(Math.round(v))) : xTicks.text(v);
      c.fillText(text, Math.min(x, width - c.measureText(text).width / 2), bottom + 7);
    }
    c.strokeStyle = t.line; c.beginPath(); c.moveTo(left, bottom + 0.5); c.lineTo(right, bottom + 0.5); c.stroke();
    c.fillStyle = t.soft;
    c.fillText(fit(c, d.xLabel, right - left), (left + right) / 2, bottom + 24);
    upright(c, fit(c, d.yLabel, bottom - top), 2, (top + bottom) / 2);
    c.save(); c.beginPath(); c.rect(left, top - 4, right - left, bottom - top + 8); c.clip();
    c.lineJoin = "round";
    const range = [Math.max(0, lo - 1), Math.min(d.n - 1, hi + 1)];
    c.globalAlpha = Math.max(0.25, Math.min(1, 12 / Math.max(1, (d.quiet ?? []).length))); c.strokeStyle = t.quiet;
    for (const y of d.quiet ?? []) this.line(c, d, y, range, px, py);
    c.globalAlpha = 1; c.lineWidth = 1.5;
    for (const l of d.lines) {
      c.strokeStyle = c.fillStyle = t.lines[l.colour % 8];
      if (d.dots) for (let i = range[0]; i <= range[1]; i++) { const v = l.y(i); if (Number.isFinite(v)) { c.beginPath(); c.arc(px(d.x(i)), py(v), d.n > 200 ? 1.6 : 3, 0, 7); c.fill(); } }
      if (!d.dots || d.joined) this.line(c, d, l.y, range, px, py);
    }
    for (const m of d.marks ?? []) {
      const v = d.lines[0]?.y(m.i);
      if (!Number.isFinite(v)) continue;
      c.strokeStyle = t.ink; c.lineWidth = 1.5; c.beginPath(); c.arc(px(d.x(m.i)), py(v), 7, 0, 7); c.stroke();
    }
    if (d.selected !== undefined) {
      const x = px(d.x(d.selected)); c.strokeStyle = t.accent; c.lineWidth = 1.5; c.beginPath(); c.moveTo(x, top); c.lineTo(x, bottom); c.stroke();
    }
    if (this.to !== undefined) { c.globalAlpha = 0.14; c.fillStyle = t.accent; c.fillRect(this.from, top, this.to - this.from, bottom - top); c.globalAlpha = 1; }
    const at = this.cursor !== undefined ? Math.min(this.cursor, d.n - 1) : undefined;
    if (at !== undefined && at >= lo && at <= hi) {
      const x = Math.round(px(d.x(at))) + 0.5;
      c.strokeStyle = t.faint; c.lineWidth = 1; c.setLineDash([3, 3]); c.beginPath(); c.moveTo(x, top); c.lineTo(x, bottom); c.stroke(); c.setLineDash([]);
      for (const l of d.lines) { const v = l.y(at); if (Number.isFinite(v)) { c.fillStyle = t.lines[l.colour % 8]; c.beginPath(); c.arc(x, py(v), 3, 0, 7); c.fill(); } }
    }
    c.restore();
    this.say(d, t, at);
  }
  /** A line; where samples are denser than pixels, the extremes of each pixel. */
  line(c, d, y, [from, to], px, py) {
    c.beginPath();
    let open = false;
    const room = Math.max(1, this.frame.width * 2);
    if (to - from <= room * 2) {
      for (let i = from; i <= to; i++) {
        const v = y(i);
        if (!Number.isFinite(v) || (d.logY && v <= 0)) { open = false; continue; }
        if (open) c.lineTo(px(d.x(i)), py(v)); else c.moveTo(px(d.x(i)), py(v));
        open = true;
      }
    } else {
      const per = (to - from + 1) / room;
      for (let k = 0; k < room; k++) {
        let lo = Infinity, hi = -Infinity;
        const a = from + Math.floor(k * per), b = from + Math.floor((k + 1) * per);
        for (let i = a; i < b; i++) { const v = y(i); if (Number.isFinite(v) && (!d.logY || v > 0)) { if (v < lo) lo = v; if (v > hi) hi = v; } }
        if (lo > hi) { open = false; continue; }
        const x = px(d.x(a));
        if (open) c.lineTo(x, py(lo)); else c.moveTo(x, py(lo));
        c.lineTo(x, py(hi));
        open = true;
      }
    }
    c.stroke();
  }
  say(d, t, at) {
    const parts = [];
    if (at === undefined) {
      for (const l of d.lines) if (l.label) parts.push(make("span", {}, swatch(t.lines[l.colour % 8]), l.label));
    } else {
      const name = d.xName ?? d.xLabel.replace(/ \(.*/, "");
      parts.push(make("span", {}, `${name} `, make("b", { textContent: d.xText ? d.xText(at) : fmt(d.x(at), 7) })));
      for (const l of d.lines) parts.push(make("span", {}, ...(d.lines.length > 1 || !d.dots ? [swatch(t.lines[l.colour % 8])] : []), `${l.label} `, make("b", { textContent: fmt(l.y(at)) })));
      for (const m of d.marks ?? []) if (m.i === at) parts.push(make("span", { textContent: m.label }));
    }
    this.readout.replaceChildren(...parts);
  }
}
const swatch = (colour) => { const i = make("i", { "aria-hidden": "true" }); i.style.background = colour; return i; };
