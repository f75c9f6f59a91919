// ---- Verdict, tiles, settings

const ORDER = ["p50", "p90", "p95", "p99", "p99.9", "max"];
// Rates a wait or a total time: against the goal, else the deadline, else the run times.
function judged(run, of, metric, value) {
  const limits = (run.verdict?.parts ?? []).filter(p => p.of === of && !p.class && ORDER.indexOf(p.metric) >= ORDER.indexOf(metric)).map(p => p.limit);
  if (limits.length) return { kind: value < Math.min(...limits) ? "good" : "bad", beside: `goal < ${duration(Math.min(...limits))}` };
  const deadline = run.deadlines_ms[0];
  if (deadline) return { kind: value >= deadline ? "bad" : value >= deadline / 2 ? "warn" : "good", beside: `deadline ${duration(deadline)}` };
  const usual = of === "total" ? run.summary.all.run_ms[metric] : run.summary.all.run_ms.p50;
  return { kind: value > Math.max(10 * usual, 10) ? "bad" : value > Math.max(2 * usual, 1) ? "warn" : "good", beside: `runs take ${duration(usual)}` };
}

function tiles(run) {
  const { all, peak_threads, mean_threads } = run.summary;
  const tile = (value, name, kind = "", beside = "") =>
    make("div", { class: "card " + kind, "data-tile": name }, make("b", {}, value), make("span", {}, name), ...(beside ? [make("small", {}, beside)] : []));
  const time = (of, values, metric, name) => {
    const { kind, beside } = judged(run, of, metric, values[metric]);
    return tile(duration(values[metric]), name, kind, beside);
  };
  return make("div", { class: "cards", "data-cards": run.title },
    time("wait", all.wait_ms, "p50", "wait p50"), time("wait", all.wait_ms, "p99", "wait p99"),
    time("total", all.latency_ms, "p50", "total p50"), time("total", all.latency_ms, "p99", "total p99"),
    tile(percent(all.refusal_share), "rejected", all.refusal_share > 0.001 ? "bad" : "good", all.refusals ? `${number(all.refusals, 9)} times` : ""),
    ...(run.deadlines_ms.length ? [tile(percent(all.late_share), "past their deadline", all.late_share > 0.01 ? "bad" : "good", `${number(all.late, 9)} tasks`)] : []),
    tile(number(all.completed, 9), "done", "", `of ${number(all.arrived, 9)} tasks`),
    tile(`${peak_threads}`, "threads at the peak", "", `${number(mean_threads)} on average`));
}

function verdict(run) {
  if (!run.verdict) return make("div", { class: "verdict", "data-verdict": "none" }, make("b", {}, "No goal is stated"), make("p", { class: "soft" }, "--goal p99<50ms,reject<0.1% states one."));
  const { met, parts } = run.verdict;
  return make("div", { class: "verdict " + (met ? "good" : "bad"), "data-verdict": met ? "met" : "missed" }, make("b", {}, met ? "✓ Goal met" : "✗ Goal missed"),
    make("ul", {}, ...parts.map(p => make("li", { class: p.met ? "good" : "bad" }, make("i", {}, p.met ? "✓" : "✗"), p.figure + " ", make("span", {}, `(goal ${p.text})`)))));
}

function table(head, rows, kind = "") {
  return make("div", { class: "panel scroll" }, make("table", { class: kind }, make("thead", {}, make("tr", {}, ...head.map(h => make("th", {}, h)))),
    make("tbody", {}, ...rows.map(row => row instanceof Node ? row : make("tr", {}, ...row.map(cell => cell instanceof Node ? cell : make("td", {}, String(cell))))))));
}

function settingValues({ settings: s }) {
  return { core: `${s.core}`, maximum: `${s.maximum}`, queue: s.queue.kind === "synchronous" ? "hand-off" : s.queue.capacity ? `${s.queue.kind}, ${number(s.queue.capacity, 9)}` : "unbounded",
    "keep-alive": duration(parseFloat(s.keep_alive) / 1000) + (s.core_may_time_out ? ", core too" : ""), rejection: s.rejection };
}
// Describes the effect of each setting, in figures of the run.
function settingResults(run) {
  const { settings: s, summary, series } = run, times = test => series.at.filter((_, i) => test(i)).length / series.at.length;
  const above = times(i => series.workers[i] > s.core + 0.5), top = times(i => series.workers[i] >= s.maximum - 0.5);
  const full = s.queue.capacity ? times(i => series.most_queued[i] >= s.queue.capacity) : 0;
  return { core: above > 0 ? `more workers for ${percent(above)} of the time` : `${number(summary.mean_threads)} workers on average`,
    maximum: `peak ${summary.peak_threads}` + (top > 0 && s.maximum > s.core ? `, reached for ${percent(top)} of the time` : ""),
    queue: s.queue.kind === "synchronous" ? "nothing waits" : `peak ${number(summary.peak_queue, 9)}` + (full > 0 ? `, full for ${percent(full)} of the time` : ""),
    "keep-alive": s.maximum > s.core || s.core_may_time_out ? `${number(series.workers.at(-1))} workers at the end` : "never applies",
    rejection: summary.all.refusals ? `${number(summary.all.refusals, 9)} rejected, ${number(summary.all.lost, 9)} lost` : "never asked" };
}
function settingsTable(run, first) {
  const values = settingValues(run), before = settingValues(first), results = settingResults(run);
  const box = table(["setting", "value", "what came of it"], Object.keys(values).map(key => [key, make("td", { class: values[key] !== before[key] ? "changed" : "" }, values[key]), results[key]]), "words");
  box.dataset.settings = run.title;
  return box;
}

// ---- Tables at the end

function classesTable(run) {
  return table(["class", "arrived", "done", "rejected", "lost", "late", "wait p50", "wait p99", "wait p99.9", "total p50", "total p99", "total p99.9"],
    [run.summary.all, ...(run.summary.classes.length > 1 ? run.summary.classes : [])].map(c => [c.name, number(c.arrived, 9), number(c.completed, 9), number(c.refusals, 9), number(c.lost, 9),
      percent(c.late_share), duration(c.wait_ms.p50), duration(c.wait_ms.p99), duration(c.wait_ms["p99.9"]), duration(c.latency_ms.p50), duration(c.latency_ms.p99), duration(c.latency_ms["p99.9"])]));
}
function loadTable(run) {
  const box = table(["class", "arrivals", "runs", "deadline", "retries"], run.load.map(c => [c.name, (c.share ? percent(c.share) + " of " : "") + c.arrivals.join("; "),
    `${c.service} (${c.work})`, c.deadline ?? "none", c.retry ?? "none"]), "words");
  box.dataset.load = run.title;
  return box;
}
function about(rows) {
  return make("footer", {}, make("h2", {}, "About this report"),
    make("div", { class: "panel", "data-about": "" }, make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]))));
}
const aboutProgram = () => data.about ? [["command", make("code", {}, data.about.command)], ["version", `Spool ${data.about.version}`], ["date", data.about.date]] : [];

// ---- The page of runs

function runColumns(runs) {
  const several = runs.length > 1, columns = make("div", { class: "columns" });
  for (const run of runs) {
    const warnings = [...run.warnings, ...(run.interrupted ? ["This run was interrupted: here is what there was until then."] : [])];
    const warned = warnings.map(w => make("p", { class: "warning" }, w[0].toUpperCase() + w.slice(1) + (w.endsWith(".") ? "" : ".")));
    const settings = settingsTable(run, runs[0]);
    if (several) columns.append(make("div", { class: "column" }, make("h2", {}, run.title), verdict(run), ...warned, tiles(run), settings));
    else columns.append(make("div", { class: "column" }, verdict(run), ...warned, tiles(run)), make("div", { class: "column" }, settings, loadTable(run)));
  }
  return columns;
}

function chartGrid(runs) {
  const several = runs.length > 1, length = Math.max(...runs.map(run => run.series.at.at(-1) + (run.series.at[1] ?? 0)));
  const grid = make("div", { class: several ? "grid" : "grid single" }), none = [];
  for (const chart of CHARTS) {
    const scale = scaleOf(chart, runs.filter(run => !chart.empty(run)));
    if (runs.every(chart.empty)) { none.push([chart.title, chart.none]); continue; }
    for (const run of runs) grid.append(chart.empty(run)
      ? make("div", { class: "panel slim", "data-empty": chart.id }, make("b", {}, chart.title), ` ${several ? run.title + ": " : ""}${chart.none}`)
      : overTimePanel(chart, run, scale, length, several));
  }
  const slim = none.map(([title, words]) => make("div", { class: "panel slim", "data-empty": title }, make("b", {}, title), `: ${words}`));
  return [...(slim.length ? [make("div", { class: "grid", style: "margin-bottom:16px" }, ...slim)] : []), grid];
}

function runsBody(page, runs) {
  const first = runs[0], several = runs.length > 1;
  page.append(make("h2", {}, "Over time"));
  if (first.marks.length) page.append(make("ol", { class: "marks" }, ...first.marks.map((m, i) => make("li", {}, make("b", {}, String(i + 1)), `${number(m.at)} s: ${m.text}`))));
  page.append(...chartGrid(runs), make("h2", {}, "Distribution"),
    make("div", { class: "grid" }, distributionPanel("wait", "Wait", runs), distributionPanel("total", "Total time", runs)));
  if (several) page.append(make("h2", {}, "Load"), loadTable(first));
  for (const run of runs) page.append(make("h2", {}, several ? `Tasks: ${run.title}` : "Tasks"), classesTable(run));
  const machine = data.about ? `${data.about.cpus} CPU(s)` + (first.simulated ? ", simulated" : `, load average ${data.about.load_average} at the end`) : "";
  page.append(about([...aboutProgram(), ["machine", machine],
    ["run", `${first.simulated ? "simulated" : "a real pool"}, ${number(first.duration_s)} s of load, seed ${first.seed}`],
    ...(first.simulated ? [] : [["the lab's own lateness", `p99 ${runs.map(r => duration(r.summary.lateness_ms.p99)).join(", ")}`]]),
    ["how it counts", "Arrivals never wait for answers. Every wait and every total time counts from the intended arrival. A percentile over time is that of at least 200 tasks, where there are so many."]]));
}

function opening(page, run) {
  page.append(make("h1", {}, data.title), ...[run.story, run.look_for].filter(Boolean).map(words => make("p", { class: "soft" }, words)));
}
function runsPage(page) {
  opening(page, data.runs[0]);
  page.append(runColumns(data.runs));
  runsBody(page, data.runs);
}

// ---- The page of what-if

function triedPanel() {
  const all = data.trials, most = Math.max(...all.map(t => t.peak_threads), data.own.peak_threads), scale = logScale([...all, data.own].map(t => t.wait_p99_ms));
  const chart = { id: "tried", title: "Settings that were tried", format: duration };
  const colour = t => t.refusal_share > 0.01 ? "red" : t.refusal_share > 0.001 ? "amber" : "green";
  const draw = width => {
    const across = n => LEFT + n / (most * 1.05) * (width - LEFT - RIGHT), svg = frame(width, chart, "all", scale);
    for (const tick of evenTicks(most)) if (tick <= most * 1.05) svg.append(make("text", { x: across(tick), y: HEIGHT - 6, "text-anchor": tick ? "middle" : "start" }, number(tick) + (tick ? "" : " threads")));
    const dot = (t, r, more = {}) => make("circle", { cx: across(t.peak_threads).toFixed(1), cy: scale.of(t.wait_p99_ms).toFixed(1), r, style: `fill:var(--${colour(t)})`, ...more });
    for (const t of all) { const d = dot(t, 3, { "data-trial": "", opacity: .4 }); d.append(make("title", {}, `${t.settings_text}: p99 wait ${duration(t.wait_p99_ms)}, ${percent(t.refusal_share)} rejected`)); svg.append(d); }
    for (const p of data.runs[0].verdict.parts.filter(p => p.of === "wait" && p.metric === "p99" && !p.class)) addRules(svg, [{ name: "goal p99 <", value: p.limit, kind: "goal" }], scale, width, duration);
    for (const [t, name] of [[data.own, "as it is"], [data.recommended, data.meets_goal ? "recommended" : "nearest"]]) {
      const x = across(t.peak_threads), near = x > width - 110, y = scale.of(t.wait_p99_ms);
      svg.append(dot(t, 6, { "data-trial": name, stroke: "var(--ink)", "stroke-width": 2 }), make("text", { class: "label", x: x + (near ? -11 : 11), y: y - 8, "text-anchor": near ? "end" : "start" }, name));
    }
    return svg;
  };
  return drawnPanel(chart.title, "p99 wait over the threads at the peak", draw, make("div", { class: "legend" },
    ...[["green", "up to 0.1 % rejected"], ["amber", "up to 1 %"], ["red", "more"]].map(([c, words]) => make("span", {}, make("i", { style: `background:var(--${c})` }), words))));
}

// Returns at most 16 evenly chosen rows, and the recommended one.
function shownFrontier() {
  const all = data.frontier, most = 16, step = Math.max(1, (all.length - 1) / (most - 1));
  const shown = new Set(Array.from({ length: Math.min(most, all.length) }, (_, i) => Math.round(i * step)));
  return all.filter((t, i) => shown.has(i) || t.settings_text === data.recommended.settings_text);
}

function whatIfPage(page) {
  opening(page, data.runs[0]);
  const chosen = data.recommended.settings_text;
  page.append(make("div", { class: "columns" },
    make("div", { class: "column" }, make("div", { class: "verdict " + (data.meets_goal ? "good" : "bad"), "data-verdict": data.meets_goal ? "met" : "missed" },
      make("b", {}, data.meets_goal ? "✓ These settings meet the goal" : "✗ Nothing that was tried meets the goal"), make("p", {}, chosen), make("p", { class: "soft" }, `goal ${data.goal}; ${data.trials.length} settings tried`)), triedPanel()),
    make("div", { class: "column" }, make("div", { class: "panel" }, heading("Why", ""), make("ul", { class: "why" }, ...data.why.map(w => make("li", {}, w)))))), runColumns(data.runs));
  runsBody(page, data.runs);
  page.insertBefore(make("h2", {}, `What no other setting beats (${shownFrontier().length} of ${data.frontier.length})`), page.lastChild);
  page.insertBefore(table(["settings", "threads at the peak", "on average", "p99 wait", "rejected"], shownFrontier().map(t => make("tr", { class: t.settings_text === chosen ? "chosen" : "" },
    ...[t.settings_text, t.peak_threads, number(t.mean_threads), duration(t.wait_p99_ms), percent(t.refusal_share)].map(c => make("td", {}, String(c)))))), page.lastChild);
}

// ---- The page of a speed comparison

function barsOf(results, figure, width) {
  const most = Math.max(...results.map(r => r.figures[figure].max ?? r.figures[figure].median)), row = 26, left = Math.min(190, width * 0.45);
  const across = v => left + v / most * (width - left - 70);
  const svg = make("svg", { width, height: results.length * row + 4, viewBox: `0 0 ${width} ${results.length * row + 4}`, role: "img", "data-chart": figure });
  results.forEach((r, i) => {
    const { median, min = median, max = median } = r.figures[figure], y = i * row + 4;
    svg.append(make("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, r.contender),
      make("rect", { x: left, y, width: Math.max(1, across(median) - left), height: 18, rx: 3, "data-contender": r.contender, style: `fill:var(--${r.contender.startsWith("spool") ? "blue" : "grey"})` }),
      make("line", { x1: across(min), x2: across(max), y1: y + 9, y2: y + 9, style: "stroke:var(--ink);stroke-width:1.5" }),
      make("text", { x: across(max) + 6, y: y + 14 }, number(median)));
  });
  return svg;
}

function benchPage(page) {
  page.append(make("h1", {}, data.title), make("p", { class: "soft" }, Object.entries(data.machine ?? {}).map(([k, v]) => `${k}: ${v}`).join(", ")));
  for (const workload of [...new Set(data.results.map(r => r.workload))]) {
    const results = data.results.filter(r => r.workload === workload);
    const figures = [...new Set(results.flatMap(r => Object.keys(r.figures)))];
    const grid = make("div", { class: "grid" });
    for (const figure of figures) grid.append(drawnPanel(figure, "", width => barsOf(results.filter(r => r.figures[figure]), figure, width)));
    page.append(make("h2", {}, workload), grid, make("p"), table(["contender", ...figures.flatMap(f => [f, "min .. max"])], results.map(r => [r.contender, ...figures.flatMap(f =>
      r.figures[f] ? [number(r.figures[f].median), `${number(r.figures[f].min ?? r.figures[f].median)} .. ${number(r.figures[f].max ?? r.figures[f].median)}`] : ["", ""])])));
  }
  page.append(about(aboutProgram()));
}

document.title = `${data.title} - Spool lab`;
({ bench: benchPage, "what-if": whatIfPage }[data.kind] ?? runsPage)(document.getElementById("page"));
