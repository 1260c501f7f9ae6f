// Faults over time and memory.
const ROLES = ["threads that ran the pauses", "threads that worked for them", "other threads"];
function scatterBlock() {
  const of = process().faults, n = of.at_us.length;
  const kindOf = (i) => of.sort[i] & 31, roleOf = (i) => (of.sort[i] >> 8) & 3, regionOf = (i) => of.sort[i] >> 10;
  const state = { byAddress: true, hidden: new Set(), role: 0, at: -1 };
  const LEFT = 132, RIGHT = 8, TOP = 8, BOTTOM = 26;
  const left = () => chart.width < 520 ? 108 : LEFT, right = () => chart.width - RIGHT;
  const regions = data.regions.map((_, r) => r).filter((r) => known(process().summary.by_region[data.regions[r]]) || anyOf(r));
  function anyOf(region) {
    for (let i = 0; i < n; i++) if (regionOf(i) === region) return true;
    return false;
  }
  function share01(i) {
    const page = of.page[i];
    let segment = of.segments[0];
    for (const other of of.segments) if (page >= other.first_page) segment = other;
    const pages = segment.last_page - segment.first_page + 1;
    return segment.from + (segment.to - segment.from) * (page - segment.first_page + 0.5) / pages;
  }
  const y01 = Array.from({ length: n }, (_, i) => share01(i));
  function y(i, height) {
    const room = height - TOP - BOTTOM;
    if (state.byAddress) return height - BOTTOM - y01[i] * room;
    const lane = regions.indexOf(regionOf(i)), lanes = regions.length || 1;
    // Within a lane, spread by the address.
    return TOP + (lane + 0.12 + 0.76 * ((of.page[i] * 0.618033988749) % 1)) / lanes * room;
  }
  const shows = (i) => roleOf(i) === state.role && !state.hidden.has(kindOf(i));
  let longest = 1;
  for (let i = 0; i < n; i++) longest = Math.max(longest, of.ns[i]);
  const radius = (ns) => 1.6 + 4.4 * Math.sqrt(ns / longest);

  function draw(ctx, width, height) {
    const x = timeScale(left(), width - RIGHT), room = height - TOP - BOTTOM;
    ctx.textAlign = "right";
    if (state.byAddress) {
      for (const segment of of.segments) {
        const top = height - BOTTOM - segment.to * room, bottom = height - BOTTOM - segment.from * room;
        gridLine(ctx, left(), width - RIGHT, bottom, "");
        if (bottom - top < 9) continue;
        ctx.fillStyle = colour("soft");
        ctx.textAlign = "right";
        ctx.fillText(data.regions[data.regions.indexOf(segment.region)], left() - 6, (top + bottom) / 2 - (bottom - top > 24 ? 6 : 0));
        if (bottom - top > 24) {
          ctx.fillStyle = colour("faint");
          ctx.fillText(pageAddress(segment.first_page), left() - 6, (top + bottom) / 2 + 7);
        }
      }
    } else regions.forEach((region, lane) => {
      const bottom = TOP + (lane + 1) / regions.length * room;
      gridLine(ctx, left(), width - RIGHT, bottom, "");
      ctx.fillStyle = colour("soft");
      ctx.textAlign = "right";
      ctx.fillText(data.regions[region], left() - 6, TOP + (lane + 0.5) / regions.length * room);
    });
    ctx.save();
    ctx.beginPath();
    ctx.rect(left(), 0, width - left() - RIGHT, height - BOTTOM + 1);
    ctx.clip();
    const cells = state.byAddress ? of.by_address : of.by_region;
    const busiest = cells.reduce((sum, cell) => Math.max(sum, cell[4]), 1);
    for (const [column, row, kind, role, number] of cells) {
      if (role !== state.role || state.hidden.has(kind)) continue;
      const from = x(column * of.column_ns), w = Math.max(1, x((column + 1) * of.column_ns) - from);
      let top, tall;
      if (state.byAddress) { tall = room / of.rows; top = height - BOTTOM - (row + 1) * tall; }
      else { const lane = regions.indexOf(row); tall = room / regions.length * 0.7; top = TOP + (lane + 0.15) / regions.length * room; }
      ctx.globalAlpha = 0.16 + 0.6 * Math.log(1 + number) / Math.log(1 + busiest);
      ctx.fillStyle = partColour(kind);
      ctx.fillRect(from, top, w, Math.max(1, tall));
    }
    ctx.globalAlpha = of.is_dense ? 0.9 : 0.75;
    ctx.lineWidth = 1.2;
    const from = shared.from / 1e3 - 1, to = shared.to / 1e3 + 1;
    for (let i = 0; i < n; i++) {
      if (of.at_us[i] < from || of.at_us[i] > to || !shows(i)) continue;
      ctx.fillStyle = ctx.strokeStyle = partColour(kindOf(i));
      drawShape(ctx, kindOf(i), x(of.at_us[i] * 1e3), y(i, height), radius(of.ns[i]));
    }
    ctx.globalAlpha = 1;
    if (state.at >= 0) {
      ctx.strokeStyle = colour("ink");
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.arc(x(of.at_us[state.at] * 1e3), y(state.at, height), radius(of.ns[state.at]) + 4, 0, 7);
      ctx.stroke();
    }
    ctx.lineWidth = 1;
    ctx.restore();
    drawBrush(chart, ctx, TOP, height - BOTTOM);
    timeAxis(ctx, x, shared.from, shared.to, left(), width - RIGHT, height - BOTTOM);
  }
  function nearest(px, py) {
    const x = timeScale(left(), right());
    let best = -1, least = 14;
    for (let i = 0; i < n; i++) {
      if (!shows(i)) continue;
      const away = Math.hypot(x(of.at_us[i] * 1e3) - px, y(i, chart.height) - py) - radius(of.ns[i]);
      if (away < least) { best = i; least = away; }
    }
    return best;
  }
  function tell(i, px, py) {
    const sort = of.sort[i];
    showTip(px, py,
      lineOf(kindOf(i), `${sort & 32 ? "~" : ""}${partWords(kindOf(i))}, ${duration(of.ns[i])}${sort & 64 ? ", major" : ""}`, true),
      line(`${sort & 128 ? "~" : ""}${data.regions[regionOf(i)]}: ${plainName(of.what[i], 60)}`),
      line(`page ${pageAddress(of.page[i])}, thread ${of.tid[i]}, ${process().called[0]} #${of.pause[i]}, at ${seconds(of.at_us[i] * 1e3)} s`),
      sort & (32 | 128) ? line(el("span", { class: "faint" }, "~ inferred")) : null);
  }
  const chart = new Chart({ height: 340, draw, label: "Faults over time and memory. Left and right: the fault before and after; Enter: open its pause; plus and minus: zoom" });
  picks(chart, left, right, nearest, (i) => of.pause[i], tell);
  chart.canvas.addEventListener("keydown", (event) => {
    if (timeKeys(event)) return;
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step) {
      let at = state.at < 0 ? (step > 0 ? -1 : n) : state.at;
      do at += step; while (at >= 0 && at < n && !(shows(at) && of.at_us[at] * 1e3 >= shared.from && of.at_us[at] * 1e3 <= shared.to));
      if (at >= 0 && at < n) {
        state.at = at;
        chart.draw();
        const box = chart.canvas.getBoundingClientRect();
        tell(at, box.left + timeScale(left(), right())(of.at_us[at] * 1e3), box.top + y(at, chart.height));
      }
    } else if (event.key === "Enter" && state.at >= 0) openPause(of.pause[state.at], chart.canvas);
    else return;
    event.preventDefault();
  });
  onChange(() => { if (chart.canvas.isConnected) chart.draw(); });
  const totals = new Map();
  for (const lengths of process().lengths) {
    const key = ["driver", "worker", "bystander"].indexOf(lengths.role);
    if (!totals.has(key)) totals.set(key, new Map());
    totals.get(key).set(lengths.kind, lengths);
  }
  const legend = el("ul", { class: "legend", "aria-label": "Kinds of fault; press to hide or show one" });
  function fillLegend() {
    const kinds = [...(totals.get(state.role) || new Map()).values()].sort((a, b) => b.count - a.count);
    replace(legend, kinds.map(({ kind, count: number, inferred }) => {
      const button = el("button", { type: "button", "aria-pressed": String(!state.hidden.has(kind)), onclick: () => {
        if (!state.hidden.delete(kind)) state.hidden.add(kind);
        button.setAttribute("aria-pressed", String(!state.hidden.has(kind)));
        chart.draw();
      } }, swatch(kind, true), `${inferred ? "~" : ""}${partWords(kind)}`, el("span", { class: "amount" }, count(number)));
      return el("li", {}, button);
    }));
  }
  fillLegend();
  const roles = [0, 1, 2].filter((role) => totals.has(role));
  if (roles.length && !roles.includes(0)) state.role = roles[0];
  const notes = [];
  if (of.is_dense) notes.push(`${count(of.of)} faults are too many to be drawn one by one: shading counts all of them by ${duration(of.column_ns)} and stretch of memory; the ${count(n)} longest are drawn as points.`);
  else notes.push("Every fault with details is a point; larger ones took longer.");
  const summary = process().summary, drawn = [...(totals.get(0) || new Map()).values()].reduce((sum, l) => sum + l.count, 0);
  if (drawn < summary.faults) notes.push(`${count(summary.faults - drawn)} of the ${count(summary.faults)} faults of threads that ran the ${process().called[1]} have no details and are not here.`);
  return block("faults", "Faults over memory", "Where in memory each fault was, and when. Stretches of addresses far from each other stand above each other, without what is between them.",
    el("div", { class: "tools" },
      choice("Upwards", [[true, "by address"], [false, "by region"]], true, (by) => { state.byAddress = by; chart.draw(); }),
      roles.length > 1 ? choice("Faults of", roles.map((role) => [role, ROLES[role]]), state.role, (role) => { state.role = role; state.at = -1; fillLegend(); chart.draw(); }) : null),
    chart.canvas, legend, notes.map((note) => el("p", { class: "note" }, note)));
}
