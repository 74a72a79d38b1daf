// Values on a grid of cells as colours: sweep maps and matrices.

/**
 * `data()` gives { columns, rows, value(column, row), x: axis, y: axis, label, diverging, square, down, selected: [c, r],
 * mark: { at: [c, r], label }, pick(c, r) }; an axis is { name, text(k), value(k) or none, unit }.
 */
class Raster extends Picture {
  constructor(label, data, height) {
    super(label);
    this.data = data;
    this.height = height;
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (e) => { this.over = this.cell(e); this.say(); });
    canvas.addEventListener("pointerleave", () => { this.over = undefined; this.say(); });
    canvas.addEventListener("click", (e) => { const cell = this.cell(e); if (cell) this.go(...cell); });
  }
  cell(e) {
    if (!this.frame) return undefined;
    const [x, y] = this.place(e), f = this.frame, d = this.d;
    const column = Math.floor(((x - f.left) / f.width) * d.columns);
    let row = Math.floor(((y - f.top) / f.height) * d.rows);
    if (column < 0 || row < 0 || column >= d.columns || row >= d.rows) return undefined;
    return [column, d.down ? row : d.rows - 1 - row];
  }
  go(column, row) {
    const d = this.d;
    this.at = [Math.max(0, Math.min(d.columns - 1, column)), Math.max(0, Math.min(d.rows - 1, row))];
    d.pick?.(...this.at);
    this.over = undefined;
    later();
  }
  key(key, by) {
    if (!this.d) return false;
    const [column, row] = this.d.selected ?? this.at ?? [0, 0], up = this.d.down ? -1 : 1;
    switch (key) {
      case "ArrowLeft": this.go(column - by, row); break;
      case "ArrowRight": this.go(column + by, row); break;
      case "ArrowUp": this.go(column, row + by * up); break;
      case "ArrowDown": this.go(column, row - by * up); break;
      case "Home": this.go(0, row); break;
      case "End": this.go(this.d.columns - 1, row); break;
      case "PageUp": this.go(column, up > 0 ? this.d.rows - 1 : 0); break;
      case "PageDown": this.go(column, up > 0 ? 0 : this.d.rows - 1); break;
      case "b": case "B": if (!this.d.mark) return false; this.go(...this.d.mark.at); break;
      default: return false;
    }
    return true;
  }
  /** The smallest and the largest finite value; symmetrical about 0 where that is the middle. */
  range(d) {
    let lo = Infinity, hi = -Infinity;
    for (let r = 0; r < d.rows; r++) for (let k = 0; k < d.columns; k++) {
      const v = d.value(k, r);
      if (Number.isFinite(v)) { if (v < lo) lo = v; if (v > hi) hi = v; }
    }
    if (lo > hi) return [0, 1];
    if (d.diverging) { const m = Math.max(-lo, hi) || 1, e = m <= 1 && m > 0.3 ? 1 : m; return [-e, e]; }
    return lo === hi ? [lo - 0.5, hi + 0.5] : [lo, hi];
  }
  image(d, lo, hi, none) {
    if (this.key0 === d.key && this.none === none && d.key !== undefined) return this.cells;
    const cells = document.createElement("canvas");
    cells.width = d.columns; cells.height = d.rows;
    const c = cells.getContext("2d"), picture = c.createImageData(d.columns, d.rows);
    const words = new Uint32Array(picture.data.buffer), colours = table(d.diverging ? "diverging" : "sequential");
    c.fillStyle = none; c.fillRect(0, 0, 1, 1);
    const empty = new Uint32Array(c.getImageData(0, 0, 1, 1).data.buffer)[0];
    for (let r = 0; r < d.rows; r++) {
      const line = (d.down ? r : d.rows - 1 - r) * d.columns;
      for (let k = 0; k < d.columns; k++) {
        const v = d.value(k, r);
        words[line + k] = Number.isFinite(v) ? colours[Math.max(0, Math.min(255, Math.round(((v - lo) / (hi - lo)) * 255)))] : empty;
      }
    }
    c.putImageData(picture, 0, 0);
    this.key0 = d.key; this.none = none;
    return (this.cells = cells);
  }
  /** Ticks of an axis with n cells on so many pixels: [cell (may be between two), text]. */
  axis(axis, n, room) {
    if (n > 1 && axis.value && axis.even) {
      const a = axis.value(0), b = axis.value(n - 1), e = (b - a) / (n - 1) / 2;
      const t = ticks(Math.min(a, b) - Math.abs(e) * 0.98, Math.max(a, b) + Math.abs(e) * 0.98, room);
      if (n > 12) return t.at.map((v) => [((v - a) / (b - a)) * (n - 1), t.text(v)]);
    }
    const every = Math.max(1, Math.ceil(n / Math.max(1, room)));
    const out = [];
    for (let k = 0; k < n; k += every) out.push([k, axis.text(k)]);
    return out;
  }
  draw() {
    const d = (this.d = this.data());
    if (!d) { this.begin(10); this.readout.textContent = ""; this.frame = undefined; return; }
    const available = this.canvas.clientWidth || this.element.clientWidth || 600;
    const height0 = d.square ? Math.min(available, 460) : this.height;
    const [c, width, height, t] = this.begin(height0);
    const key = d.key === undefined ? {} : d.key;
    if (this.rangeKey !== key) { this.limits = this.range(d); this.rangeKey = key; }
    const [lo, hi] = this.limits;
    const bar = ticks(lo, hi, 5), barTexts = bar.at.map(bar.text);
    const barWidth = 12 + 6 + Math.max(...barTexts.map((s) => c.measureText(s).width)) + (d.label ? 22 : 4);
    const yTicks = this.axis(d.y, d.rows, (height0 - 60) / (d.y.words ? 16 : 45));
    const shown = yTicks.map(([k, s]) => [k, fit(c, s, 110)]);
    const left = Math.max(...shown.map(([, s]) => c.measureText(s).width), 10) + 32, top = 8;
    let w = width - left - barWidth - 16, h = height - top - 44;
    if (d.square) w = h = Math.max(40, Math.min(w, h));
    this.frame = { left, top, width: w, height: h };
    const cellX = (k) => left + ((k + 0.5) / d.columns) * w;
    const cellY = (k) => (d.down ? top + ((k + 0.5) / d.rows) * h : top + h - ((k + 0.5) / d.rows) * h);
    c.imageSmoothingEnabled = false;
    c.drawImage(this.image(d, lo, hi, t.none), left, top, w, h);
    c.strokeStyle = t.line; c.lineWidth = 1; c.strokeRect(left - 0.5, top - 0.5, w + 1, h + 1);
    c.fillStyle = t.soft; c.strokeStyle = t.faint; c.textAlign = "right"; c.textBaseline = "middle";
    for (const [k, s] of shown) { const y = Math.round(cellY(k)) + 0.5; c.beginPath(); c.moveTo(left - 4, y); c.lineTo(left, y); c.stroke(); c.fillText(s, left - 8, y); }
    c.textAlign = "center"; c.textBaseline = "top";
    let end = -Infinity;
    if (!d.x.words) for (const [k, s] of this.axis(d.x, d.columns, w / 80)) {
      const x = Math.round(cellX(k)) + 0.5, half = c.measureText(s).width / 2;
      c.beginPath(); c.moveTo(x, top + h); c.lineTo(x, top + h + 4); c.stroke();
      if (x - half > end + 8) { c.fillText(s, x, top + h + 7); end = x + half; }
    }
    c.fillText(fit(c, d.x.name + (d.x.unit ? ` (${d.x.unit})` : ""), w), left + w / 2, top + h + (d.x.words ? 8 : 25));
    upright(c, fit(c, d.y.name + (d.y.unit ? ` (${d.y.unit})` : ""), h), 0, top + h / 2);
    const colours = table(d.diverging ? "diverging" : "sequential"), bx = left + w + 16;
    for (let k = 0; k < h; k++) { c.fillStyle = css(colours[Math.round((1 - k / h) * 255)]); c.fillRect(bx, top + k, 12, 1.5); }
    c.textAlign = "left"; c.textBaseline = "middle"; c.fillStyle = t.soft;
    bar.at.forEach((v, k) => { const y = top + h - ((v - lo) / (hi - lo)) * h; c.fillText(barTexts[k], bx + 18, Math.max(top + 5, Math.min(top + h - 5, y))); });
    if (d.label) upright(c, fit(c, d.label, h), width - 14, top + h / 2);
    const ring = ([k, r], colour, size) => {
      const x = cellX(k), y = cellY(r), s = Math.max(size, w / d.columns / 2 + 1, 0), sy = Math.max(size, h / d.rows / 2 + 1);
      const a = Math.min(s, 22), b = Math.min(sy, 22);
      c.strokeStyle = "#000"; c.lineWidth = 3.5; c.strokeRect(x - a, y - b, 2 * a, 2 * b);
      c.strokeStyle = colour; c.lineWidth = 1.75; c.strokeRect(x - a, y - b, 2 * a, 2 * b);
    };
    if (d.mark) {
      const x = cellX(d.mark.at[0]), y = cellY(d.mark.at[1]);
      for (const [colour, wide] of [["#000", 3.5], ["#fff", 1.75]]) { c.strokeStyle = colour; c.lineWidth = wide; c.beginPath(); c.arc(x, y, 5, 0, 7); c.stroke(); }
    }
    const at = d.selected ?? this.at;
    if (at && !(d.still && !this.at)) ring(at, "#fff", 5);
    this.say();
  }
  say() {
    const d = this.d;
    if (!d) return;
    const at = this.over ?? d.selected ?? this.at;
    if (!at) { this.readout.replaceChildren(make("span", { textContent: d.hint ?? "" })); return; }
    const [k, r] = at, v = d.value(k, r);
    const part = (name, value) => make("span", {}, `${name} `, make("b", { textContent: value }));
    const parts = [part(d.x.name, d.x.text(k) + (d.x.unit ? ` ${d.x.unit}` : "")), part(d.y.name, d.y.text(r) + (d.y.unit ? ` ${d.y.unit}` : "")),
      part(d.valueName ?? d.label, v === undefined ? "not run" : fmt(v, 6))];
    if (d.mark && d.mark.at[0] === k && d.mark.at[1] === r) parts.push(make("span", { textContent: d.mark.label }));
    this.readout.replaceChildren(...parts);
  }
}
