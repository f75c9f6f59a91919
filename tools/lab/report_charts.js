// ---- Elements and texts

const SVG_NAMES = ["svg", "g", "path", "line", "text", "rect", "circle"];
function make(name, attributes = {}, ...children) {
  const element = SVG_NAMES.includes(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const number = (n, digits = 3) => n === 0 ? "0" : n >= 1000 ? Math.round(n).toLocaleString("en") : String(+n.toPrecision(digits));
const duration = ms => ms >= 1000 ? number(ms / 1000) + " s" : ms >= 1 ? number(ms) + " ms" : ms > 0 ? number(ms * 1000) + " µs" : "0 s";
const percent = share => number(share * 100) + " %";

// ---- Scales

const LEFT = 54, RIGHT = 10, TOP = 20, BOTTOM = 24, HEIGHT = 210;

// Returns ticks in about four round steps, from 0 to `top` or a little above.
function evenTicks(top) {
  const unit = 10 ** Math.floor(Math.log10(top / 4));
  const step = [1, 2, 5, 10].map(f => f * unit).find(s => top / s <= 5);
  return Array.from({ length: Math.ceil(top / step * 0.999) + 1 }, (_, i) => i * step);
}
const placeOf = part => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
function evenScale(values) {
  const ticks = evenTicks(Math.max(4, ...values));
  return { of: v => placeOf(v / ticks.at(-1)), ticks };
}
// A logarithmic scale between two powers of ten. Values below the lower one lie on the axis.
function logScale(values) {
  const above = values.filter(v => v > 0), floor = data.runs[0].distribution.lowest_ms;
  const low = Math.floor(Math.log10(Math.max(floor, Math.min(...above, 1)))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...above, 1))));
  return { low, high, of: v => placeOf((Math.log10(Math.max(v, 10 ** low)) - low) / (high - low)),
           ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) };
}
const pathOf = points => points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");

// ---- Frames: axes, rules, marks

function frame(width, chart, name, scale) {
  const svg = make("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${chart.title}: ${name}`, "data-chart": chart.id });
  for (const tick of scale.ticks) {
    const y = scale.of(tick);
    svg.append(make("line", { class: "gridline", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
               make("text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, chart.format(tick)));
  }
  return svg;
}
function addRules(svg, rules, scale, width, format) {
  const taken = [];
  for (const rule of [...rules].sort((a, b) => b.value - a.value)) {
    const y = scale.of(rule.value);
    // If two rules are close together, one label goes below its line.
    const label = taken.some(t => Math.abs(t - (y - 5)) < 13) ? y + 14 : y - 5;
    taken.push(label);
    svg.append(make("line", { class: "rule " + (rule.kind ?? ""), x1: LEFT, x2: width - RIGHT, y1: y, y2: y, "data-rule": rule.name }),
               make("text", { class: "label", x: width - RIGHT, y: label, "text-anchor": "end" }, `${rule.name} ${format(rule.value)}`));
  }
}
function addMarks(svg, marks, across) {
  marks.forEach((mark, i) => {
    const x = across(mark.at);
    svg.append(make("line", { class: "mark", x1: x, x2: x, y1: TOP - 4, y2: HEIGHT - BOTTOM, "data-mark": mark.text }),
               make("text", { class: "mark-number", x, y: TOP - 7, "text-anchor": "middle" }, String(i + 1)));
  });
}

// ---- Charts over time

// Returns a point for each slot; for percentiles, a point in the middle of each bin that has tasks.
function pointsOf(run, key, binned, across, scale) {
  const { at, bin } = run.series, step = at.length > 1 ? at[1] - at[0] : 0;
  if (!binned) return at.map((t, i) => [across(t + step / 2), scale.of(run.series[key][i])]);
  const points = [];
  for (let first = 0; first < at.length;) {
    let last = first;
    while (last + 1 < at.length && bin[last + 1] === bin[first]) ++last;
    if (run.series[key.replace(/_p\d+$/, "_p99")][first] > 0 || key.startsWith("wait"))
      points.push([across((at[first] + at[last] + step) / 2), scale.of(run.series[key][first])]);
    first = last + 1;
  }
  return points;
}

function addHeat(svg, run, kind, across, scale) {
  const { lowest_ms, rows_per_decade } = run.distribution, { at } = run.series, cells = run.heat[kind];
  const step = at.length > 1 ? at[1] - at[0] : run.length_s, most = Math.max(...cells.map(c => c[2]));
  const group = make("g", { "data-heat": kind });
  for (const [slot, row, count] of cells) {
    const top = scale.of(lowest_ms * 10 ** ((row + 1) / rows_per_decade)), bottom = scale.of(lowest_ms * 10 ** (row / rows_per_decade));
    const x = across(slot * step), right = Math.min(across((slot + 1) * step), svg.right);
    group.append(make("rect", { x: x.toFixed(1), width: Math.max(1, right - x).toFixed(1), y: Math.min(top, bottom - 2).toFixed(1), height: Math.max(2, bottom - top).toFixed(1),
      style: `fill:var(--blue);opacity:${(0.12 + 0.68 * Math.sqrt(count / most)).toFixed(2)}` }));
  }
  svg.append(group);
}

function drawOverTime(chart, run, scale, length, width) {
  const across = t => LEFT + t / length * (width - LEFT - RIGHT);
  const svg = frame(width, chart, run.title, scale);
  svg.right = width - RIGHT;
  const step = [0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600].find(s => length / s <= Math.max(4, width / 55)) ?? 7200;
  for (let t = 0; t <= length + 1e-9; t += step)
    svg.append(make("text", { x: across(t), y: HEIGHT - 6, "text-anchor": t === 0 ? "start" : "middle" }, number(t) + (t === 0 ? " s" : "")));
  if (chart.heat) addHeat(svg, run, chart.heat, across, scale);
  for (const series of chart.series) {
    const points = pointsOf(run, series.key, series.binned, across, scale);
    if (!points.length) continue;
    if (series.filled)
      svg.append(make("path", { class: "area", style: `fill:var(--${series.colour})`,
        d: pathOf(points) + `L${points.at(-1)[0].toFixed(1)} ${HEIGHT - BOTTOM}L${points[0][0].toFixed(1)} ${HEIGHT - BOTTOM}Z` }));
    svg.append(make("path", { class: "series", "data-series": series.key, style: `stroke:var(--${series.colour})`, d: pathOf(points) }));
  }
  addMarks(svg, run.marks, across);
  addRules(svg, chart.rules(run), scale, width, chart.format);
  svg.append(make("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM }));
  return svg;
}

const heading = (title, unit) => make("h3", {}, title + " ", make("span", { class: "unit" }, unit));

// A panel that redraws when its width changes.
function drawnPanel(title, unit, draw, ...below) {
  const place = make("div"), box = make("div", { class: "panel" }, heading(title, unit), place, ...below);
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== box.drawnWidth) { box.drawnWidth = width; place.replaceChildren(draw(width)); }
  }).observe(place);
  return box;
}

function overTimePanel(chart, run, scale, length, several) {
  const values = chart.series.map(s => {
    const value = make("b", {}, "");
    return { value, key: s.key, entry: make("span", {}, make("i", { style: `background:var(--${s.colour})` }), s.name + " ", value) };
  });
  if (chart.heat) values.push({ entry: make("span", {}, make("i", { style: "background:var(--blue);opacity:.45" }), "each task, darker where there are more") });
  let svg = null;
  const box = drawnPanel(chart.title, several ? `${run.title}: ${chart.unit}` : chart.unit, width => {
    svg = drawOverTime(chart, run, scale, length, width);
    svg.addEventListener("pointermove", event => {
      const area = svg.getBoundingClientRect();
      const t = (event.clientX - area.left - LEFT) / (area.width - LEFT - RIGHT) * length;
      for (const other of document.querySelectorAll(".panel")) other.show?.(Math.min(length, Math.max(0, t)));
    });
    svg.addEventListener("pointerleave", () => { for (const other of document.querySelectorAll(".panel")) other.show?.(null); });
    return svg;
  }, make("div", { class: "legend" }, ...values.map(v => v.entry)));
  box.show = t => {  // shows the values at time t; hides them if t is null
    const i = t === null ? -1 : Math.max(0, run.series.at.findLastIndex(a => a <= t)), cursor = svg.querySelector(".cursor");
    for (const v of values) if (v.key) v.value.textContent = i < 0 ? "" : chart.format(run.series[v.key][i]);
    cursor.style.visibility = i < 0 ? "hidden" : "visible";
    if (i >= 0) for (const end of ["x1", "x2"]) cursor.setAttribute(end, LEFT + t / length * (box.drawnWidth - LEFT - RIGHT));
  };
  return box;
}

// ---- The charts

const bound = run => run.settings.queue.capacity;
const goalRules = (run, of) => (run.verdict?.parts ?? []).filter(p => p.of === of && /^(p|max)/.test(p.metric))
  .map(p => ({ name: `goal${p.class ? " " + p.class : ""} ${p.metric} <`, value: p.limit, kind: "goal" }));
const nothing = (...keys) => run => keys.every(key => run.series[key].every(v => v === 0));
const CHARTS = [
  { id: "sizes", title: "Pool size", unit: "threads", format: v => number(v), empty: () => false, series: [
      { key: "workers", name: "workers", colour: "amber", filled: true }, { key: "active", name: "active", colour: "blue" }],
    rules: run => [{ name: "core", value: run.settings.core },
                   ...(run.settings.maximum > run.settings.core && run.settings.maximum <= 4 * run.summary.peak_threads ? [{ name: "maximum", value: run.settings.maximum }] : [])] },
  { id: "queue", title: "Queue", unit: "tasks waiting", format: v => number(v), empty: nothing("most_queued"), none: "no task ever waited in it", series: [
      { key: "queued", name: "mean", colour: "blue", filled: true }, { key: "most_queued", name: "most", colour: "violet" }],
    rules: run => bound(run) && bound(run) <= 4 * Math.max(1, run.summary.peak_queue) ? [{ name: "capacity", value: bound(run) }] : [] },
  { id: "throughput", title: "Throughput", unit: "tasks per second", format: v => number(v), empty: () => false, series: [
      { key: "arrivals", name: "arrivals", colour: "grey" }, { key: "completed", name: "done", colour: "green", filled: true }], rules: () => [] },
  { id: "rejections", title: "Rejections", unit: "per second", format: v => number(v), empty: nothing("refused"), none: "none", series: [
      { key: "refused", name: "rejected", colour: "red", filled: true }], rules: () => [] },
  { id: "wait", title: "Wait", unit: "intended arrival to start", format: duration, heat: "wait", empty: run => run.summary.all.wait_ms.max < 0.01, none: "no task waited 10 µs", series: [
      { key: "wait_p50", name: "p50", colour: "green", binned: true }, { key: "wait_p99", name: "p99", colour: "amber", binned: true }],
    rules: run => goalRules(run, "wait") },
  { id: "total", title: "Total time", unit: "intended arrival to end", format: duration, heat: "total", empty: run => !run.summary.all.completed, none: "no task was done", series: [
      { key: "total_p50", name: "p50", colour: "green", binned: true }, { key: "total_p99", name: "p99", colour: "amber", binned: true }],
    rules: run => [...goalRules(run, "total"), ...run.deadlines_ms.slice(0, 1).map(d => ({ name: "deadline", value: d, kind: "deadline" }))] },
  { id: "run", title: "Run", unit: "start to end", format: duration, heat: "run", empty: run => !run.summary.all.completed, none: "no task was done", series: [
      { key: "run_p50", name: "p50", colour: "green", binned: true }, { key: "run_p99", name: "p99", colour: "amber", binned: true }], rules: () => [] },
];

function scaleOf(chart, runs) {
  const of = run => [...chart.series.flatMap(s => run.series[s.key]), ...chart.rules(run).map(r => r.value)];
  if (!chart.heat) return evenScale(runs.flatMap(of));
  const cells = run => run.heat[chart.heat].flatMap(c => [c[1], c[1] + 1]).map(row => run.distribution.lowest_ms * 10 ** (row / run.distribution.rows_per_decade) * 0.999);
  return logScale(runs.flatMap(run => [...of(run), ...cells(run)]));
}

// ---- The cumulative distribution of durations

const RUN_COLOURS = ["blue", "amber", "green", "violet"];
function distributionPanel(kind, title, runs) {
  const { lowest_ms, rows_per_decade } = runs[0].distribution, value = row => lowest_ms * 10 ** (row / rows_per_decade);
  const rising = runs.flatMap(run => run.distribution[kind].map((share, row) => [share, row]).filter(([share], row, all) => share > (row ? all[row - 1][0] : 0)).map(([, row]) => row));
  const chart = { id: "distribution-" + kind, title, format: percent };
  const rules = [...goalRules(runs[0], kind), ...(kind === "total" ? runs[0].deadlines_ms.slice(0, 1).map(d => ({ name: "deadline", value: d, kind: "deadline" })) : [])];
  const decade = v => Math.log10(v / lowest_ms) / 1;
  const low = Math.floor(Math.min(...rising) / rows_per_decade), high = Math.max(low + 1, Math.ceil(Math.max(...rising.map(r => (r + 1) / rows_per_decade), ...rules.map(r => decade(r.value)))));
  const scale = { of: v => placeOf(v), ticks: [0, 0.25, 0.5, 0.75, 0.9, 1] };
  const draw = width => {
    const across = ms => LEFT + (Math.max(decade(ms), low) - low) / (high - low) * (width - LEFT - RIGHT);
    const svg = frame(width, chart, "all", scale);
    for (let d = low; d <= high; ++d)
      svg.append(make("line", { class: "gridline", x1: across(lowest_ms * 10 ** d), x2: across(lowest_ms * 10 ** d), y1: TOP, y2: HEIGHT - BOTTOM }),
        make("text", { x: across(lowest_ms * 10 ** d), y: HEIGHT - 6, "text-anchor": d === low ? "start" : d === high ? "end" : "middle" }, (d === low && low === 0 ? "≤ " : "") + duration(lowest_ms * 10 ** d)));
    runs.forEach((run, i) => {
      const points = run.distribution[kind].map((share, row) => [row + 1, share]).filter(([row]) => row >= low * rows_per_decade && row <= high * rows_per_decade);
      const begin = low > 0 ? run.distribution[kind][low * rows_per_decade - 1] ?? 0 : 0;
      svg.append(make("path", { class: "series", "data-series": run.title, style: `stroke:var(--${RUN_COLOURS[i % 4]})`,
        d: pathOf([[LEFT, scale.of(begin)], ...points.map(([row, share]) => [across(value(row)), scale.of(share)])]) }));
    });
    for (const rule of rules) {
      const x = across(rule.value), near = x > width - 120;
      svg.append(make("line", { class: "rule " + rule.kind, x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM, "data-rule": rule.name }),
        make("text", { class: "label", x: x + (near ? -6 : 6), y: TOP + 12 + (rule.kind === "deadline" ? 16 : 0), "text-anchor": near ? "end" : "start" }, `${rule.name} ${duration(rule.value)}`));
    }
    return svg;
  };
  return drawnPanel(title, "share of the arrived tasks that took at most so long", draw,
    make("div", { class: "legend" }, ...runs.map((run, i) => make("span", {}, make("i", { style: `background:var(--${RUN_COLOURS[i % 4]})` }), run.title))));
}
