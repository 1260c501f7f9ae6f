// The state of memory over time, with the worst pauses above it.
const MEMORY = [
  ["resident_bytes", "resident", "line1", []], ["swapped_bytes", "swapped out", "line2", []],
  ["cgroup_used_bytes", "cgroup uses", "line3", [5, 3]], ["cgroup_swapped_bytes", "cgroup in swap", "line4", [5, 3]],
];
const LIMITS = [["cgroup_high_bytes", "memory.high"], ["cgroup_max_bytes", "memory.max"]];
// A piece of a line beside its words.
function sample(line, dash) {
  const canvas = el("canvas", { class: "swatch", width: 44, height: 24, "aria-hidden": "true" });
  canvas.style.width = "22px";
  const draw = () => {
    const ctx = canvas.getContext("2d");
    ctx.setTransform(2, 0, 0, 2, 0, 0);
    ctx.clearRect(0, 0, 22, 12);
    ctx.strokeStyle = colour(line);
    ctx.lineWidth = 1.8;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(0, 6);
    ctx.lineTo(22, 6);
    ctx.stroke();
  };
  draw();
  onScheme(canvas, draw);
  return canvas;
}
function memoryBlock() {
  const memory = process().memory, n = memory.at_ns.length;
  if (!n) return block("memory", "Memory", "", el("p", { class: "faint" }, "unknown: the recording has no samples of memory"));
  const LEFT = 64, BOTTOM = 26, TOP = 24;
  const right = () => chart.width - (chart.width < 520 ? 8 : 108);
  const has = (column) => memory[column].some(known);
  const lines = MEMORY.filter(([column]) => has(column)), limits = LIMITS.filter(([column]) => has(column));
  const highest = Math.max(1, ...lines.flatMap(([column]) => memory[column].filter(known)));
  // At the right edge of what is shown.
  const lastShown = (column) => memory[column].findLast((value, i) => known(value) && memory.at_ns[i] <= shared.to) ?? last(column);
  const last = (column) => memory[column].findLast(known);
  // A limit far above what is used would leave no room for the rest: then it is told in words only.
  const near = limits.filter(([column]) => last(column) < highest * 2.2);
  const most = 1.06 * Math.max(highest, ...near.map(([column]) => last(column)));

  function path(ctx, column, x, y, dash) {
    ctx.setLineDash(dash);
    ctx.lineWidth = 1.6;
    ctx.beginPath();
    let open = false;
    memory[column].forEach((value, i) => {
      if (!known(value)) { open = false; return; }
      if (open) ctx.lineTo(x(memory.at_ns[i]), y(value));
      else ctx.moveTo(x(memory.at_ns[i]), y(value));
      open = true;
    });
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.lineWidth = 1;
  }
  function clip(ctx, height) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, 0, right() - LEFT, height);
    ctx.clip();
  }
  function draw(ctx, width, height) {
    const x = timeScale(LEFT, right()), low = height - BOTTOM, y = (value) => low - value / most * (low - TOP);
    for (const tick of byteTicks(most, 5)) gridLine(ctx, LEFT, right(), y(tick), bytes(tick).replace(/\.0+(?= )/, ""));
    clip(ctx, height);
    const worst = process().details.filter((pause) => known(pause.requested_ns) && pause.duration_ns).slice(0, 40);
    for (const pause of worst) {
      ctx.fillStyle = pause.id === shared.pause ? colour("ink") : colour("faint");
      const tall = 4 + 14 * pause.duration_ns / worst[0].duration_ns, at = x(pause.requested_ns);
      ctx.beginPath();
      ctx.moveTo(at - 3, TOP - 4 - tall); ctx.lineTo(at + 3, TOP - 4 - tall); ctx.lineTo(at, TOP - 4);
      ctx.fill();
      if (pause.id === shared.pause) ctx.fillRect(at - 0.5, TOP - 4, 1, low - TOP + 4);
    }
    for (const [column, , line, dash] of lines) {
      ctx.strokeStyle = colour(line);
      path(ctx, column, x, y, dash);
    }
    for (const [column] of near) {
      ctx.strokeStyle = colour("warning");
      path(ctx, column, x, y, [2, 3]);
    }
    ctx.restore();
    if (right() < width - 20) {
      const labels = [...lines, ...near.map(([column, words]) => [column, words, "warning"])]
        .map(([column, words, line]) => ({ at: y(lastShown(column)), text: words, line })).sort((a, b) => a.at - b.at);
      labels.forEach((label, i) => { if (i && label.at < labels[i - 1].at + 13) label.at = labels[i - 1].at + 13; });
      ctx.textAlign = "left";
      for (const label of labels) {
        ctx.fillStyle = colour(label.line);
        ctx.fillText(label.text, right() + 7, Math.min(label.at, low));
      }
    }
    drawBrush(chart, ctx, TOP, low);
    timeAxis(ctx, x, shared.from, shared.to, LEFT, right(), low);
  }
  function nearest(px) {
    const time = shared.from + (px - LEFT) / (right() - LEFT) * (shared.to - shared.from);
    let best = 0;
    for (let i = 1; i < n; i++) if (Math.abs(memory.at_ns[i] - time) < Math.abs(memory.at_ns[best] - time)) best = i;
    return best;
  }
  const state = { at: -1 };
  function tell(i, px, py) {
    const more = [["swap_in_rate", "host read from swap"], ["swap_out_rate", "host wrote to swap"]];
    showTip(px, py, line(el("b", {}, `at ${seconds(memory.at_ns[i])} s`), known(memory.at_end_of[i]) ? `, at the end of #${memory.at_end_of[i]}` : ""),
      [...lines, ...limits].map(([column, words]) => line(`${words}: ${bytes(memory[column][i])}`)),
      more.map(([column, words]) => line(`${words}: ${known(memory[column][i]) ? `${bytes(memory[column][i])}/s` : UNKNOWN}`)),
      line(`host has available: ${bytes(memory.available_bytes[i])}, free swap: ${bytes(memory.swap_free_bytes[i])}`),
      line(`stalled on memory in the last 10 s: ${known(memory.pressure_percent[i]) ? `${memory.pressure_percent[i]} %` : UNKNOWN}`));
  }
  const hover = (px, py, event) => tell(nearest(px), event.clientX, event.clientY);
  const chart = new Chart({ height: 220, draw, label: "Memory over time. Left and right: the sample before and after; plus and minus: zoom" });
  brushes(chart, () => LEFT, right, hover, hover);
  chart.canvas.addEventListener("keydown", (event) => {
    if (timeKeys(event)) return;
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    state.at = Math.max(0, Math.min(n - 1, state.at + step));
    const box = chart.canvas.getBoundingClientRect();
    tell(state.at, box.left + timeScale(LEFT, right())(memory.at_ns[state.at]), box.top + 40);
    event.preventDefault();
  });
  const rates = [["swap_in_rate", "read from swap", "line2", []], ["swap_out_rate", "written to swap", "line1", [5, 3]]].filter(([column]) => has(column));
  const fastest = Math.max(1, ...rates.flatMap(([column]) => memory[column].filter(known)));
  const rateChart = rates.length ? new Chart({ height: 90, focusable: false, label: "Swap rates of the host over time", draw: (ctx, width, height) => {
    const x = timeScale(LEFT, right()), low = height - 8, y = (value) => low - value / fastest * (low - 10);
    gridLine(ctx, LEFT, right(), low, "0 B/s");
    gridLine(ctx, LEFT, right(), y(fastest), `${bytes(fastest)}/s`);
    clip(ctx, height);
    for (const [column, , line, dash] of rates) {
      ctx.strokeStyle = colour(line);
      path(ctx, column, x, y, dash);
    }
    ctx.restore();
    if (right() < width - 20) rates.forEach(([, words, line], i) => { ctx.fillStyle = colour(line); ctx.textAlign = "left"; ctx.fillText(words, right() + 7, 14 + 14 * i); });
  } }) : null;
  onChange(() => { if (chart.canvas.isConnected) { chart.draw(); if (rateChart) rateChart.draw(); } });
  const notes = [];
  if (memory.cgroup !== null) notes.push(el("p", { class: "note" }, `cgroup ${shorten(memory.cgroup, 100)}: ${limits.length ? limits.map(([column, words]) => `${words} ${bytes(last(column))}`).join(", ") : "no memory limit"}`));
  if (memory.of > n) notes.push(el("p", { class: "note" }, `${count(n)} of ${count(memory.of)} samples are drawn.`));
  const legend = el("ul", { class: "legend" }, [...lines, ...near.map(([column, words]) => [column, words, "warning", [2, 3]])]
    .map(([column, words, line, dash]) => el("li", {}, sample(line, dash), words, el("span", { class: "amount" }, `${bytes(last(column))} at last`))));
  return block("memory", "Memory", `Samples of the process${has("cgroup_used_bytes") ? ", its cgroup" : ""} and the host's swapping. ▾ marks the worst ${process().called[1]}, larger ones deeper.`,
    chart.canvas, rateChart ? rateChart.canvas : null, legend, notes);
}
