// The code paths of faults as a flame graph that grows downwards.
const ROW = 18;
function flameBlock() {
  const flame = process().flame, n = flame.name.length;
  const state = { by: "ns", root: 0, at: 0, search: "" };
  // Preorder with levels: a node's subtree follows it.
  const parent = new Int32Array(n).fill(-1), end = new Int32Array(n).fill(n), open = [];
  for (let i = 0; i < n; i++) {
    while (open.length && flame.depth[open[open.length - 1]] >= flame.depth[i]) end[open.pop()] = i;
    parent[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
  }
  const children = (i) => {
    const found = [];
    for (let at = i + 1; at < end[i]; at = end[at]) found.push(at);
    return found.sort((a, b) => value(b) - value(a) || a - b);
  };
  const value = (i) => flame[state.by][i];
  const text = (i) => data.names[flame.name[i]];
  let boxes = [], matches = new Set(), matched = 0;

  function layOut(width) {
    boxes = [];
    const place = (i, from, to, row) => {
      boxes.push({ i, from, to, row });
      if (!value(i)) return;
      let at = from;
      for (const child of children(i)) {
        const w = (to - from) * value(child) / value(i);
        if (w >= 0.4) place(child, at, at + w, row + 1);
        at += w;
      }
    };
    const above = [];
    for (let i = parent[state.root]; i >= 0; i = parent[i]) above.unshift(i);
    above.forEach((i, row) => boxes.push({ i, from: 0, to: width, row, above: true }));
    place(state.root, 0, width, above.length);
  }
  function search(words) {
    state.search = words;
    matches = new Set();
    matched = 0;
    if (words) {
      const wanted = words.toLowerCase();
      const hit = new Map();
      const matchesName = (i) => { const number = flame.name[i]; if (!hit.has(number)) hit.set(number, clean(data.names[number]).toLowerCase().includes(wanted)); return hit.get(number); };
      for (let i = 0; i < n; i++) if (matchesName(i)) matches.add(i);
      // What lies under a match counts once.
      for (let i = 0; i < n; i++) if (matches.has(i)) { matched += value(i); i = end[i] - 1; }
    }
    result.textContent = !words ? "" : matches.size ? `${share(matched, value(0))} of all matches: ${state.by === "ns" ? duration(matched) : counted(matched, "fault", "faults")}` : "nothing matches";
    chart.draw();
  }
  function draw(ctx, width) {
    layOut(width);
    const rows = boxes.reduce((sum, box) => Math.max(sum, box.row), 0) + 1;
    if (chart.height !== rows * ROW) {
      chart.setHeight(rows * ROW);
      chart.draw();
      return;
    }
    ctx.font = `11px ${getComputedStyle(document.documentElement).getPropertyValue("--code")}`;
    const letter = ctx.measureText("m").width;
    ctx.textAlign = "left";
    for (const box of boxes) {
      const w = box.to - box.from, top = box.row * ROW, hit = matches.has(box.i);
      ctx.globalAlpha = box.above ? 0.35 : state.search && !hit ? 0.28 : 0.5;
      ctx.fillStyle = box.i === 0 ? colour("rule") : partFill(ctx, flame.kind[box.i]);
      if (hit) { ctx.globalAlpha = 1; ctx.fillStyle = colour("mark"); }
      ctx.fillRect(box.from, top, Math.max(w - (w > 2 ? 1 : 0), 0.4), ROW - 1);
      ctx.globalAlpha = 1;
      const room = Math.floor((w - 8) / letter);
      if (room > 2) {
        const label = fitting(text(box.i), room);
        if (PATTERNS[partName(Math.max(0, flame.kind[box.i]))] && !hit) {
          ctx.globalAlpha = 0.75;
          ctx.fillStyle = colour("paper");
          ctx.fillRect(box.from + 2, top + 2, label.length * letter + 4, ROW - 5);
          ctx.globalAlpha = 1;
        }
        ctx.fillStyle = colour("ink");
        ctx.fillText(label, box.from + 4, top + ROW / 2);
      }
      if (box.i === state.at && document.activeElement === chart.canvas) {
        ctx.strokeStyle = colour("focus");
        ctx.lineWidth = 2;
        ctx.strokeRect(box.from + 1, top + 1, Math.max(2, w - 2), ROW - 3);
        ctx.lineWidth = 1;
      }
    }
  }
  // What of a name fits: without its path first, then its begin.
  function fitting(name, room) {
    const whole = clean(name);
    if (whole.length <= room) return whole;
    const last = whole.slice(whole.lastIndexOf("/") + 1);
    if (last.length <= room) return last;
    // Without its package, too.
    const bare = last.slice(last.indexOf(".") + 1);
    return bare.length <= room ? bare : `${bare.slice(0, room - 1)}…`;
  }
  const told = (i) => `${duration(flame.ns[i])} (${share(flame.ns[i], flame.ns[0])}), ${counted(flame.count[i], "fault", "faults")} (${share(flame.count[i], flame.count[0])})`;
  function describe(i) {
    const names = [];
    for (let at = i; at >= 0; at = parent[at]) names.push(shorten(text(at), 60));
    path.textContent = `${told(i)}: ${names.join(" ← ")}`;
  }
  function zoomTo(i) {
    state.root = i;
    state.at = i;
    reset.hidden = i === 0;
    describe(i);
    chart.draw();
  }
  function at(event) {
    const box = chart.canvas.getBoundingClientRect(), x = event.clientX - box.left, row = Math.floor((event.clientY - box.top) / ROW);
    return boxes.find((found) => found.row === row && found.from <= x && x < found.to);
  }
  const chart = new Chart({ height: 200, draw, label: "Flame graph of the code paths of faults. Down: into the widest called function; up: to the caller; left and right: to its neighbours; Enter: zoom; Escape: all" });
  chart.canvas.style.touchAction = "auto";
  chart.canvas.addEventListener("pointermove", (event) => {
    const box = at(event);
    chart.canvas.style.cursor = box ? "pointer" : "default";
    if (!box) return hideTip();
    showTip(event.clientX, event.clientY, line(el("b", {}, shorten(text(box.i), 200))), line(told(box.i)),
      box.i && flame.kind[box.i] >= 0 ? lineOf(flame.kind[box.i], `mostly ${partWords(flame.kind[box.i])}`) : null);
  });
  chart.canvas.addEventListener("pointerleave", hideTip);
  chart.canvas.addEventListener("click", (event) => {
    const box = at(event);
    if (box) zoomTo(box.i === state.root && parent[box.i] >= 0 ? parent[box.i] : box.i);
  });
  chart.canvas.addEventListener("focus", () => chart.draw());
  chart.canvas.addEventListener("blur", () => { hideTip(); chart.draw(); });
  chart.canvas.addEventListener("keydown", (event) => {
    const siblings = parent[state.at] >= 0 ? children(parent[state.at]) : [state.at];
    let next = state.at;
    if (event.key === "ArrowDown") next = children(state.at)[0] ?? state.at;
    else if (event.key === "ArrowUp") next = parent[state.at] >= 0 ? parent[state.at] : state.at;
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const index = siblings.indexOf(state.at) + (event.key === "ArrowRight" ? 1 : -1);
      next = siblings[Math.max(0, Math.min(siblings.length - 1, index))];
    } else if (event.key === "Enter" || event.key === " ") zoomTo(state.at);
    else if (event.key === "Escape" && (state.root || state.search)) { input.value = ""; search(""); zoomTo(0); }
    else if (event.key === "/") { input.focus(); }
    else return;
    event.preventDefault();
    if (next !== state.at) {
      // Out of the part that is shown: show it.
      if (next < state.root || next >= end[state.root]) zoomTo(next);
      else { state.at = next; describe(next); chart.draw(); }
    }
  });
  const reset = el("button", { type: "button", hidden: true, onclick: () => zoomTo(0) }, "Show all");
  const result = el("span", { class: "num", role: "status" });
  const input = el("input", { type: "search", placeholder: "Search functions", "aria-label": "Search functions in the flame graph", oninput: () => search(input.value.trim()),
    onkeydown: (event) => { if (event.key === "Escape") { input.value = ""; search(""); zoomTo(0); event.preventDefault(); } } });
  const path = el("p", { class: "flame-path", "aria-live": "polite" });
  describe(0);
  return block("flame", "Code paths of faults", "Callers above, callees below; the width is the time in faults or their number. Coloured by the kind that most of it was. Click to zoom.",
    el("div", { class: "tools" },
      choice("Width", [["ns", "by time"], ["count", "by count"]], "ns", (by) => { state.by = by; search(state.search); }),
      input, result, reset),
    chart.canvas, path, el("ul", { class: "legend", "aria-label": "Kinds" }, [...new Set(flame.kind.filter((kind) => kind >= 0))].sort((a, b) => a - b)
      .map((kind) => el("li", {}, swatch(kind), `mostly ${partWords(kind)}`))));
}
