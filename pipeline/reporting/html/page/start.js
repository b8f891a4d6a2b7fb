// Tabs, keys and the first drawing of it all.
const SHEET = [["j", "next proposal"], ["k", "previous proposal"], ["a", "accept; of two sides keep A"], ["b", "keep B"], ["r", "reject; both sides hold"], ["o", "both hold"], ["m", "both say the same"], ["t", "still true, as of today"], ["s", "leave it open"], ["e", "edit the text"], ["u", "undo the answer"], ["w", "why, and ids, dates, scores"],
  ["A", "accept what is certain of all that is shown; lists it first"], ["R", "reject the same"], ["p", "apply: shows first what will be done"], ["l", "look again"], ["/", "search"], ["1 – 4", "tabs"], ["?", "these keys"]];

function keySheet() {
  const box = $("dialog");
  fill(box, el("h2", { id: "dialog-title" }, "Keys"), el("table", { class: "sheet" }, el("tbody", {}, SHEET.filter(([key]) => live || "jkw/?".includes(key)).map(([key, words]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, words))))),
    el("p", { class: "small quiet" }, el("mark", {}, "Marked"), " words differ; ", el("del", {}, "struck"), " ones are in no text that stays."), el("div", { class: "do" }, el("button", { type: "button", "data-do": "close", onclick: () => box.close() }, "Close")));
  box.showModal();
}

// A run that was cut off comes before everything else.
function stopped() {
  const run = live && data.live.interrupted;
  return run ? el("div", { class: "notice bad", role: "alert", id: "stopped" }, el("span", {}, `Run ${run.id} was interrupted while ${run.state}. Finish it, or take it back, before anything else is done.`), runButtons(run)) : null;
}

function show() {
  head();
  const panel = $("panel");
  panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
  const listing = state.tab === "open" || state.tab === "answered";
  fill(panel, stopped(), listing ? proposals() : state.tab === "applied" ? applied() : drawHistory());
  if (listing) showList();
  if (live) showBar();
}

const ALWAYS = {
  "?": keySheet, l: () => canWrite() && refresh(), p: () => canWrite() && preview(), "/": () => $("search") && $("search").focus(), j: () => $("list") && move(1), k: () => $("list") && move(-1),
  A: () => $("list") && canWrite() && askAll(listed(), "yes"), R: () => $("list") && canWrite() && askAll(listed(), "no"),
  w: () => { const node = $(`c-${state.current}`); for (const each of node ? node.querySelectorAll("details") : []) if (each.matches(".why, .folded > details")) each.open = !each.open; },
};
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || state.busy) return;
  const card = $("list") && data.cards.find((item) => item.key === state.current), tab = TABS[Number(event.key) - 1];
  const done = tab ? openTab(tab[0]) || true : ALWAYS[event.key] ? ALWAYS[event.key]() || true : live && card && pressed(event.key, card);
  if (done) event.preventDefault();
});
window.addEventListener("hashchange", () => { readAddress(); show(); });
// Paper has no pages to turn: everything is printed.
for (const [name, everything] of [["beforeprint", true], ["afterprint", false]]) window.addEventListener(name, () => { state.everything = everything; if ($("list")) showList(); });
readAddress();
show();
