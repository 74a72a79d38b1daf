// Data, numbers, colours, canvases.

const $ = (id) => document.getElementById(id);
const R = JSON.parse($("result").textContent);

/** The typed array of an embedded element; made when it is first asked for. */
const made = new Map();
function numbers(data) {
  if (made.has(data.id)) return made.get(data.id);
  const text = atob($(data.id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const of = { f4: Float32Array, f8: Float64Array, i8: BigInt64Array }[data.type];
  let array = new of(bytes.buffer);
  if (data.type === "i8") array = Float64Array.from(array, Number);
  made.set(data.id, array);
  return array;
}

/** An element with properties and children. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

/** A number to so many digits, without zeros at its end, with a proper minus. */
function fmt(v, digits = 5) {
  if (v === undefined || v === null) return "";
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v < 0 ? "−∞" : "∞";
  if (v === 0) return "0";
  const size = Math.abs(v);
  let text = size >= 1e-4 && size < 1e7 ? Number(v.toPrecision(digits)).toString()
    : v.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  return text.replace(/-/g, "−");
}

/** Round numbers from lo to hi, about `count` of them, and how to write them. */
function ticks(lo, hi, count) {
  if (!(hi > lo)) return { at: Number.isFinite(lo) ? [lo] : [], text: (v) => fmt(v) };
  const raw = (hi - lo) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const at = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) at.push(k * step);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  const text = (v) => {
    if (Math.abs(v) < step * 1e-6) return "0";
    if (size >= 1e6 || size < 1e-4) return fmt(v, 4);
    return v.toFixed(Math.min(decimals, 12)).replace("-", "−");
  };
  return { at, text };
}

/** Powers of ten from lo to hi. */
function decades(lo, hi) {
  const from = Math.ceil(Math.log10(lo) - 1e-9), to = Math.floor(Math.log10(hi) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from) / 6));
  const at = [];
  for (let k = from; k <= to; k += every) at.push(10 ** k);
  const small = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  const text = (v) => {
    const k = Math.round(Math.log10(v));
    return k >= -2 && k <= 3 ? fmt(v) : "10" + [...String(k)].map((c) => small[c]).join("");
  };
  return { at, text };
}

/** 256 colours of a palette, as numbers for an ImageData's 32-bit words. */
const tables = {};
function table(name) {
  if (tables[name]) return tables[name];
  const stops = R.palettes[name], out = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(place));
    const [r, g, b] = stops[k].map((c, j) => Math.round(c + (stops[k + 1][j] - c) * (place - k)));
    out[i] = 0xff000000 | (b << 16) | (g << 8) | r;
  }
  return (tables[name] = out);
}
const css = (word) => `rgb(${word & 255} ${(word >> 8) & 255} ${(word >> 16) & 255})`;

/** Colours of the page as it is shown now. */
function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = {};
  for (const name of ["paper", "ink", "soft", "faint", "line", "grid", "quiet", "none", "accent"]) colours[name] = get(name);
  colours.lines = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => get(`c${k}`));
  return colours;
}

/** Everything that is drawn, to be drawn again when size or colours change. */
const drawn = new Set();
function redraw() { for (const picture of drawn) if (picture.canvas.isConnected) picture.draw(); }
let waiting = false;
function later() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; redraw(); });
}
addEventListener("resize", later);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
matchMedia("(resolution: 1dppx)").addEventListener("change", later);
addEventListener("beforeprint", () => { document.documentElement.classList.add("print"); redraw(); });
addEventListener("afterprint", () => { document.documentElement.classList.remove("print"); redraw(); });

/** A canvas that can have the focus, and a line of text below it that says what is under the marker. */
class Picture {
  constructor(label) {
    this.canvas = make("canvas", { tabIndex: 0, role: "application", "aria-label": label, "aria-describedby": "keys" });
    this.readout = make("div", { className: "readout", "aria-live": "polite" });
    this.element = make("div", {}, this.canvas, this.readout);
    this.canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (this.key(e.key, e.shiftKey ? 10 : 1)) { e.preventDefault(); later(); }
    });
    drawn.add(this);
  }
  /** Prepares a drawing of a height in CSS pixels. */
  begin(height) {
    const width = this.canvas.clientWidth || this.element.clientWidth || 600, scale = devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const c = this.canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    c.clearRect(0, 0, width, height);
    return [c, width, height, theme()];
  }
  /** Where a pointer is, in CSS pixels of the canvas. */
  place(e) {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }
}

/** Text along the left edge, upwards. */
function upright(c, text, x, y) {
  c.save();
  c.translate(x, y);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.textBaseline = "top";
  c.fillText(text, 0, 0);
  c.restore();
}

/** Text that is cut to a width. */
function fit(c, text, width) {
  if (c.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && c.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}

/** A choice with a label; `changed` is told the place of what was chosen. */
function choice(label, options, chosen, changed) {
  const select = make("select", {}, ...options.map((text, k) => make("option", { value: k, textContent: text, selected: k === chosen })));
  select.addEventListener("change", () => changed(Number(select.value)));
  return make("label", { className: "pick" }, label, select);
}

/** A unit as people write it; nothing for what has none. */
const pretty = (unit) => (!unit || unit === "dimensionless" || unit === "1" ? "" : unit.replace(/_per_/g, "/").replace(/_/g, " "));
for (const name in R.units) R.units[name] = pretty(R.units[name]);
for (const axis of R.axes) axis.unit = pretty(axis.unit);
const unitOf = (name) => (R.units[name] ? ` (${R.units[name]})` : "");
