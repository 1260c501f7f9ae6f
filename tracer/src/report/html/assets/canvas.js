// Charts: a canvas that knows its size, redraws when that or the colours change, and says what is under the pointer.
const drawings = new Map();
function onScheme(element, draw) {
  drawings.set(element, draw);
}
function redrawAll() {
  forgetColours();
  for (const [element, draw] of drawings) {
    if (element.isConnected) draw();
    else drawings.delete(element);
  }
}

class Chart {
  constructor({ height, label, focusable = true, draw }) {
    this.canvas = el("canvas", focusable
      ? { tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-label": label }
      : { role: "img", "aria-label": label });
    this.height = height;
    this.drawing = draw;
    this.width = 0;
    this.canvas.style.height = `${height}px`;
    onScheme(this.canvas, () => this.draw());
    new ResizeObserver(() => {
      if (this.canvas.clientWidth !== this.width) this.draw();
    }).observe(this.canvas);
  }
  setHeight(height) {
    if (height === this.height) return;
    this.height = height;
    this.canvas.style.height = `${height}px`;
  }
  draw() {
    const width = this.canvas.clientWidth, ratio = Math.min(3, devicePixelRatio || 1);
    if (!width) return;
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, this.height);
    ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = "middle";
    this.drawing(ctx, width, this.height);
  }
}

// Round numbers between two.
function niceTicks(from, to, most) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const raw = span / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((n) => n * power >= raw) || 10);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step / 1e6; at += step) ticks.push(at);
  return ticks;
}
function byteTicks(to, most) {
  const raw = to / Math.max(1, most), step = 2 ** Math.ceil(Math.log2(Math.max(1, raw)));
  const ticks = [];
  for (let at = 0; at <= to; at += step) ticks.push(at);
  return ticks;
}
function logTicks(from, to) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to * 1.0001; power++) if (10 ** power >= from * 0.999) ticks.push(10 ** power);
  return ticks;
}
const roundDuration = (ns) => ns === 0 ? "0" : duration(ns).replace(/\.0+(?= )/, "").replace(/(\.\d*[1-9])0+(?= )/, "$1");

// The axis of time below a chart.
function timeAxis(ctx, x, from, to, left, right, y) {
  ctx.fillStyle = colour("faint");
  ctx.strokeStyle = colour("rule");
  ctx.beginPath();
  ctx.moveTo(left, y + 0.5);
  ctx.lineTo(right, y + 0.5);
  ctx.stroke();
  ctx.textAlign = "center";
  const span = to - from, ticks = niceTicks(from, to, Math.max(2, (right - left) / 90));
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10((ticks[1] ?? to) - ticks[0] || 1) - 9)));
  for (const tick of ticks) {
    const at = x(tick), text = span < 2e6 || to > 1e14 ? roundDuration(tick) : `${(tick / 1e9).toFixed(digits)} s`;
    if (at < left - 1 || at > right + 1) continue;
    ctx.beginPath();
    ctx.moveTo(at, y);
    ctx.lineTo(at, y + 4);
    ctx.stroke();
    const half = ctx.measureText(text).width / 2;
    ctx.fillText(text, Math.min(right - half + 8, Math.max(left + half - 8, at)), y + 13);
  }
}
function gridLine(ctx, left, right, y, text) {
  ctx.strokeStyle = colour("grid");
  ctx.beginPath();
  ctx.moveTo(left, Math.round(y) + 0.5);
  ctx.lineTo(right, Math.round(y) + 0.5);
  ctx.stroke();
  if (text) {
    ctx.fillStyle = colour("faint");
    ctx.textAlign = "right";
    ctx.fillText(text, left - 6, y);
  }
}

const tip = document.getElementById("tip");
function showTip(x, y, ...children) {
  replace(tip, children);
  tip.hidden = false;
  tipScroll = scrollY;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth - 6 ? x - 14 - box.width : x + 14;
  const top = y + 16 + box.height > innerHeight - 6 ? y - 12 - box.height : y + 16;
  tip.style.left = `${Math.max(6, Math.min(innerWidth - box.width - 6, left))}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}
// What the pointer brought up goes when the page moves; what the keyboard did goes along.
let tipScroll = 0;
function scrollTip() {
  if (tip.hidden) return;
  if (!document.activeElement || document.activeElement.tagName !== "CANVAS") return hideTip();
  tip.style.top = `${parseFloat(tip.style.top) - (scrollY - tipScroll)}px`;
  tipScroll = scrollY;
}
function hideTip() {
  tip.hidden = true;
}
const line = (...children) => el("p", {}, children);
const lineOf = (part, text, asShape) => el("p", {}, swatch(part, asShape), text);

// What the time in faults was spent on, as [part, ns, ...] in the colours of the same things outside faults.
const SPENT = [
  ["blocked", "blocked", ["fault_blocked_io_ns", "fault_blocked_other_ns", "fault_blocked_unknown_ns"]],
  ["reclaiming", "reclaiming or compacting memory", ["fault_reclaiming_ns", "fault_compacting_ns"]],
  ["waiting_for_cpu", "waiting for a CPU", ["fault_waiting_for_cpu_ns"]],
  ["on_cpu", "on CPU", ["fault_on_cpu_ns"]],
];
function spentInFaults(budget) {
  if (!budget) return [];
  return SPENT.flatMap(([name, , fields]) => [data.parts.findIndex((part) => part.name === name), fields.reduce((sum, field) => sum + budget[field], 0)]);
}
const spentLine = (budget) => {
  const spent = SPENT.map(([, words, fields]) => [fields.reduce((sum, field) => sum + (budget ? budget[field] : 0), 0), words]).filter(([ns]) => ns > 0).sort((a, b) => b[0] - a[0]);
  return spent.length ? `the time in faults: ${spent.map(([ns, words]) => `${duration(ns)} ${words}`).join(", ")}` : null;
};
// A bar of parts, as [part, ns, part, ns, ...], on a scale of its own or a common one; the lower edge of the time in faults
// shows what that was spent on.
function strip(parts, whole, height = 16, budget = null) {
  const edge = budget && parts[0] < data.kinds ? Math.round(height / 3) : 0;
  const chart = new Chart({ height: height + (edge ? 2 : 0), label: [partsInWords(parts), spentLine(budget)].filter(Boolean).join("; "), focusable: false, draw: (ctx, width) => {
    let x = 0;
    if (edge) {
      const spent = spentInFaults(budget);
      for (let i = 0; i < spent.length; i += 2) {
        ctx.fillStyle = partFill(ctx, spent[i]);
        ctx.fillRect(x, height - edge + 2, spent[i + 1] / whole * width, edge);
        x += spent[i + 1] / whole * width;
      }
      x = 0;
    }
    for (let i = 0; i < parts.length; i += 2) {
      const w = parts[i + 1] / whole * width;
      ctx.fillStyle = partFill(ctx, parts[i]);
      const inFaults = parts[i] <= data.kinds, tall = edge && inFaults ? height - edge + 1 : height + (edge ? 2 : 0);
      ctx.fillRect(x, 0, Math.max(w - (w > 3 ? 1 : 0), 0.5), tall);
      const text = partWords(parts[i]);
      if (height >= 16 && w > ctx.measureText(text).width + 14 && parts[i] < data.kinds) {
        const textWidth = ctx.measureText(text).width;
        ctx.fillStyle = colour("paper");
        ctx.fillRect(x + 4, 1, textWidth + 6, tall - 2);
        ctx.fillStyle = colour("ink");
        ctx.textAlign = "left";
        ctx.fillText(text, x + 7, tall / 2 + 0.5);
      }
      x += w;
    }
  } });
  return chart.canvas;
}
function partsInWords(parts) {
  const words = [];
  for (let i = 0; i < parts.length; i += 2) words.push(`${duration(parts[i + 1])} ${partWords(parts[i])}`);
  return words.join(", ");
}
function partLines(parts, whole) {
  const lines = [];
  for (let i = 0; i < parts.length; i += 2) lines.push([parts[i], parts[i + 1]]);
  lines.sort((a, b) => b[1] - a[1]);
  return lines.map(([part, ns]) => lineOf(part, `${duration(ns)} ${partWords(part)} (${share(ns, whole)})`));
}
