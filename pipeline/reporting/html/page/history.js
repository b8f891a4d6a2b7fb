// The runs over time, drawn as plain SVG, and what can be done about each.
const LINES = 8; // scopes with a line of their own
const HUES = ["--change", "--merge", "--conflict", "--unsure", "--prune", "--quiet", "--accent", "--none"];

function runButtons(run) {
  if (!canWrite() || run.state === "undone") return null;
  return [run.state !== "applied" && el("button", { type: "button", class: "main", "data-do": "resume-run", onclick: () => work("Finishing the run", "/resume", { run: run.id }) }, "Finish it"),
    run.state !== "undoing" && el("button", { type: "button", "data-do": "undo-run", onclick: () => work("Taking the run back", "/undo", { run: run.id }) }, "Undo run")];
}

function drawHistory() {
  const past = data.history;
  if (!past.runs || !past.runs.length) return [el("p", { class: "empty" }, "No run is on record yet; the first one draws the first point.")];
  const total = (counts) => counts.reduce((sum, value) => sum + (value || 0), 0);
  const counted = past.runs.filter((run) => run.before.some((count) => count !== null)); // a request to forget counts nothing
  const moments = counted.flatMap((run) => [[run.at, run.before], [run.at, run.after]]);
  // Ages may be reckoned from a day before the last run; that is no point behind it.
  if (!data.run && past.now.at > past.runs[past.runs.length - 1].at && counted.length) moments.push([past.now.at, past.now.counts]);
  const order = past.scopes.map((name, place) => [Math.max(0, ...moments.map((m) => m[1][place] || 0)), place]).sort((a, b) => b[0] - a[0]).map((each) => each[1]);
  const lines = order.slice(0, LINES).map((place, number) => ({ name: past.scopes[place], hue: HUES[number], values: moments.map((m) => m[1][place]) }));
  const rows = [...past.runs].reverse().map((run) => el("tr", {}, el("td", {}, el("code", {}, run.id)), live && el("td", {}, el("div", { class: "do" }, runButtons(run))), el("td", {}, run.at.slice(0, 16).replace("T", " ")), el("td", {}, run.state),
    [total(run.before), run.removed, run.changed, run.added, total(run.after), run.open, run.unsure].map((n) => el("td", {}, n.toLocaleString("en")))));
  const heads = ["Run", ...(live ? ["Take back"] : []), "Began (UTC)", "State", "Before", "Removed", "Changed", "Added", "Kept", "Conflicts open", "Unsure"];
  return [counted.length && [el("h2", {}, "Memories over time"), lineChart(moments.map((m) => m[0]), lines), legend(lines.map((line) => [line.hue, flat(line.name, 50)]))],
    order.length > LINES && el("p", { class: "small quiet" }, `The ${LINES} largest of ${order.length} scopes are drawn.`),
    el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Table of the runs" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, rows)))];
}

function legend(items) {
  return el("ul", { class: "legend" }, items.map(([hue, words]) => { const dot = el("i"); dot.style.setProperty("--tone", `var(${hue})`); return el("li", {}, dot, words); }));
}

function frame(top, label) {
  const grid = [0, 0.5, 1].flatMap((part) => { const y = 220 - part * 190; return [svg("line", { class: "axis", x1: 60, x2: 960, y1: y, y2: y }), svg("text", { x: 52, y: y + 4, "text-anchor": "end" }, String(Math.round(top * part)))]; });
  return svg("svg", { class: "chart", viewBox: "0 0 990 260", role: "img", "aria-label": label }, ...grid);
}

function days(image, stamps, x) {
  for (const place of stamps.length > 1 ? [0, stamps.length - 1] : [0]) image.append(svg("text", { x: x(place), y: 246, "text-anchor": place ? "end" : stamps.length > 1 ? "start" : "middle" }, stamps[place].slice(0, 10)));
  return image;
}

function lineChart(stamps, lines) {
  const top = Math.max(1, ...lines.flatMap((line) => line.values.map((v) => v || 0))), times = stamps.map((stamp) => Date.parse(stamp));
  const ordered = times.every((time, place) => !place || times[place - 1] <= time); // ages may be reckoned from any day
  const span = ordered ? times[times.length - 1] - times[0] : 0;
  const x = (place) => 60 + (span ? (times[place] - times[0]) / span : place / Math.max(1, times.length - 1)) * 900;
  const image = frame(top, "Living memories of each scope before and after each run");
  for (const line of lines) {
    const points = line.values.map((value, place) => (value === null || value === undefined ? null : [x(place), 220 - value / top * 190].map((v) => v.toFixed(1)))).filter(Boolean);
    image.append(svg("polyline", { points: points.map((p) => p.join(",")).join(" "), fill: "none", stroke: `var(${line.hue})`, "stroke-width": 2.5, "stroke-linejoin": "round" }));
    for (const [cx, cy] of points) image.append(svg("circle", { cx, cy, r: 3, fill: `var(${line.hue})` }));
  }
  return days(image, stamps, x);
}
