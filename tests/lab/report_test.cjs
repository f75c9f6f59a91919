// Opens a report in a real browser and reads the charts that it drew: node report_test.cjs <spool> [<picture.png>]
"use strict";
const { execFileSync } = require("node:child_process");
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { chromium } = require("playwright-core");

// A chart as the browser holds it: of each series its points, in the units of the page.
function readCharts() {
  const numbers = d => d.match(/-?[\d.]+ -?[\d.]+/g).map(pair => pair.split(" ").map(Number));
  return [...document.querySelectorAll("svg[data-chart]")].map(svg => ({
    id: svg.dataset.chart,
    width: svg.getBoundingClientRect().width,
    rules: Object.fromEntries([...svg.querySelectorAll("[data-rule]")].map(r => [r.dataset.rule, Number(r.getAttribute("y1"))])),
    series: Object.fromEntries([...svg.querySelectorAll("[data-series]")].map(p => [p.dataset.series, numbers(p.getAttribute("d"))])),
    marks: [...svg.querySelectorAll("[data-mark]")].map(m => m.dataset.mark),
    cells: svg.querySelectorAll("[data-heat] rect").length,
    ticks: [...svg.querySelectorAll("text")].map(t => t.textContent),
  }));
}
const highest = points => Math.min(...points.map(([, y]) => y));  // on a screen y grows downwards


// A page of a report, and what went wrong in it.
async function open(browser, report, width, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  page.asked = [];
  page.errors = [];
  page.on("request", request => page.asked.push(request.url()));
  page.on("pageerror", error => page.errors.push(String(error)));
  await page.goto("file://" + report);
  await page.locator("svg").last().waitFor();
  return page;
}
async function close(page, report) {
  assert.deepStrictEqual(page.errors, [], "errors in the page");
  assert.deepStrictEqual(page.asked, ["file://" + report], "the page needs nothing but itself");
  await page.close();
}

// The story of the flash crowd, as drawn.
async function checkCharts(page) {
  const charts = await page.evaluate(readCharts);
  assert.deepStrictEqual(charts.map(c => c.id),
    ["sizes", "queue", "throughput", "rejections", "wait", "total", "run", "distribution-wait", "distribution-total"]);
  const of = Object.fromEntries(charts.map(c => [c.id, c]));
  for (const chart of charts)
    for (const [name, points] of Object.entries(chart.series)) {
      const binned = /_p\d+$/.test(name);
      assert.ok(points.length >= (binned ? 8 : 20), `${chart.id}: ${name} has ${points.length} points`);
      assert.ok(points.every(p => p.every(Number.isFinite)), `${chart.id}: ${name} is not drawn`);
    }
  assert.ok(Math.abs(highest(of.sizes.series.workers) - of.sizes.rules.maximum) < 2, "the workers reach the line of the maximum");
  assert.ok(Math.abs(highest(of.queue.series.most_queued) - of.queue.rules.capacity) < 2, "the queue reaches the line of its capacity");
  const refused = of.rejections.series.refused, when = refused.findIndex(([, y]) => y === highest(refused)) / refused.length;
  assert.ok(when > 0.4 && when < 0.65, `rejections peak at ${when} of the time`);
  for (const kind of ["wait", "total"]) {
    of[kind].series[kind + "_p99"].forEach(([, y], i) => assert.ok(y <= of[kind].series[kind + "_p50"][i][1] + 0.01, "p99 lies above p50"));
    assert.ok(of[kind].series[kind + "_p99"].length <= of.sizes.series.workers.length / 2, "percentiles have wider bins than sizes");
    assert.ok(of[kind].cells > 100, `${kind}: a heat map of ${of[kind].cells} cells`);
  }
  assert.ok(of.wait.ticks.includes("1 s") && of.wait.ticks.includes("10 ms"), `ticks ${of.wait.ticks}`);
  assert.deepStrictEqual([Object.keys(of.wait.rules), Object.keys(of.total.rules)], [["goal p99 <"], ["deadline"]], "the deadline is about the total time");
  for (const id of ["sizes", "queue", "wait", "total"]) assert.strictEqual(of[id].marks.length, 2, `${id}: marks where the crowd comes and goes`);
  const shares = of["distribution-wait"].series["flash-crowd"];
  shares.forEach(([, y], i) => assert.ok(i === 0 || y <= shares[i - 1][1] + 0.01, "a distribution never falls"));
}

// The verdict comes before all figures, and the tiles have its colours.
async function checkHead(page) {
  const first = await page.evaluate(() => document.querySelector("[data-verdict], .card, svg, table").dataset.verdict);
  assert.strictEqual(first, "missed", "the verdict stands first");
  assert.match(await page.innerText("[data-verdict]"), /Goal missed[^]*p99 wait 1\.94 s[^]*goal p99<50ms/);
  const kinds = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("[data-tile]")].map(t => [t.dataset.tile, t.className.split(" ")[1]])));
  assert.deepStrictEqual([kinds["wait p50"], kinds["wait p99"], kinds["total p99"]], ["bad", "bad", "bad"], "waits of seconds are not neutral");
  assert.match(await page.innerText("[data-settings]"), /queue\s+linked, 2,000\s+peak 2,000, full for/);
  assert.match(await page.innerText("[data-load]"), /1200\/s, Poisson, 3 s to 6 s/);
  const about = await page.innerText("[data-about]");
  for (const part of [/spool lab run flash-crowd --simulate/, /Spool \d+\.\d+\.\d+/, /\d{4}-\d\d-\d\d \d\d:\d\d UTC/, /\d+ CPU/]) assert.match(about, part);
}

async function main(spool, picture) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "spool-report-"));
  const write = (name, ...command) => {
    const report = path.join(folder, name + ".html");
    execFileSync(spool, ["lab", ...command, "--report", report], { stdio: "ignore" });
    return report;
  };
  const report = write("report", "run", "flash-crowd", "--simulate", "--quiet");
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const colours = new Set();
    for (const [width, scheme] of [[1440, "light"], [390, "dark"], [360, "light"]]) {
      const page = await open(browser, report, width, scheme);
      await checkHead(page);
      await checkCharts(page);
      colours.add(await background(page));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} pixels wide in a window of ${width}`);
      assert.ok((await page.evaluate(readCharts)).every(c => c.width > 250), "charts keep most of the width");
      await page.locator('svg[data-chart="queue"]').hover();
      assert.match(await page.locator('.panel:has(svg[data-chart="queue"]) .legend').innerText(), /most\s+\d/, "the pointer reads values");
      await page.setViewportSize({ width: 800, height: 900 });
      await page.waitForFunction(() => document.querySelector("svg[data-chart]").getBoundingClientRect().width > 600);  // drawn anew
      await close(page, report);
    }
    assert.strictEqual(colours.size, 2, "the dark scheme has its own colours");

    // Charts that would be empty are a line each.
    const steady = write("steady", "run", "steady-web", "--simulate", "--quiet"), calm = await open(browser, steady, 1440, "light");
    assert.strictEqual(await calm.evaluate(() => document.querySelector("[data-verdict]").dataset.verdict), "met");
    const empty = await calm.evaluate(() => [...document.querySelectorAll("[data-empty]")].map(e => e.getBoundingClientRect().height));
    assert.ok(empty.length === 3 && empty.every(h => h < 60), `heights of empty charts: ${empty}`);
    await close(calm, steady);

    // Changes of settings have marks, in words.
    const slow = write("slow", "run", "slow-downstream", "--simulate", "--quiet"), changed = await open(browser, slow, 1440, "light");
    assert.match(await changed.innerText(".marks"), /3 s: tasks run 8 times as long[^]*7 s: tasks run as long as drawn/);
    await close(changed, slow);

    // What-if: the recommendation first, all that was tried, and the runs before and after.
    const tried = write("tried", "what-if", "flash-crowd"), advice = await open(browser, tried, 1440, "light");
    assert.deepStrictEqual(await advice.evaluate(() => [...document.querySelectorAll("[data-verdict]")].map(v => v.dataset.verdict)), ["met", "missed", "met"]);
    assert.ok(await advice.locator("[data-trial]").count() > 200, "a dot for each setting that was tried");
    assert.match(await advice.innerText("main"), /Fewer threads[^]*What no other setting beats/);
    await advice.setViewportSize({ width: 390, height: 900 });
    assert.ok(await advice.evaluate(() => document.documentElement.scrollWidth) <= 390, "what-if fits a telephone");
    await close(advice, tried);
    if (picture) await takePicture(browser, tried, picture);
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true });
  }
  console.log("report_test: the charts are drawn as they should be");
}

// For the documentation: the report of what-if, which is the same on every machine.
async function takePicture(browser, report, picture) {
  const page = await browser.newPage({ viewport: { width: 1320, height: 1680 }, colorScheme: "light" });
  await page.goto("file://" + report);
  await page.locator("svg").last().waitFor();
  await page.screenshot({ path: picture });
}

main(...process.argv.slice(2)).catch(error => { console.error(`report_test: ${error.message ?? error}`); process.exit(1); });
