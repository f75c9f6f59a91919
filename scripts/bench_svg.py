"""Charts as SVG text: bars for contenders, lines for growth. Self-contained, light and dark."""
import math
from html import escape

from bench_stats import number

WIDTH = 760
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .note { font-size: 12px; fill: #59636e; }
  .axis { stroke: #d1d9e0; stroke-width: 1; }
  .spool { fill: #0969da; } .peer { fill: #8c959f; } .caller { fill: #8c959f; fill-opacity: 0.4; }
  .spread { stroke: #1f2328; stroke-width: 1.2; }
  .line { fill: none; stroke-width: 2; }
  .s0 { stroke: #0969da; fill: #0969da; } .s1 { stroke: #bc4c00; fill: #bc4c00; }
  .s2 { stroke: #1a7f37; fill: #1a7f37; } .s3 { stroke: #8250df; fill: #8250df; }
  .line.s0, .line.s1, .line.s2, .line.s3 { fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .note { fill: #9198a1; } .axis { stroke: #3d444d; }
    .spool { fill: #4493f8; } .peer, .caller { fill: #656c76; } .spread { stroke: #f0f6fc; }
    .s0 { stroke: #4493f8; fill: #4493f8; } .s1 { stroke: #db6d28; fill: #db6d28; }
    .s2 { stroke: #3fb950; fill: #3fb950; } .s3 { stroke: #ab7df8; fill: #ab7df8; }
    .line.s0, .line.s1, .line.s2, .line.s3 { fill: none; }
  }"""


def document(height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{escape(title)}">\n<style>{STYLE}\n</style>\n'
            + "\n".join(body) + "\n</svg>\n")


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def kind_of(row):
    if not row.hands_over:
        return "caller"
    return "spool" if row.contender.startswith("spool") else "peer"


def bar_chart(title, figure, rows):
    """A bar for each row, in the given order, with a thin line from the minimum to the maximum. The
    scale ends at the greatest median, so that one bad run does not shrink all bars; spreads are cut
    there."""
    left, right, top, step = 290, WIDTH - 70, 58, 26
    end = max((row.median(figure.key) or 0 for row in rows), default=0) or 1

    def x(value):
        return left + (right - left) * min(max(value / end, 0), 1)

    better = "higher is better" if figure.better == "more" else "lower is better"
    body = [text(12, 24, title, "title"), text(12, 44, f"{figure.header}, median; {better}", "note")]
    for i, row in enumerate(rows):
        y, value, (low, high) = top + i * step, row.median(figure.key), row.spread(figure.key)
        body += [text(left - 8, y + 15, row.label + ("" if row.hands_over else " *"), anchor="end"),
                 f'<rect x="{left}" y="{y + 3}" width="{max(x(value) - left, 1):.1f}" height="16" rx="2" '
                 f'class="{kind_of(row)}"/>',
                 line(x(low), y + 11, x(high), y + 11, "spread"),
                 text(max(x(value), x(high)) + 6, y + 15, number(value))]
    bottom = top + len(rows) * step + 4
    body.append(line(left, top, left, bottom, "axis"))
    if any(not row.hands_over for row in rows):
        body.append(text(12, bottom + 16, "* the submitter may run tasks itself", "note"))
    return document(bottom + 26, title, body)


def power_of_ten(size):
    """Powers of ten from 1000 on with superscript digits (10^6); other numbers unchanged."""
    exponent = round(math.log10(size)) if size > 0 else 0
    if exponent >= 3 and 10 ** exponent == size:
        return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
    return str(size)


def round_step(end):
    """A round distance between grid lines: four of them reach `end` or a little beyond."""
    rough = end / 4
    power = 10 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)


def line_chart(title, note, series):
    """A line for each of {name: [(size, value)]}; sizes logarithmic, values from zero."""
    left, right, top, bottom = 60, WIDTH - 30, 62, 300
    sizes = sorted({size for points in series.values() for size, _ in points})
    step = round_step(max(value for points in series.values() for _, value in points) or 1)
    end = 4 * step
    first, width = math.log(sizes[0]), math.log(sizes[-1]) - math.log(sizes[0]) or 1

    def place(point):
        return (left + (right - left) * (math.log(point[0]) - first) / width,
                bottom - (bottom - top) * point[1] / end)

    body = [text(12, 24, title, "title"), text(12, 44, note, "note")]
    for part in range(5):
        y = bottom - (bottom - top) * part / 4
        body += [line(left, y, right, y, "axis"), text(left - 6, y + 4, f"{step * part:g}", "note", "end")]
    body += [text(place((size, 0))[0], bottom + 18, power_of_ten(size), "note", "middle") for size in sizes]
    for i, (name, points) in enumerate(sorted(series.items())):
        color = f"s{i % 4}"
        corners = [place(point) for point in points]
        body.append(f'<polyline class="line {color}" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
                    + '"/>')
        body += [f'<circle class="{color}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in corners]
        y = bottom + 42 + 20 * i
        body += [f'<rect class="{color}" x="{left}" y="{y - 9}" width="12" height="8"/>', text(left + 20, y, name)]
    return document(bottom + 54 + 20 * len(series), title, body)
