// The page: the sweep, and what the chosen point has in detail.

const axes = R.axes.map((a) => ({ ...a, values: numbers(R.coordinates[a.array]) }));
const zip = R.mode === "zip";
const swept = zip ? axes.slice(0, 1) : axes;
const run = R.coordinates.point ? numbers(R.coordinates.point) : null;
const placeOf = run ? new Map([...run].map((number, place) => [number, place])) : null;

/** The axes that an array's points lie on: trials that were put together are none. */
const axesOf = (array) => (array.points?.name === "cell" ? swept.filter((a) => a.name !== "trial") : swept);

/** The place of a combination of axis positions among an array's points; undefined if it was not run. */
function place(array, at) {
  let number = 0;
  for (const a of axesOf(array)) number = number * a.values.length + at.get(a);
  return array.points.name === "cell" || !placeOf ? number : placeOf.get(number);
}

/** Axis positions of a point. */
function positions(point) {
  let number = run ? run[point] : point;
  const at = new Map();
  for (const a of [...swept].reverse()) { at.set(a, number % a.values.length); number = Math.floor(number / a.values.length); }
  return at;
}

const even = (v) => { const s = (v[v.length - 1] - v[0]) / (v.length - 1); return v.every((x, k) => Math.abs(x - v[0] - k * s) <= Math.abs(s) * 1e-6); };
const axisOf = (a) => ({ name: zip ? axes.map((x) => x.name).join(", ") : a.name, unit: zip ? "" : a.unit,
  text: (k) => (zip ? axes.map((x) => fmt(x.values[k])).join(", ") : fmt(a.values[k])), value: (k) => a.values[k], even: a.values.length > 1 && even(a.values) });

const state = { point: 0, at: null, nodes: new Map(), variable: new Map() };
if (R.kept) state.point = R.kept[0];

// ---- The sweep

const quantities = [];
for (const array of R.arrays) if (array.kind === "map") {
  const n = array.variable?.n ?? 1;
  for (let k = 0; k < n; k++) {
    const variable = array.variables[k];
    const label = array.name + (variable ? ` ${variable}` : "") + (array.over ? `, ${array.over}` : "");
    quantities.push({ array, k, label, unit: variable ? unitOf(variable) : "" });
  }
}

/** Value of a quantity at a place among its points. */
const valueAt = (q, p) => (p === undefined ? undefined : numbers(q.array.data)[p * q.array.points.stride + q.k * (q.array.variable?.stride ?? 0)]);

/** The place of the best value, or of the highest where nothing says what is good. */
function bestOf(q) {
  if (q.best !== undefined) return q.best;
  const n = q.array.points.n, better = q.array.better ?? "higher";
  const key = { higher: (v) => -v, lower: (v) => v, zero: Math.abs }[better];
  let best = -1, least = Infinity;
  for (let p = 0; p < n; p++) { const v = valueAt(q, p); if (Number.isFinite(v) && key(v) < least) { least = key(v); best = p; } }
  return (q.best = best);
}
const bestWord = (q) => (q.array.better ? { higher: "best (highest)", lower: "best (lowest)", zero: "best (nearest 0)" }[q.array.better] : "highest");

function startSweep() {
  if (!swept.length || !quantities.length) return;
  $("sweep").hidden = false;
  const scored = quantities.findIndex((q) => q.array.better), plain = quantities.findIndex((q) => q.array.name !== "nonfinite_step");
  state.q = quantities[Math.max(0, scored >= 0 ? scored : plain)];
  const start = bestOf(state.q);
  if (start >= 0 && state.q.array.points.name !== "cell" && (!R.kept || R.kept.includes(start))) state.point = start;
  state.at = positions(state.point);
  const long = [...swept].sort((a, b) => b.values.length - a.values.length).slice(0, 2);
  state.x = long[0];
  state.y = swept.length > 1 ? long[1] : null;
  if (state.y && swept.indexOf(state.x) > swept.indexOf(state.y)) [state.x, state.y] = [state.y, state.x];
  buildSweep();
}

function buildSweep() {
  const controls = $("sweep-controls"), q = state.q, mine = axesOf(q.array);
  const keep = controls.contains(document.activeElement) ? document.activeElement.parentNode.firstChild.textContent : null;
  controls.replaceChildren();
  if (quantities.length > 1) controls.append(choice("Quantity", quantities.map((o) => o.label), quantities.indexOf(q), (k) => { state.q = quantities[k]; buildSweep(); }));
  if (!mine.includes(state.x)) state.x = mine.find((a) => a !== state.y) ?? mine[0];
  if (state.y && (!mine.includes(state.y) || state.y === state.x)) state.y = mine.find((a) => a !== state.x) ?? null;
  if (!state.y && mine.length > 1) state.y = mine.find((a) => a !== state.x);
  if (mine.length > 1) {
    const names = mine.map((a) => a.name);
    const axis = (label, which, other) => controls.append(choice(label, names, mine.indexOf(state[which]), (k) => {
      if (mine[k] === state[other]) state[other] = state[which];
      state[which] = mine[k];
      buildSweep();
    }));
    axis("Across", "x", "y");
    axis("Upwards", "y", "x");
    for (const a of mine) if (a !== state.x && a !== state.y)
      controls.append(choice(a.name, [...a.values].map((v) => fmt(v) + (a.unit ? ` ${a.unit}` : "")), state.at.get(a), (k) => { state.at.set(a, k); chosen(); buildSweep(); }));
  }
  const best = bestOf(q);
  if (best >= 0) {
    const go = make("button", { type: "button", textContent: `Go to ${q.array.better ? "best" : "highest"}` });
    go.addEventListener("click", () => { goTo(best, q); buildSweep(); });
    controls.append(go);
  }
  if (keep) [...controls.querySelectorAll("label")].find((l) => l.firstChild.textContent === keep)?.querySelector("select").focus();
  const make1 = !state.y;
  if (!state.picture || state.flat !== make1) {
    state.flat = make1;
    state.picture = make1 ? new Lines(`${q.label} over ${state.x?.name}`, sweepLine, 300) : new Raster("Sweep map", sweepMap, 420);
    $("sweep-plot").replaceChildren(state.picture.element);
  }
  state.picture.canvas.setAttribute("aria-label", make1 ? `${q.label} over ${state.x?.name}` : `Map of ${q.label} over ${state.x.name} and ${state.y.name}`);
  $("sweep-note").textContent = `${q.array.better ? `The ring is the ${bestWord(q)} of ${q.label}` : `The ring is the highest ${q.label}`}${state.y ? ", the rectangle the chosen point" : ", the line the chosen point"}. `
    + (run ? `${run.length} points of the sweep were run. ` : "")
    + (R.kept ? `This page holds ${R.kept.length} of the points in detail; the nearest of them is shown below. The result file has all.` : "");
  later();
}

/** Positions of the place of a quantity's array. */
function goTo(p, q) {
  if (q.array.points.name !== "cell") state.at = positions(p);
  else { let n = p; for (const a of axesOf(q.array).slice().reverse()) { state.at.set(a, n % a.values.length); n = Math.floor(n / a.values.length); } }
  chosen();
}

/** After the axis positions changed: the point that they name, or the nearest that has details. */
function chosen() {
  let number = 0;
  for (const a of swept) number = number * a.values.length + state.at.get(a);
  const p = placeOf ? placeOf.get(number) : number;
  if (p === undefined) return;
  state.point = p;
  clearTimeout(state.timer);
  state.timer = setTimeout(showPoint, 30);
}

function sweepLine() {
  const q = state.q, x = state.x, axis = axisOf(x), at = new Map(state.at);
  const p = (i) => { at.set(x, i); return place(q.array, at); };
  const best = bestOf(q), marks = [];
  for (let i = 0; i < x.values.length; i++) if (best >= 0 && p(i) === best) marks.push({ i, label: bestWord(q) });
  return { n: x.values.length, x: (i) => x.values[i], xText: axis.text, lines: [{ label: q.label, colour: 0, y: (i) => valueAt(q, p(i)) ?? NaN }],
    dots: x.values.length <= 100, joined: true, xLabel: axis.name + (axis.unit ? ` (${axis.unit})` : ""), xName: axis.name, yLabel: q.label + q.unit,
    marks, selected: state.at.get(x), pick: (i) => { if (state.at.get(x) !== i) { state.at.set(x, i); chosen(); } } };
}

function sweepMap() {
  const q = state.q, { x, y } = state, data = numbers(q.array.data), mine = axesOf(q.array);
  const step = new Map();
  let stride = 1;
  for (const a of [...mine].reverse()) { step.set(a, stride); stride *= a.values.length; }
  let base = 0;
  for (const a of mine) if (a !== x && a !== y) base += state.at.get(a) * step.get(a);
  const sx = step.get(x), sy = step.get(y), sp = q.array.points.stride, offset = q.k * (q.array.variable?.stride ?? 0);
  const all = q.array.points.name === "cell" || !placeOf;
  const find = (k, r) => { const n = base + k * sx + r * sy; return all ? n : placeOf.get(n); };
  const best = bestOf(q);
  let mark;
  if (best >= 0) {
    const n = q.array.points.name === "cell" || !run ? best : run[best];
    const k = Math.floor(n / sx) % x.values.length, r = Math.floor(n / sy) % y.values.length;
    if (find(k, r) === best) mark = { at: [k, r], label: bestWord(q) };
  }
  let lowest = Infinity;
  if (q.signed === undefined) { for (let p = 0; p < q.array.points.n; p++) { const v = valueAt(q, p); if (v < lowest) lowest = v; } q.signed = lowest < 0; }
  return { columns: x.values.length, rows: y.values.length, value: (k, r) => { const p = find(k, r); return p === undefined ? undefined : data[p * sp + offset]; },
    x: axisOf(x), y: axisOf(y), label: q.label + q.unit, valueName: q.label, diverging: q.signed && q.array.better === "zero",
    key: `${q.label}|${x.name}|${y.name}|${base}`, selected: [state.at.get(x), state.at.get(y)], mark,
    pick: (k, r) => { state.at.set(x, k); state.at.set(y, r); chosen(); } };
}

// ---- A point

/** Where the details of the chosen point begin in an array: the nearest point that has any. */
function base(array) {
  if (!array.points) return 0;
  let p = state.point;
  if (array.points.name === "cell") { p = state.at ? place(array, state.at) ?? 0 : 0; return p * array.points.stride; }
  return (R.kept ? R.kept.indexOf(shown()) : p) * array.points.stride;
}

/** The point whose details are shown. */
function shown() {
  if (!R.kept || R.kept.includes(state.point)) return state.point;
  const here = positions(state.point);
  let best = R.kept[0], least = Infinity;
  for (const p of R.kept) {
    let far = 0;
    for (const [a, k] of positions(p)) far += ((k - here.get(a)) / a.values.length) ** 2;
    if (far < least) { least = far; best = p; }
  }
  return best;
}

const labelsOf = (channel) => (channel ? R.labels[channel.name] ?? [...Array(channel.n).keys()].map(String) : [""]);
const chosenNodes = (channel) => {
  const key = channel?.name ?? "";
  if (!state.nodes.has(key)) state.nodes.set(key, [...Array(Math.min(channel?.n ?? 1, (channel?.n ?? 1) <= 8 ? 8 : 3)).keys()]);
  return state.nodes.get(key);
};

/** A time course or a spectrum at the chosen point. */
function linesOf(array, spectrum) {
  const data = numbers(array.data), from = base(array), along = spectrum ? array.frequency : array.time;
  const offset = from + (state.variable.get(array.name) ?? 0) * (array.variable?.stride ?? 0), step = along.stride, wide = array.channel?.stride ?? 0;
  const labels = labelsOf(array.channel), picked = chosenNodes(array.channel), variable = array.variables[state.variable.get(array.name) ?? 0];
  const y = (channel) => { const o = offset + channel * wide; return (i) => data[o + i * step]; };
  const stored = R.coordinates[along.name] ? numbers(R.coordinates[along.name]) : null;
  const x = array.resolution ? (i) => i * array.resolution : array.thinned ? (i) => stored[Math.min(stored.length - 1, Math.floor(((i >> 1) + (i & 1) * 0.5) * 2 * stored.length / along.n))] : stored ? (i) => stored[i] : (i) => i;
  // Long recordings are read in seconds.
  const long = !spectrum && R.timeUnit === "ms" && x(along.n - 1) >= 1e4;
  const quiet = [];
  if (array.channel && array.channel.n <= 400) for (let k = 0; k < array.channel.n; k++) if (!picked.includes(k)) quiet.push(y(k));
  const unit = variable ? R.units[variable] : "";
  return { n: along.n, x: long ? (i) => x(i) / 1000 : x, lines: picked.map((k, colour) => ({ label: labels[k] || variable || array.name, colour, y: y(k) })), quiet,
    xLabel: spectrum ? "Frequency (Hz)" : `Time (${long ? "s" : R.timeUnit})`, logY: spectrum,
    yLabel: spectrum ? `Density (${unit ? /[^\w°µ]/.test(unit) ? `(${unit})²` : `${unit}²` : "units²"}/Hz)` : (variable ?? array.name) + (unit ? ` (${unit})` : "") };
}

function profileOf(array) {
  const data = numbers(array.data), offset = base(array) + (state.variable.get(array.name) ?? 0) * (array.variable?.stride ?? 0), labels = labelsOf(array.channel);
  const variable = array.variables[state.variable.get(array.name) ?? 0];
  const kind = array.channel.name.split("_").pop();
  return { n: array.channel.n, x: (i) => i, xText: (i) => labels[i], xName: kind, integers: true, dots: true, xLabel: kind[0].toUpperCase() + kind.slice(1),
    lines: [{ label: variable ?? array.name, colour: 0, y: (i) => data[offset + i * array.channel.stride] }], yLabel: (variable ? `${array.name} ${variable}` : array.name) + (variable ? unitOf(variable) : "") };
}

function matrixOf(array) {
  const data = numbers(array.data), offset = base(array) + (state.variable.get(array.name) ?? 0) * (array.variable?.stride ?? 0);
  const { rows, columns } = array;
  const axis = (d) => {
    const labels = R.labels[d.name], stored = R.coordinates[d.name] ? numbers(R.coordinates[d.name]) : null, kind = d.name.replace(/_[ab]$/, "").split("_").pop();
    const text = (k) => (labels ? labels[k] : stored ? `${fmt(stored[k])} ${R.timeUnit}` : String(k));
    return { name: kind[0].toUpperCase() + kind.slice(1), text, words: Boolean(labels) };
  };
  let negative = false;
  for (let k = 0; k < rows.n * columns.n && !negative; k++) negative = data[offset + k] < 0;
  const correlation = /fc/i.test(array.name);
  return { columns: columns.n, rows: rows.n, value: (k, r) => data[offset + r * rows.stride + k * columns.stride], x: axis(columns), y: axis(rows),
    label: "", valueName: array.name, diverging: negative || correlation, square: true, down: true, still: true, key: `${array.name}|${offset}`, hint: "Correlations from −1 to 1; point at a cell for its value.".replace(/.*/, correlation ? "$&" : "Point at a cell for its value.") };
}

function nodeList(array) {
  const channel = array.channel;
  if (!channel || channel.n < 2) return [];
  const labels = labelsOf(channel), box = make("div", {}), kind = channel.name.split("_").pop();
  const paint = () => {
    const t = theme(), picked = chosenNodes(channel);
    [...box.children].forEach((label, k) => {
      const input = label.firstChild, colour = picked.indexOf(k);
      input.checked = colour >= 0;
      input.disabled = colour < 0 && picked.length >= 8;
      input.style.setProperty("--swatch", colour >= 0 ? t.lines[colour] : "");
    });
  };
  labels.forEach((text, k) => {
    const input = make("input", { type: "checkbox" });
    input.addEventListener("change", () => {
      const picked = chosenNodes(channel);
      if (input.checked) picked.push(k); else picked.splice(picked.indexOf(k), 1);
      for (const f of state.painters) f();
      later();
    });
    box.append(make("label", { title: text }, input, make("span", { textContent: text || String(k) })));
  });
  state.painters.push(paint);
  paint();
  return [make("fieldset", { className: "channels" }, make("legend", { textContent: `${kind[0].toUpperCase()}${kind.slice(1)}s in colour, up to eight; the others are grey` }), box)];
}

/** A card for arrays of a kind, with a choice among them and among their variables. */
function card(title, arrays, build) {
  if (!arrays.length) return;
  let array = arrays.find((a) => a.name === "bold") ?? arrays[0];
  const head = make("header", {}), body = make("div", {}), note = make("p", { className: "note" });
  const fill = () => {
    head.replaceChildren(make("h3", { textContent: title }));
    if (arrays.length > 1) head.append(choice("Array", arrays.map((a) => a.name), arrays.indexOf(array), (k) => { array = arrays[k]; fill(); head.querySelector("select").focus(); }));
    if (array.variables.length > 1) head.append(choice("Variable", array.variables, state.variable.get(array.name) ?? 0, (k) => { state.variable.set(array.name, k); later(); }));
    note.textContent = array.thinned ? `${fmt(array.thinned, 9)} samples, shown as the extremes of ${array.time.n / 2} stretches; the result file has all.`
      : array.cut ? `The lowest ${array.frequency.n} of ${array.cut} frequencies of Welch's density.` : "";
    body.replaceChildren(...build(array), ...(note.textContent ? [note] : []));
    later();
  };
  $("cards").append(make("article", { className: "card" }, head, body));
  fill();
}

function showPoint() {
  if (state.at) {
    const p = shown(), at = positions(p), line = $("where");
    const parts = [`Point ${run ? run[p] : p}`];
    const all = zip ? axes.map((a) => [a, at.get(swept[0])]) : [...swept].map((a) => [a, at.get(a)]);
    line.replaceChildren(parts[0], ...all.flatMap(([a, k]) => [" · ", `${a.name} `, make("b", { textContent: fmt(a.values[k]) + (a.unit ? ` ${a.unit}` : "") })]));
    if (p !== state.point) line.append(" · the nearest point that this page holds in detail");
  }
  later();
}

function startPoint() {
  const of = (kind) => R.arrays.filter((a) => a.kind === kind);
  const single = !swept.length;
  const many = of("series"), profiles = of("profile"), matrices = of("matrix"), spectra = of("spectrum");
  if (!many.length && !profiles.length && !matrices.length && !spectra.length) return;
  $("point").hidden = false;
  $("point-title").textContent = single ? "Results" : "The chosen point";
  state.painters = [];
  const lines = (kind, spectrum) => (array) => [new Lines(`${kind} ${array.name}`, () => linesOf(array, spectrum)).element, ...(spectrum ? [] : nodeList(array))];
  card("Time course", many, lines("Time course", false));
  card("Power spectrum", spectra, lines("Power spectrum", true));
  const own = matrices.filter((m) => m.points), fixed = matrices.filter((m) => !m.points);
  const matrix = (array, caption) => make("div", {}, make("h4", { textContent: caption }), new Raster(`Matrix ${array.name}`, () => matrixOf(array), 420).element);
  card("Matrix", own.length ? own : fixed, (array) => {
    const partner = fixed.find((m) => m !== array && m.name === `empirical_${array.name}`) ?? fixed.find((m) => m !== array && /fc$/.test(m.name) && /fc$/i.test(array.name));
    return [make("div", { className: "pair" }, matrix(array, array.points ? "Simulated" : array.name), ...(partner ? [matrix(partner, "Empirical")] : []))];
  });
  card("Over the network", profiles, (array) => [new Lines(`Profile ${array.name}`, () => profileOf(array), 240).element]);
  showPoint();
}

startSweep();
startPoint();
later();
