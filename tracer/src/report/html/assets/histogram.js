// How long faults took, one small picture per kind on one scale of lengths.
const bucketFrom = (bucket) => 2 ** Math.floor(bucket / 4) * (1 + bucket % 4 / 4);
function quantile(lengths, share) {
  let left = Math.ceil(lengths.count * share);
  for (const [bucket, number] of Object.entries(lengths.buckets)) {
    left -= number;
    if (left <= 0) return bucketFrom(Number(bucket));
  }
  return lengths.longest_ns;
}
function histogramBlock() {
  const all = process().lengths;
  const roles = ["driver", "worker", "bystander"].filter((role) => all.some((lengths) => lengths.role === role));
  const grid = el("div", { class: "multiples" });
  function fill(role) {
    const shown = all.filter((lengths) => lengths.role === role).sort((a, b) => b.count - a.count);
    const buckets = shown.flatMap((lengths) => Object.keys(lengths.buckets).map(Number));
    const from = Math.min(...buckets) - 2, to = Math.max(...buckets) + 3;
    replace(grid, shown.map((lengths) => {
      const most = Math.max(...Object.values(lengths.buckets));
      const words = `${lengths.inferred ? "~" : ""}${partWords(lengths.kind)}`;
      const told = `median about ${duration(quantile(lengths, 0.5))}, p99 about ${duration(quantile(lengths, 0.99))}, longest ${duration(lengths.longest_ns)}`;
      const chart = new Chart({ height: 96, focusable: false, label: `${words}: ${count(lengths.count)}, ${told}`, draw: (ctx, width, height) => {
        const low = height - 18, x = (bucket) => (bucket - from) / (to - from) * width;
        let ticks = logTicks(bucketFrom(Math.max(0, from)), bucketFrom(to));
        ticks = ticks.filter((_, i) => i % Math.ceil(ticks.length / Math.max(2, width / 56)) === 0);
        for (const tick of ticks) {
          const at = x(Math.log2(tick) * 4);
          ctx.strokeStyle = colour("grid");
          ctx.beginPath();
          ctx.moveTo(at, 4);
          ctx.lineTo(at, low);
          ctx.stroke();
          ctx.fillStyle = colour("faint");
          const text = roundDuration(tick), half = ctx.measureText(text).width / 2;
          ctx.textAlign = "center";
          ctx.fillText(text, Math.max(half, Math.min(width - half, at)), low + 10);
        }
        ctx.fillStyle = partFill(ctx, lengths.kind);
        for (const [bucket, number] of Object.entries(lengths.buckets)) {
          const tall = Math.max(1, number / most * (low - 8));
          ctx.fillRect(x(Number(bucket)), low - tall, Math.max(1, x(Number(bucket) + 1) - x(Number(bucket)) - 0.6), tall);
        }
        ctx.strokeStyle = colour("rule");
        ctx.beginPath();
        ctx.moveTo(0, low + 0.5);
        ctx.lineTo(width, low + 0.5);
        ctx.stroke();
      } });
      chart.canvas.addEventListener("pointermove", (event) => {
        const at = Math.floor(from + (event.clientX - chart.canvas.getBoundingClientRect().left) / chart.width * (to - from));
        const number = lengths.buckets[at] || 0;
        showTip(event.clientX, event.clientY, lineOf(lengths.kind, words),
          line(`${duration(bucketFrom(at))} to ${duration(bucketFrom(at + 1))}: ${counted(number, "fault", "faults")} (${share(number, lengths.count)})`));
      });
      chart.canvas.addEventListener("pointerleave", hideTip);
      return el("figure", {}, el("figcaption", {}, swatch(lengths.kind), words, el("span", { class: "amount" }, counted(lengths.count, "fault", "faults"))),
        chart.canvas, el("p", { class: "note" }, told));
    }));
  }
  if (roles.length) fill(roles[0]);
  const words = { driver: ROLES[0], worker: ROLES[1], bystander: ROLES[2] };
  return block("lengths", "Lengths of faults", "By kind, on one logarithmic scale; each picture has its own height. Every fault with details is counted.",
    roles.length > 1 ? el("div", { class: "tools" }, choice("Faults of", roles.map((role) => [role, words[role]]), roles[0], fill)) : null,
    grid, placesTable());
}
// What all pauses' faults touched.
function placesTable() {
  const { places, places_of: of, summary } = process();
  const kinds = Object.entries(summary.by_kind).sort((a, b) => b[1].ns - a[1].ns);
  const table = (title, rows) => el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { class: "left" }, title), ["faults", "time", "share", "per fault"].map((head) => el("th", {}, head)))),
    el("tbody", {}, rows.map(([words, total, mark]) => el("tr", {}, el("td", { class: "left wrap" }, mark ? "~" : "", words),
      el("td", {}, count(total.count)), el("td", {}, duration(total.ns)), el("td", {}, share(total.ns, summary.in_faults_ns)),
      el("td", {}, total.count ? duration(total.ns / total.count) : UNKNOWN))))));
  const mostly = (total) => total.inferred > total.count / 2;
  const known = kinds.reduce((sum, [, total]) => ({ count: sum.count + total.count, ns: sum.ns + total.ns }), { count: 0, ns: 0 });
  const rows = kinds.map(([kind, total]) => [kind, total, total.inferred > 0]);
  if (known.count < summary.faults) rows.push(["kind unknown", { count: summary.faults - known.count, ns: summary.in_faults_ns > known.ns ? summary.in_faults_ns - known.ns : null }, false]);
  return el("div", { class: "pair" },
    el("div", {}, el("h3", {}, `By kind, all ${process().called[1]}`), rows.length ? table("kind", rows) : el("p", { class: "faint" }, "no faults"),
      kinds.some(([, total]) => total.inferred) ? el("p", { class: "note" }, "~ of some the kind is inferred from the mapping and the major flag") : null),
    el("div", {}, el("h3", {}, "What they touched"),
      places.length ? el("div", { class: "tall" }, table("place", places.map((place) => [[place.region, ": ", name(place.what, 60)], place, mostly(place)]))) : el("p", { class: "faint" }, "unknown"),
      of > places.length ? el("p", { class: "note" }, `${count(of - places.length)} more places`) : null,
      places.some(mostly) ? el("p", { class: "note" }, "~ most of them are placed by inference") : null));
}
