// Tabs and keys, and the first drawing of it all.
const TABS = [["proposals", data.run ? "Before and after" : "Proposals", proposals], ["map", "Map", drawMap], ["history", "Over time", drawHistory]].filter(([name]) => name !== "map" || !data.run);

function show() {
  tiles();
  $("tabs").replaceChildren(...TABS.map(([name, words]) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(state.tab === name), "aria-controls": "panel", tabindex: state.tab === name ? "0" : "-1",
    onclick: () => { state.tab = name; show(); $(`tab-${name}`).focus(); },
    onkeydown: (event) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; if (!by) return; const at = TABS.findIndex((t) => t[0] === name); state.tab = TABS[(at + by + TABS.length) % TABS.length][0]; show(); $(`tab-${state.tab}`).focus(); } }, words)));
  const panel = $("panel");
  panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
  fill(panel, TABS.find(([name]) => name === state.tab)[2]());
  if (state.tab === "proposals") showList();
  if (live) showBar();
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || state.tab !== "proposals") return;
  if (event.key === "j" || event.key === "k") { event.preventDefault(); move(event.key === "j" ? 1 : -1); return; }
  const card = data.cards.find((item) => item.key === state.current);
  if (live && card && pressed(event.key, card)) event.preventDefault();
});
// Paper has no pages to turn: everything is printed.
window.addEventListener("beforeprint", () => { state.everything = true; if (state.tab === "proposals") showList(); });
window.addEventListener("afterprint", () => { state.everything = false; if (state.tab === "proposals") showList(); });
show();
