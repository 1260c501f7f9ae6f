// What several pictures share: the process, the stretch of time, the pause that is looked at.
const shared = { process: data.processes[0], from: 0, to: 1, pause: null };
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const changed = (what) => listeners.forEach((listener) => listener(what));

const process = () => shared.process;
const pauses = () => shared.process.pauses;
// The whole stretch: the trace, and what lies beyond it.
function wholeRange(of) {
  const at = of.pauses.at_ns, last = at.length - 1;
  const from = Math.min(of.covered_from_ns, last >= 0 ? at[0] : of.covered_from_ns);
  let to = Math.max(of.duration_ns, last >= 0 ? at[last] + of.pauses.ns[last] : 0, from + 1);
  return [from, to];
}
function setRange(from, to) {
  const [least, most] = wholeRange(process());
  const span = Math.max(Math.min(to - from, most - least), Math.min(20_000, most - least));
  shared.from = Math.max(least, Math.min(from, most - span));
  shared.to = shared.from + span;
  changed("range");
}
function resetRange() {
  [shared.from, shared.to] = wholeRange(process());
  changed("range");
}
const isZoomed = () => {
  const [from, to] = wholeRange(process());
  return shared.from > from || shared.to < to;
};
function zoomBy(factor, around) {
  const span = (shared.to - shared.from) * factor, middle = known(around) ? around : (shared.from + shared.to) / 2;
  const left = (middle - shared.from) / (shared.to - shared.from);
  setRange(middle - span * left, middle + span * (1 - left));
}
const indexOfPause = (id) => pauses().id.indexOf(id);
const timeScale = (left, right) => (ns) => left + (ns - shared.from) / (shared.to - shared.from) * (right - left);

// Dragging along time chooses a stretch; a click without dragging is passed on.
function brushes(chart, left, right, click, hover) {
  const canvas = chart.canvas;
  let start = null;
  const at = (event) => event.clientX - canvas.getBoundingClientRect().left;
  const time = (x) => shared.from + (x - left()) / (right() - left()) * (shared.to - shared.from);
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = at(event);
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const x = at(event), y = event.clientY - canvas.getBoundingClientRect().top;
    if (start !== null && Math.abs(x - start) > 4 && event.pointerType === "mouse") {
      chart.brush = [Math.min(start, x), Math.max(start, x)];
      hideTip();
      chart.draw();
    } else hover(x, y, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    const brush = chart.brush;
    start = null;
    chart.brush = null;
    if (brush) setRange(time(Math.max(left(), brush[0])), time(Math.min(right(), brush[1])));
    else click(at(event), event.clientY - canvas.getBoundingClientRect().top, event);
  });
  canvas.addEventListener("pointercancel", () => { start = null; chart.brush = null; });
  canvas.addEventListener("pointerleave", () => { if (document.activeElement !== canvas) hideTip(); });
  canvas.addEventListener("dblclick", resetRange);
  canvas.addEventListener("blur", hideTip);
}
// What is nearest to the pointer: a click opens its pause, the pointer over it tells of it.
function picks(chart, left, right, nearest, pauseOf, tell) {
  brushes(chart, left, right, (px, py) => {
    const i = nearest(px, py);
    if (i >= 0) openPause(pauseOf(i), chart.canvas);
  }, (px, py, event) => {
    const i = nearest(px, py);
    chart.canvas.style.cursor = i >= 0 ? "pointer" : "crosshair";
    if (i >= 0) tell(i, event.clientX, event.clientY);
    else hideTip();
  });
}
function drawBrush(chart, ctx, top, bottom) {
  if (!chart.brush) return;
  ctx.fillStyle = colour("strong");
  ctx.globalAlpha = 0.15;
  ctx.fillRect(chart.brush[0], top, chart.brush[1] - chart.brush[0], bottom - top);
  ctx.globalAlpha = 1;
}
// Keys that every chart over time knows; true when it was one.
function timeKeys(event) {
  const span = shared.to - shared.from;
  if (event.key === "+" || event.key === "=") zoomBy(0.5, focusTime());
  else if (event.key === "-") zoomBy(2, focusTime());
  else if (event.key === "0" || event.key === "Escape") { if (!isZoomed()) return false; resetRange(); }
  else if (event.shiftKey && event.key === "ArrowLeft") setRange(shared.from - span / 4, shared.to - span / 4);
  else if (event.shiftKey && event.key === "ArrowRight") setRange(shared.from + span / 4, shared.to + span / 4);
  else return false;
  event.preventDefault();
  return true;
}
function focusTime() {
  const index = known(shared.pause) ? indexOfPause(shared.pause) : -1;
  return index >= 0 ? pauses().at_ns[index] : null;
}
