// Puts the page together.
const pictures = document.getElementById("pictures"), bar = document.getElementById("bar"), main = document.getElementById("page");

function showProcess(number) {
  const found = data.processes.find((one) => one.process === number);
  if (!found) return;
  shared.process = found;
  shared.pause = null;
  listeners.length = 0;
  [shared.from, shared.to] = wholeRange(found);
  for (const section of document.querySelectorAll(".process")) section.hidden = section.dataset.process !== String(number);
  const below = document.querySelector(".process.below");
  if (below) main.insertBefore(pictures, below);
  pictures.hidden = false;
  const blocks = [];
  if (pauses().id.length) blocks.push(timelineBlock(), barsBlock());
  if (found.summary.faults) blocks.push(flameBlock());
  if (found.faults.of) blocks.push(scatterBlock());
  if (found.lengths.length || found.summary.faults) blocks.push(histogramBlock());
  blocks.push(memoryBlock());
  if (pauses().id.length) blocks.push(tableBlock());
  replace(pictures, blocks);
  panel.hidden = true;
  const jumps = bar.querySelector(".jump");
  if (jumps) replace(jumps, blocks.map((part) => el("a", { href: `#${part.id}` }, part.getAttribute("aria-label"))));
}
function setScheme(scheme) {
  document.documentElement.dataset.scheme = scheme;
  redrawAll();
}
function start() {
  document.documentElement.classList.add("js");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const scheme = el("button", { type: "button", id: "scheme", onclick: () => {
    const dark = document.documentElement.dataset.scheme ? document.documentElement.dataset.scheme === "dark" : systemDark.matches;
    setScheme(dark ? "light" : "dark");
    scheme.textContent = dark ? "Dark" : "Light";
    scheme.setAttribute("aria-label", `Use ${dark ? "dark" : "light"} colours`);
  } }, systemDark.matches ? "Light" : "Dark");
  scheme.setAttribute("aria-label", `Use ${systemDark.matches ? "light" : "dark"} colours`);
  systemDark.addEventListener("change", redrawAll);
  const selector = data.processes.length > 1 ? el("select", { id: "process", "aria-label": "Process", onchange: () => showProcess(Number(selector.value)) },
    data.processes.map((one) => el("option", { value: one.process }, `${one.title}: worst ${duration(one.summary.worst_ns)}`))) : null;
  replace(bar, el("div", {}, el("b", {}, "pauselens"), selector, el("span", { class: "jump" }), scheme));
  bar.hidden = false;
  if (!data.processes.length) return;
  // A link to one pause: its process and number stand in the address.
  const [, number, id] = /^#[a-z]+-(\d+)-(\d+)$/.exec(location.hash) || [];
  showProcess(number ? Number(number) : data.processes[0].process);
  if (shared.process && id) openPause(Number(id));
  addEventListener("keydown", (event) => { if (event.key === "Escape") { hideTip(); closePause(); } });
  // On paper it is light.
  let before;
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.scheme; setScheme("light"); });
  addEventListener("afterprint", () => { if (before) setScheme(before); else { delete document.documentElement.dataset.scheme; redrawAll(); } });
  addEventListener("scroll", scrollTip, { passive: true });
}
start();
})();
