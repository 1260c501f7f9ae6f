// A table of pauses that sorts and filters.
function tableBlock() {
  const [one, many] = process().called, of = pauses();
  const stopping = process().windows.unit === "pause" && process().windows.has_stopped;
  const columns = [
    ["id", (i) => of.id[i], (i) => `#${of.id[i]}`],
    ["at [s]", (i) => of.at_ns[i], (i) => seconds(of.at_ns[i])],
    ["reason", (i) => plainName(of.reason[i]), (i) => plainName(of.reason[i], 48), "left wrap"],
    ["length", (i) => of.ns[i], (i) => duration(of.ns[i])],
    ...(stopping ? [["stopping", (i) => of.stopping_ns[i] ?? -1, (i) => duration(of.stopping_ns[i])]] : []),
    ["faults", (i) => of.faults[i], (i) => count(of.faults[i])],
    ["major", (i) => of.major[i], (i) => count(of.major[i])],
    ["in faults", (i) => of.in_faults_ns[i], (i) => duration(of.in_faults_ns[i])],
    ["share", (i) => of.in_faults_ns[i] / of.ns[i], (i) => share(of.in_faults_ns[i], of.ns[i])],
    ["mostly", (i) => plainName(of.mostly[i]), (i) => plainName(of.mostly[i]), "left"],
  ];
  const state = { column: 3, down: true, words: "", least: 0, shown: 40 };
  const body = el("tbody"), said = el("span", { class: "num", role: "status" });
  const heads = columns.map(([title, , , sort], at) => el("th", { class: sort ? "left" : null, scope: "col" }, el("button", { type: "button", onclick: () => {
    if (state.column === at) state.down = !state.down;
    else { state.column = at; state.down = !(sort || at < 2); }
    fill();
  } }, title)));
  const more = el("button", { type: "button", onclick: () => { state.shown += 200; fill(); } });
  function fill() {
    const [, key] = columns[state.column];
    const wanted = state.words.toLowerCase();
    const found = [];
    for (let i = 0; i < of.id.length; i++) {
      if (of.ns[i] < state.least) continue;
      if (wanted && !`#${of.id[i]} ${plainName(of.reason[i], 4000)} ${plainName(of.mostly[i])}`.toLowerCase().includes(wanted)) continue;
      if (inRange.checked && (of.at_ns[i] + of.ns[i] < shared.from || of.at_ns[i] > shared.to)) continue;
      found.push(i);
    }
    found.sort((a, b) => {
      const [x, y] = [key(a), key(b)], order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return (state.down ? -order : order) || of.id[a] - of.id[b];
    });
    heads.forEach((head, at) => {
      if (at === state.column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.firstChild.textContent = columns[at][0] + (at === state.column ? (state.down ? " ↓" : " ↑") : "");
    });
    replace(body, found.slice(0, state.shown).map((i) => {
      const open = el("button", { type: "button", class: "id", "aria-label": `Open ${one} ${of.id[i]}`, onclick: (event) => { event.stopPropagation(); openPause(of.id[i], open); } }, columns[0][2](i));
      return el("tr", { class: "open-able", "data-pause": of.id[i], onclick: () => openPause(of.id[i], open) },
        columns.map(([, , cell, sort], at) => el("td", { class: sort }, at ? cell(i) : open)));
    }));
    const sum = found.reduce((sum, i) => sum + of.ns[i], 0);
    said.textContent = `${count(found.length)} of ${count(of.id.length)}, ${duration(sum)} in all`;
    more.hidden = found.length <= state.shown;
    more.textContent = `Show more (${count(found.length - state.shown)})`;
  }
  const inRange = el("input", { type: "checkbox", onchange: fill });
  onChange((what) => { if (what === "range" && inRange.checked && body.isConnected) fill(); });
  const input = el("input", { type: "search", placeholder: `Filter by reason, id, what it mostly was`, "aria-label": `Filter ${many}`, oninput: () => { state.words = input.value.trim(); fill(); } });
  const least = el("select", { "aria-label": "Least length", onchange: () => { state.least = Number(least.value); fill(); } },
    [[0, "any length"], ...[1e4, 1e5, 1e6, 1e7, 1e8, 1e9].map((ns) => [ns, `${roundDuration(ns)} and longer`])].map(([ns, words]) => el("option", { value: ns }, words)));
  fill();
  return block("pauses", process().called[1][0].toUpperCase() + many.slice(1),
    of.id.length < of.of ? `${count(of.id.length)} of ${count(of.of)}: the worst of all, and the worst of each stretch of time.` : of.of < process().summary.pauses ? "Those that have a line in the recording." : "All that were seen whole.",
    el("div", { class: "tools" }, input, least, el("label", {}, inRange, " in the stretch chosen above"), said),
    el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Table of ${many}` }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)),
    el("p", { class: "note" }, more));
}
