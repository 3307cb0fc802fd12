/* SPDX-License-Identifier: MIT */
/* The fixed text of the HTML report: style sheet and script. Included by html.c alone. */
#ifndef TI_HTML_PAGE_H
#define TI_HTML_PAGE_H

/* Colours: Okabe and Ito, darkened on white and lightened on black where contrast asks for it. */
static const char page_colours[] =
    ":root {color-scheme: light dark; --page: #fbfbfa; --panel: #ffffff; --ink: #1d2329;\n"
    "  --soft: #5c6670; --line: #e3e6e8; --s0: #c2500a; --s1: #0068a8; --s2: #008560;\n"
    "  --s3: #b0568a; --s4: #3d8fc4; --s5: #a87400; --s6: #6f4e96; --s7: #5b5b5b}\n"
    "@media (prefers-color-scheme: dark) {:root {--page: #14181c; --panel: #1b2126;\n"
    "  --ink: #e6e9eb; --soft: #9aa4ad; --line: #313940; --s0: #ff9350; --s1: #5fb8f0;\n"
    "  --s2: #36c79c; --s3: #e49cc6; --s4: #a5d8f5; --s5: #f0bd4a; --s6: #bda2dc;\n"
    "  --s7: #bdbdbd}}\n"
    ".s0 {--c: var(--s0)} .s1 {--c: var(--s1)} .s2 {--c: var(--s2)} .s3 {--c: var(--s3)}\n"
    ".s4 {--c: var(--s4)} .s5 {--c: var(--s5)} .s6 {--c: var(--s6)} .s7 {--c: var(--s7)}\n";

static const char page_style[] =
    "* {box-sizing: border-box}\n"
    "body {margin: 0; background: var(--page); color: var(--ink);\n"
    "  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif}\n"
    "main {max-width: 1240px; margin: 0 auto; padding: 28px 24px 48px}\n"
    "h1 {font-size: 24px; line-height: 1.25; margin: 0 0 4px}\n"
    "h2 {font-size: 15px; margin: 0 0 8px}\n"
    ".settings {color: var(--soft); margin: 0 0 18px}\n"
    ".lead {font-size: 17px; margin: 0 0 22px; max-width: 62em}\n"
    ".charts {display: grid; grid-template-columns: minmax(0, 2.1fr) minmax(0, 1fr); gap: 18px}\n"
    "@media (max-width: 820px) {.charts {grid-template-columns: minmax(0, 1fr)}}\n"
    "section {background: var(--panel); border: 1px solid var(--line); border-radius: 8px;\n"
    "  padding: 16px 18px; margin: 0 0 18px; min-width: 0}\n"
    ".charts section {margin: 0}\n"
    ".charts {align-items: start}\n"
    ".charts {margin-bottom: 18px}\n"
    "svg {display: block; width: 100%; height: auto; overflow: visible}\n"
    ".chart, .solo {min-width: 520px}\n"
    ".solo {max-width: 880px}\n"
    "svg text {fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums}\n"
    "svg .title {fill: var(--ink); font-size: 13px; font-weight: 600}\n"
    "svg .value {fill: var(--ink)}\n"
    ".grid {stroke: var(--line); stroke-width: 1}\n"
    ".cursor {stroke: var(--soft); stroke-width: 1}\n"
    ".curve {fill: none; stroke: var(--c); stroke-width: 2.4; stroke-linejoin: round}\n"
    ".mark {fill: var(--panel); stroke: var(--c); stroke-width: 2}\n"
    ".bar, .point {fill: var(--c)}\n"
    ".band {fill: var(--c); opacity: .16}\n"
    ".beaten {opacity: .45}\n"
    "details {margin: 0 0 18px}\n"
    "summary {cursor: pointer; color: var(--soft); margin: 0 0 8px}\n"
    ".legend {display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 6px; padding: 0;\n"
    "  list-style: none}\n"
    ".swatch {display: inline-block; width: 28px; height: 10px; margin-right: 7px;\n"
    "  vertical-align: middle}\n"
    ".readout {color: var(--soft); font-size: 13px; min-height: 1.5em; margin: 4px 0 0;\n"
    "  font-variant-numeric: tabular-nums}\n"
    ".wide {overflow-x: auto}\n"
    "table {border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;\n"
    "  font-size: 13.5px; white-space: nowrap}\n"
    "th {font-weight: 500; color: var(--soft); text-align: right; padding: 3px 6px}\n"
    "thead tr:first-child th {text-align: center; border-bottom: 1px solid var(--line)}\n"
    "td {text-align: right; padding: 6px; border-top: 1px solid var(--line)}\n"
    "th:first-child, td:first-child {text-align: left; padding-left: 0}\n"
    "td:last-child, th:last-child {padding-right: 0}\n"
    ".note, footer {color: var(--soft); font-size: 13px; margin: 8px 0 0}\n"
    "pre {white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: 13px}\n";

/*
 * Only reads values off the curves; the page says everything without it. It does without '<' and
 * '&', so that an XML parser can read the page as well.
 */
static const char page_script[] =
    "(function () {\n"
    "  var report = JSON.parse (document.getElementById ('report').textContent);\n"
    "  document.querySelectorAll ('svg.chart').forEach (function (chart) {\n"
    "    var line = chart.querySelector ('.cursor');\n"
    "    var out = chart.closest ('section').querySelector ('.readout');\n"
    "    var left = +chart.dataset.left, right = +chart.dataset.right;\n"
    "    var first = +chart.dataset.first, count = +chart.dataset.count;\n"
    "    out.textContent = 'Point at the chart to read the curves.';\n"
    "    chart.addEventListener ('pointermove', function (event) {\n"
    "      var box = chart.getBoundingClientRect ();\n"
    "      var x = (event.clientX - box.left) * chart.dataset.width / box.width;\n"
    "      if (x !== Math.min (Math.max (x, left), right)) return;\n"
    "      var above = Math.pow (10, -(x - left) / (right - left) * chart.dataset.decades);\n"
    "      var shown = report.policies.slice (first, first + count);\n"
    "      var parts = shown.map (function (policy) {\n"
    "        var points = policy.distribution, i = 0;\n"
    "        while (points.length > i + 1 ? 1 - above > points[i][0] : false) i++;\n"
    "        return policy.policy + ' ' + "
    "(points.length ? points[i][1].toPrecision (3) : '-') + ' ms';\n"
    "      });\n"
    "      line.setAttribute ('x1', x);\n"
    "      line.setAttribute ('x2', x);\n"
    "      line.setAttribute ('visibility', 'visible');\n"
    "      var digits = Math.max (0, Math.ceil (-Math.log (above) / Math.LN10) - 1);\n"
    "      out.textContent = (100 * (1 - above)).toFixed (digits) + ' % of calls: ' + "
    "parts.join (', ');\n"
    "    });\n"
    "  });\n"
    "}) ();\n";

#endif
