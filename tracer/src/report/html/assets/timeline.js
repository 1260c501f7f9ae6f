// The timeline of all pauses: time to the right, length upwards, divided by what each was made of.
function timelineBlock() {
  const one = process().called[0], many = process().called[1];
  const lengths = pauses().ns, worst = Math.max(...lengths), median = process().summary.median_ns;
  const state = { log: worst / Math.max(1, median || 1) > 60 };
  const LEFT = 58, RIGHT = 8, TOP = 14, BOTTOM = 34;
  const right = () => chart.width - RIGHT;
  let least = 1, most = 1;

  function y(ns) {
    const low = chart.height - BOTTOM, room = low - TOP;
    if (!state.log) return low - ns / most * room;
    return low - Math.log(Math.max(ns, least) / least) / Math.log(most / least) * room;
  }
  function visible() {
    const found = [];
    for (let i = 0; i < pauses().id.length; i++) if (pauses().at_ns[i] + lengths[i] >= shared.from && pauses().at_ns[i] <= shared.to) found.push(i);
    return found;
  }
  function draw(ctx, width, height) {
    const shown = visible(), x = timeScale(LEFT, width - RIGHT), low = height - BOTTOM;
    most = 1.08 * shown.reduce((sum, i) => Math.max(sum, lengths[i]), 1);
    least = Math.min(most / 10, 0.6 * shown.reduce((sum, i) => Math.min(sum, lengths[i]), Infinity));
    least = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    for (const tick of state.log ? logTicks(least, most) : niceTicks(0, most, 5)) gridLine(ctx, LEFT, width - RIGHT, y(tick), roundDuration(tick));
    const perPixel = (shared.to - shared.from) / (width - LEFT - RIGHT);
    const thin = shown.length > 1500 ? 1.5 : shown.length > 300 ? 2.5 : 4;
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, 0, width - LEFT - RIGHT, height);
    ctx.clip();
    shown.sort((a, b) => lengths[a] - lengths[b]);
    for (const i of shown) {
      const w = Math.max(thin, lengths[i] / perPixel), at = x(pauses().at_ns[i]), top = y(lengths[i]), tall = Math.max(1.5, low - top);
      let bottom = low;
      const parts = pauses().parts[i];
      for (let p = 0; p < parts.length; p += 2) {
        const part = parts[p + 1] / lengths[i] * tall;
        ctx.fillStyle = partFill(ctx, parts[p]);
        ctx.fillRect(at, bottom - part, w, part);
        bottom -= part;
      }
      if (pauses().id[i] === shared.pause) {
        ctx.strokeStyle = colour("ink");
        ctx.lineWidth = 1.5;
        ctx.strokeRect(at - 2.5, top - 2.5, w + 5, low - top + 5);
        ctx.lineWidth = 1;
      }
    }
    // Where pauses began or ended unseen.
    ctx.strokeStyle = colour("warning");
    for (const partial of pauses().partial) {
      if (!known(partial.at_ns)) continue;
      const at = x(partial.at_ns);
      ctx.beginPath();
      ctx.moveTo(at - 3, low - 3); ctx.lineTo(at + 3, low + 3);
      ctx.moveTo(at + 3, low - 3); ctx.lineTo(at - 3, low + 3);
      ctx.stroke();
    }
    // How many there are, where they are not all drawn.
    const stretches = pauses().stretches, busiest = stretches.reduce((sum, s) => Math.max(sum, s[1]), 1);
    ctx.fillStyle = colour("soft");
    for (const [at, n] of stretches) {
      ctx.globalAlpha = 0.15 + 0.85 * n / busiest;
      const from = x(at * pauses().stretch_ns);
      ctx.fillRect(from, height - 4, Math.max(1, pauses().stretch_ns / perPixel), 4);
    }
    ctx.restore();
    drawBrush(chart, ctx, TOP, low);
    timeAxis(ctx, x, shared.from, shared.to, LEFT, width - RIGHT, low);
  }
  function nearest(px, py) {
    const x = timeScale(LEFT, right());
    let best = -1, least = 12;
    for (const i of visible()) {
      const from = x(pauses().at_ns[i]), to = x(pauses().at_ns[i] + lengths[i]);
      const away = px < from ? from - px : px > to ? px - to : 0;
      // Of those at one place the one whose top is near, or the longest.
      const cost = away + Math.max(0, y(lengths[i]) - py) * 0.02 + away * 0.01;
      if (away < 12 && (cost < least || (cost === least && lengths[i] > lengths[best]))) { best = i; least = cost; }
    }
    return best;
  }
  function tell(i, px, py) {
    const whole = lengths[i], of = pauses();
    showTip(px, py,
      line(el("b", {}, `${one} #${of.id[i]}: ${duration(whole)}`)),
      line(`${plainName(of.reason[i], 50)}, at ${seconds(of.at_ns[i])} s`),
      line(`${counted(of.faults[i], "fault", "faults")}, ${duration(of.in_faults_ns[i])} in them`),
      partLines(of.parts[i], whole), spentOf(of.id[i]));
  }
  function spentOf(id) {
    const detail = process().details.find((pause) => pause.id === id), words = detail ? spentLine(detail.budget) : null;
    return words ? line(words) : null;
  }
  function focusOn(i) {
    if (i < 0 || i >= pauses().id.length) return;
    shared.pause = pauses().id[i];
    const at = pauses().at_ns[i], span = shared.to - shared.from;
    if (at < shared.from || at > shared.to) setRange(at - span / 2, at + span / 2);
    else changed("pause");
    const box = chart.canvas.getBoundingClientRect();
    tell(i, box.left + timeScale(LEFT, right())(at), box.top + y(lengths[i]));
  }
  const chart = new Chart({ height: 250, draw, label: `Timeline of ${count(pauses().of)} ${many}. Left and right: the one before and after; up and down: the next longer and shorter one; Enter: open it; plus and minus: zoom; 0: all` });
  picks(chart, () => LEFT, right, nearest, (i) => pauses().id[i], tell);
  chart.canvas.addEventListener("keydown", (event) => {
    if (timeKeys(event)) return;
    const now = known(shared.pause) ? indexOfPause(shared.pause) : -1;
    const byLength = () => pauses().id.map((_, i) => i).sort((a, b) => lengths[b] - lengths[a] || a - b);
    const step = (by) => { const order = byLength(), at = order.indexOf(now); focusOn(order[Math.max(0, Math.min(order.length - 1, (at < 0 ? 0 : at + by)))]); };
    if (event.key === "ArrowLeft") focusOn(now < 0 ? pauses().id.length - 1 : Math.max(0, now - 1));
    else if (event.key === "ArrowRight") focusOn(Math.min(pauses().id.length - 1, now + 1));
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "ArrowDown") step(1);
    else if (event.key === "Home") focusOn(0);
    else if (event.key === "End") focusOn(pauses().id.length - 1);
    else if ((event.key === "Enter" || event.key === " ") && now >= 0) openPause(shared.pause, chart.canvas);
    else return;
    event.preventDefault();
  });
  const reset = el("button", { type: "button", hidden: true, onclick: resetRange }, "Show all");
  const range = el("span", { class: "num" });
  onChange((what) => {
    if (!chart.canvas.isConnected) return;
    reset.hidden = !isZoomed();
    range.textContent = isZoomed() ? `${seconds(shared.from)} s to ${seconds(shared.to)} s` : "";
    chart.draw();
    if (what === "process") hideTip();
  });
  const all = pauses().id.length === pauses().of;
  const notes = [];
  if (!all) notes.push(`${count(pauses().id.length)} of ${count(pauses().of)} ${many} are drawn one by one: the worst of all, and the worst of each ${duration(pauses().stretch_ns)}. The line at the bottom shows how many there are; totals and quantiles are of all of them.`);
  const others = process().summary.pauses - pauses().of;
  if (others > 0) notes.push(`${counted(others, one, many)} more ${others === 1 ? "has" : "have"} no line in the recording, because of their length or of its size: they are in the totals and quantiles only.`);
  if (pauses().partial_of) notes.push(`× marks ${counted(pauses().partial_of, one, many)} not seen whole, in none of the lengths.`);
  return block("timeline", "Timeline",
    [`Each bar is a ${one}; its height is its length, divided in proportion by what its time went to. Drag to zoom, click to open.`],
    el("div", { class: "tools" },
      choice("Scale of lengths", [[true, "log"], [false, "linear"]], state.log, (log) => { state.log = log; chart.draw(); }),
      el("button", { type: "button", onclick: () => zoomBy(0.5, focusTime()), "aria-label": "Zoom in" }, "+"),
      el("button", { type: "button", onclick: () => zoomBy(2, focusTime()), "aria-label": "Zoom out" }, "−"),
      reset, range),
    chart.canvas, legendOfParts(), notes.map((note) => el("p", { class: "note" }, note)));
}
// What the parts of all drawn pauses look like, largest first.
function legendOfParts() {
  const sums = new Map();
  for (const parts of pauses().parts) for (let p = 0; p < parts.length; p += 2) sums.set(parts[p], (sums.get(parts[p]) || 0) + parts[p + 1]);
  const inferred = (part) => part < data.kinds && (process().summary.by_kind[partName(part)] || {}).inferred > 0;
  const items = [...sums].sort((a, b) => b[1] - a[1]).map(([part, ns]) => el("li", {}, swatch(part),
    `${inferred(part) ? "~" : ""}${part < data.kinds ? `in faults: ${partWords(part)}` : partWords(part)}${partName(part) === "stopping" ? ", at most" : ""}`,
    el("span", { class: "amount" }, duration(ns))));
  return el("ul", { class: "legend", "aria-label": "What the parts are" }, items);
}
