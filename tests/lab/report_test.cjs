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
    ticks: [...svg.querySelectorAll("text")].map(t => t.textContent),
  }));
}
const highest = points => Math.min(...points.map(([, y]) => y));  // on a screen y grows downwards

async function main(spool, picture) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "spool-report-"));
  const report = path.join(folder, "report.html");
  execFileSync(spool, ["lab", "run", "flash-crowd", "--simulate", "--quiet", "--report", report]);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
    const asked = [], errors = [];
    page.on("request", request => asked.push(request.url()));
    page.on("pageerror", error => errors.push(String(error)));
    await page.goto("file://" + report);

    const charts = await page.evaluate(readCharts);
    assert.deepStrictEqual(charts.map(c => c.id), ["sizes", "queue", "throughput", "rejections", "wait", "run"]);
    const { sizes, queue, rejections, wait } = Object.fromEntries(charts.map(c => [c.id, c]));
    for (const chart of charts)
      for (const [name, points] of Object.entries(chart.series)) {
        assert.ok(points.length >= 50, `${chart.id}: ${name} has ${points.length} points`);
        assert.ok(points.every(p => p.every(Number.isFinite)), `${chart.id}: ${name} is not drawn`);
      }
    // The story of the flash crowd, as drawn: the pool reaches its maximum, the queue its capacity, and tasks are rejected.
    assert.ok(Math.abs(highest(sizes.series.workers) - sizes.rules.maximum) < 2, "the workers reach the line of the maximum");
    assert.ok(Math.abs(highest(queue.series.most_queued) - queue.rules.capacity) < 2, "the queue reaches the line of its capacity");
    const peak = rejections.series.refused.findIndex(([, y]) => y === highest(rejections.series.refused));
    const when = peak / rejections.series.refused.length;
    assert.ok(when > 0.4 && when < 0.65, `rejections peak at ${when} of the time`);
    wait.series.wait_p99.forEach(([, y], i) => assert.ok(y <= wait.series.wait_p50[i][1] + 0.01, "p99 lies above p50"));
    assert.ok(wait.ticks.includes("1 s") && wait.ticks.includes("10 ms"), `ticks ${wait.ticks}`);

    // The settings stand beside the charts, and the pointer reads values.
    assert.match(await page.innerText("main"), /linked, 2000/);
    await page.locator('svg[data-chart="queue"]').hover();
    assert.match(await page.locator('.panel:has(svg[data-chart="queue"]) .legend').innerText(), /most\s+\d/);

    // In the dark, and in a small window: other colours, nothing wider than the window.
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notStrictEqual(await background(), light, "the dark scheme has its own colours");
    await page.setViewportSize({ width: 360, height: 640 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${wide} pixels wide in a window of 360`);
    assert.ok((await page.evaluate(readCharts)).every(c => c.width > 250), "charts keep most of the width");

    assert.deepStrictEqual(errors, [], "errors in the page");
    assert.deepStrictEqual(asked, ["file://" + report], "the page needs nothing but itself");
    if (picture) await takePicture(browser, spool, folder, picture);
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true });
  }
  console.log("report_test: the charts are drawn as they should be");
}

// For the documentation: the demo's report, as wide as a page of text.
async function takePicture(browser, spool, folder, picture) {
  const report = path.join(folder, "demo.html");
  execFileSync(spool, ["lab", "demo", "--report", report], { stdio: "ignore" });
  const page = await browser.newPage({ viewport: { width: 1100, height: 1180 }, colorScheme: "light" });
  await page.goto("file://" + report);
  await page.screenshot({ path: picture });
}

main(...process.argv.slice(2)).catch(error => { console.error(`report_test: ${error.message ?? error}`); process.exit(1); });
