// The worst pauses as bars on one scale.
function barsBlock() {
  const [one, many] = process().called, details = process().details.filter((pause) => pause.state === "complete");
  const longest = details.length ? details[0].duration_ns : 1;
  const list = el("ol", { class: "bars" });
  let shown = 12;
  const more = el("button", { type: "button", onclick: () => { shown += 24; fill(); } });
  function fill() {
    replace(list, details.slice(0, shown).map((pause) => {
      const width = pause.duration_ns / longest;
      const bar = strip(pause.parts, pause.duration_ns / Math.max(width, 0.002), 18, pause.budget);
      const button = el("button", { type: "button", "data-pause": pause.id,
        "aria-label": `${one} ${pause.id}, ${plainName(pause.reason)}, ${duration(pause.duration_ns)}: ${[partsInWords(pause.parts), spentLine(pause.budget)].filter(Boolean).join("; ")}`,
        onclick: () => openPause(pause.id, button) },
        el("span", { class: "bid" }, `#${pause.id}`), el("span", { class: "reason" }, plainName(pause.reason, 40)),
        bar, el("span", { class: "length" }, duration(pause.duration_ns)));
      button.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY,
        line(el("b", {}, `${one} #${pause.id}: ${duration(pause.duration_ns)}`)), partLines(pause.parts, pause.duration_ns), spentLine(pause.budget) ? line(spentLine(pause.budget)) : null));
      button.addEventListener("pointerleave", hideTip);
      return el("li", {}, button);
    }));
    more.hidden = shown >= details.length;
    more.textContent = `Show more (${details.length - shown} of the worst ones)`;
  }
  fill();
  return block("worst", `Worst ${many}`,
    `On one scale, by what their time went to: inside faults by kind, and along the lower edge by what that time was spent on. The worst ${count(details.length)} of ${count(pauses().of)} can be opened.`,
    list, el("p", { class: "note" }, more));
}
