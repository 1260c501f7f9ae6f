// What parts of a pause look like: a colour, a pattern and, for points, a shape, so that colour alone never tells.
const PLAIN = 0, RISING = 1, FALLING = 2, LEVEL = 3, UPRIGHT = 4, DOTS = 5, CROSSED = 6;
const PATTERNS = {
  swap_in: PLAIN, swap_cache: RISING, file_read: PLAIN, file_map: FALLING, first_touch: LEVEL, copy_on_write: DOTS,
  numa_hint: CROSSED, huge_page: UPRIGHT, userfault: RISING, shared_memory: LEVEL, signal: FALLING, kernel: DOTS, other: UPRIGHT,
  kind_unknown: CROSSED, on_cpu: PLAIN, waiting_for_cpu: RISING, stopping: UPRIGHT, blocked: DOTS, reclaiming: FALLING,
  parked: LEVEL, unknown: CROSSED, outside: RISING,
};
const SHAPES = ["circle", "ring", "square", "frame", "up", "up-frame", "diamond", "diamond-frame", "down", "down-frame", "plus", "cross", "bar"];

let resolved = new Map();
const probe = el("span", { hidden: true });
document.body.append(probe);
// A colour of the style sheet, as the scheme has it now.
function colour(variable) {
  if (!resolved.has(variable)) {
    probe.style.color = `var(--${variable})`;
    resolved.set(variable, getComputedStyle(probe).color);
  }
  return resolved.get(variable);
}
const partName = (part) => data.parts[part].name;
const partColour = (part) => part < 0 || !data.parts[part] ? colour("kind_unknown") : colour(partName(part));

function drawPattern(ctx, pattern, size) {
  ctx.beginPath();
  if (pattern === RISING || pattern === CROSSED) for (const x of [-size, 0, size]) { ctx.moveTo(x, size); ctx.lineTo(x + size, 0); }
  if (pattern === FALLING || pattern === CROSSED) for (const x of [-size, 0, size]) { ctx.moveTo(x, 0); ctx.lineTo(x + size, size); }
  if (pattern === LEVEL) { ctx.moveTo(0, size / 2); ctx.lineTo(size, size / 2); }
  if (pattern === UPRIGHT) { ctx.moveTo(size / 2, 0); ctx.lineTo(size / 2, size); }
  if (pattern === DOTS) ctx.rect(size / 2 - 0.6, size / 2 - 0.6, 1.2, 1.2);
  ctx.stroke();
}
let fills = new Map();
// What to fill a part with.
function partFill(ctx, part) {
  const key = part;
  if (fills.has(key)) return fills.get(key);
  const pattern = part < 0 ? CROSSED : PATTERNS[partName(part)] || PLAIN;
  let fill = partColour(part);
  if (pattern !== PLAIN) {
    const ratio = Math.max(1, Math.round(devicePixelRatio || 1)), size = 6;
    const tile = el("canvas", { width: size * ratio, height: size * ratio });
    const to = tile.getContext("2d");
    to.scale(ratio, ratio);
    to.fillStyle = fill;
    to.fillRect(0, 0, size, size);
    to.strokeStyle = colour("paper");
    to.globalAlpha = 0.62;
    to.lineWidth = 1.1;
    drawPattern(to, pattern, size);
    fill = ctx.createPattern(tile, "repeat");
    if (fill.setTransform) fill.setTransform(new DOMMatrix().scale(1 / ratio));
  }
  fills.set(key, fill);
  return fill;
}
function forgetColours() {
  resolved = new Map();
  fills = new Map();
}
function drawShape(ctx, kind, x, y, r) {
  const shape = SHAPES[kind] || "bar";
  ctx.beginPath();
  if (shape === "circle" || shape === "ring") ctx.arc(x, y, r, 0, 7);
  else if (shape === "square" || shape === "frame") ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (shape.startsWith("up")) { ctx.moveTo(x, y - r * 1.2); ctx.lineTo(x + r * 1.1, y + r * 0.8); ctx.lineTo(x - r * 1.1, y + r * 0.8); ctx.closePath(); }
  else if (shape.startsWith("down")) { ctx.moveTo(x, y + r * 1.2); ctx.lineTo(x + r * 1.1, y - r * 0.8); ctx.lineTo(x - r * 1.1, y - r * 0.8); ctx.closePath(); }
  else if (shape.startsWith("diamond")) { ctx.moveTo(x, y - r * 1.3); ctx.lineTo(x + r * 1.1, y); ctx.lineTo(x, y + r * 1.3); ctx.lineTo(x - r * 1.1, y); ctx.closePath(); }
  else if (shape === "plus") { ctx.moveTo(x - r, y); ctx.lineTo(x + r, y); ctx.moveTo(x, y - r); ctx.lineTo(x, y + r); }
  else if (shape === "cross") { ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r); }
  else { ctx.moveTo(x, y - r); ctx.lineTo(x, y + r); }
  if (shape === "circle" || shape === "square" || shape === "up" || shape === "down" || shape === "diamond") ctx.fill();
  else ctx.stroke();
}
// A sample of a part beside its words.
function swatch(part, asShape) {
  const canvas = el("canvas", { class: "swatch", width: 28, height: 24, "aria-hidden": "true" });
  const draw = () => {
    const ctx = canvas.getContext("2d");
    ctx.setTransform(2, 0, 0, 2, 0, 0);
    ctx.clearRect(0, 0, 14, 12);
    if (asShape) {
      ctx.fillStyle = ctx.strokeStyle = partColour(part);
      ctx.lineWidth = 1.4;
      drawShape(ctx, part, 7, 6, 4);
    } else {
      ctx.fillStyle = partFill(ctx, part);
      ctx.fillRect(0, 0, 14, 12);
    }
  };
  draw();
  onScheme(canvas, draw);
  return canvas;
}
const partWords = (part) => part < 0 || !data.parts[part] ? "unknown" : data.parts[part].words;
