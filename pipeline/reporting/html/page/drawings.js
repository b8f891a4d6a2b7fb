// The map of the memories and the charts of the runs, drawn as plain SVG.
const TONES = { merge: "--merge", resolve: "--conflict", prune: "--prune", rewrite: "--change", unsure: "--unsure", none: "--none" };
const WORDS = { merge: "merge", resolve: "conflict", prune: "prune", rewrite: "change", unsure: "unsure", none: "no proposal" };
const tone = (name) => `var(${TONES[name]})`;

function drawMap() {
  if (!data.map.length) return [el("p", { class: "empty" }, "There is no map of this report.")];
  const sort = (point) => (point[3] < 0 ? "none" : group(data.cards[point[3]]));
  const layers = {};
  for (const point of data.map) (layers[sort(point)] ||= []).push(point);
  const at = ([x, y]) => [x * 1.4 + 30, (1000 - y) * 0.8 + 30];
  // One path for all points of a sort: thousands of elements would make the page slow.
  const paths = ["none", "rewrite", "unsure", "prune", "resolve", "merge"].filter((name) => layers[name]).map((name) => svg("path", {
    d: layers[name].map((point) => `M${at(point).map((v) => v.toFixed(1)).join(" ")}h0`).join(""), stroke: tone(name), "stroke-width": name === "none" ? 7 : 12, "stroke-linecap": "round", fill: "none", opacity: name === "none" ? 0.55 : 0.9 }));
  const ring = svg("circle", { r: 11, fill: "none", stroke: "var(--ink)", "stroke-width": 3, visibility: "hidden" });
  const proposed = data.map.filter((point) => point[3] >= 0);
  let chosen = -1;
  const point = (found, x, y) => {
    ring.setAttribute("visibility", found ? "visible" : "hidden");
    if (!found) { $("tip").hidden = true; return; }
    const [cx, cy] = at(found);
    ring.setAttribute("cx", cx); ring.setAttribute("cy", cy);
    tip(found, x, y);
  };
  const nearest = (event) => {
    const box = image.getBoundingClientRect(), scale = 1460 / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = null, distance = 24 * 24 * scale;
    for (const found of data.map) { const [px, py] = at(found); const d = (px - x) ** 2 + (py - y) ** 2 - (found[3] >= 0 ? 40 : 0); if (d < distance) { best = found; distance = d; } }
    return best;
  };
  const open = (found) => { if (found && found[3] >= 0) { $("tip").hidden = true; Object.assign(state, { tab: "proposals", kind: "all", scope: "", category: "", confidence: "", search: "", open: false, near: false }); show(); jump(data.cards[found[3]]); } };
  const image = svg("svg", { class: "map", viewBox: "0 0 1460 860", role: "img", tabindex: "0", "aria-label": `Map of ${data.map.length} memories; arrow keys go through those of a proposal, Enter opens it`,
    onmousemove: (event) => point(nearest(event), event.clientX, event.clientY), onmouseleave: () => point(null),
    onclick: (event) => { const found = nearest(event); point(found, event.clientX, event.clientY); open(found); },
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter") open(proposed[chosen]);
      if (!by || !proposed.length) return;
      event.preventDefault();
      chosen = (chosen + by + proposed.length) % proposed.length;
      const box = image.getBoundingClientRect(), [x, y] = at(proposed[chosen]);
      point(proposed[chosen], box.left + x * box.width / 1460, box.top + y * box.width / 1460);
    }, onblur: () => point(null) }, ...paths, ring);
  const legend = el("ul", { class: "legend" }, Object.keys(WORDS).filter((name) => layers[name]).map((name) => el("li", {}, swatch(name), `${WORDS[name]} (${layers[name].length})`)));
  return [el("h2", {}, "Map of the memories"), el("p", { class: "small quiet" }, "Near in meaning is near on the map: the embeddings, flattened to the two directions in which they differ most. Point at a memory to read it, click to open its proposal."), legend, image];
}

function swatch(name) { const dot = el("i"); dot.style.setProperty("--tone", tone(name)); return dot; }

function tip(found, x, y) {
  const box = $("tip");
  const text = memory(found[2]).text;
  box.replaceChildren(el("b", {}, found[3] < 0 ? "" : `${WORDS[group(data.cards[found[3]])]}: `), ...shown(text.length > 400 ? text.slice(0, 399) + "…" : text));
  box.hidden = false;
  box.style.left = `${Math.max(8, Math.min(x + 14, window.innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${y + 18 + box.offsetHeight > window.innerHeight ? Math.max(8, y - box.offsetHeight - 12) : y + 18}px`;
}

const LINES = 8; // scopes with a line of their own
const HUES = ["--change", "--merge", "--conflict", "--unsure", "--prune", "--quiet", "--accent", "--none"];

function drawHistory() {
  const past = data.history;
  if (!past.runs.length) return [el("p", { class: "empty" }, "No run is on record yet; the first one draws the first point.")];
  const total = (counts) => counts.reduce((sum, value) => sum + (value || 0), 0);
  const moments = past.runs.flatMap((run) => [[run.at, run.before], [run.at, run.after]]);
  // Ages may be reckoned from a day before the last run; that is no point behind it.
  if (!data.run && past.now.at > past.runs[past.runs.length - 1].at) moments.push([past.now.at, past.now.counts]);
  const order = past.scopes.map((name, place) => [Math.max(...moments.map((m) => m[1][place] || 0)), place]).sort((a, b) => b[0] - a[0]).map((row) => row[1]);
  const drawn = order.slice(0, LINES);
  const lines = drawn.map((place, number) => ({ name: past.scopes[place], hue: HUES[number], values: moments.map((m) => m[1][place]) }));
  const rows = [...past.runs].reverse().map((run) => el("tr", {}, el("td", {}, el("code", {}, run.id)), el("td", {}, run.at.slice(0, 16).replace("T", " ")), el("td", {}, run.state), ...[total(run.before), run.removed, run.added, total(run.after), run.open, run.unsure].map((n) => el("td", {}, n.toLocaleString("en")))));
  const rest = order.length > LINES ? el("p", { class: "small quiet" }, `The ${LINES} largest of ${order.length} scopes are drawn.`) : null;
  return [el("h2", {}, "Memories over time"), lineChart(moments.map((m) => m[0]), lines), el("ul", { class: "legend" }, lines.map((line) => { const dot = el("i"); dot.style.setProperty("--tone", `var(${line.hue})`); return el("li", {}, dot, flat(line.name, 50)); })), rest,
    el("h2", {}, "Removed, and conflicts left open"), bars(past.runs), el("ul", { class: "legend" }, el("li", {}, swatch("prune"), "removed"), el("li", {}, swatch("merge"), "added"), el("li", {}, swatch("resolve"), "conflicts left open")),
    el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Table of the runs" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, ["Run", "Began (UTC)", "State", "Before", "Removed", "Added", "Kept", "Conflicts open", "Unsure"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, rows)))];
}

function frame(top, label) {
  const grid = [0, 0.5, 1].map((part) => { const y = 220 - part * 190; return [svg("line", { class: "axis", x1: 60, x2: 960, y1: y, y2: y }), svg("text", { x: 52, y: y + 4, "text-anchor": "end" }, document.createTextNode(String(Math.round(top * part))))]; }).flat();
  return svg("svg", { class: "chart", viewBox: "0 0 990 260", role: "img", "aria-label": label }, ...grid);
}

function days(image, stamps, x) {
  const places = stamps.length > 1 ? [0, stamps.length - 1] : [0];
  for (const place of places) image.append(svg("text", { x: x(place), y: 246, "text-anchor": place ? "end" : stamps.length > 1 ? "start" : "middle" }, document.createTextNode(stamps[place].slice(0, 10))));
}

function lineChart(stamps, lines) {
  const top = Math.max(1, ...lines.flatMap((line) => line.values.map((v) => v || 0)));
  const times = stamps.map((stamp) => Date.parse(stamp));
  const ordered = times.every((time, place) => !place || times[place - 1] <= time); // ages may be reckoned from any day
  const span = ordered ? times[times.length - 1] - times[0] : 0;
  const x = (place) => 60 + (span ? (times[place] - times[0]) / span : place / Math.max(1, times.length - 1)) * 900;
  const image = frame(top, "Living memories of each scope before and after each run");
  for (const line of lines) {
    const points = line.values.map((value, place) => (value === null || value === undefined ? null : [x(place), 220 - value / top * 190])).filter(Boolean);
    image.append(svg("polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), fill: "none", stroke: `var(${line.hue})`, "stroke-width": 2.5, "stroke-linejoin": "round" }));
    for (const [cx, cy] of points) image.append(svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3, fill: `var(${line.hue})` }));
  }
  days(image, stamps, x);
  return image;
}

function bars(runs) {
  const top = Math.max(1, ...runs.flatMap((run) => [run.removed, run.added, run.open]));
  const image = frame(top, "What each run removed and added, and conflicts it left open");
  const width = Math.min(90, 900 / runs.length), x = (place) => 60 + (place + 0.5) * 900 / runs.length;
  runs.forEach((run, place) => [["--prune", run.removed], ["--merge", run.added], ["--conflict", run.open]].forEach(([hue, value], number) => {
    const height = value / top * 190, bar = width / 4;
    image.append(svg("rect", { x: (x(place) + (number - 1.5) * bar).toFixed(1), y: (220 - height).toFixed(1), width: (bar * 0.85).toFixed(1), height: height.toFixed(1), fill: `var(${hue})`, rx: 1 }));
  }));
  days(image, runs.map((run) => run.at), x);
  return image;
}
