// Numbers as the text report writes them. Nothing known is ever shown as 0, nothing counted as nothing.
const TIMES = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"], [6e10, "min"], [3.6e12, "h"], [8.64e13, "d"]];
const TIME_LIMITS = [1000, 1000, 1000, 1000, 120, 48, Infinity];
const SIZES = [[1, "B"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"], [2 ** 50, "PiB"]];
const SIZE_LIMITS = [1024, 1024, 1024, 1024, 1024, Infinity];

const known = (value) => value !== null && value !== undefined;
const count = (n) => known(n) ? String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",") : UNKNOWN;
const counted = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;

// Three significant digits in the smallest unit whose limit the rounded value stays below.
function scaled(value, units, limits) {
  let text = UNKNOWN;
  for (let i = 0; i < units.length; i++) {
    const [size, name] = units[i];
    const round = (scale) => Math.floor((value * scale + size / 2) / size);
    const whole = round(1);
    if (size === 1 || round(10) >= 1000) text = `${count(whole)} ${name}`;
    else if (round(100) >= 1000) text = `${(round(10) / 10).toFixed(1)} ${name}`;
    else text = `${(round(100) / 100).toFixed(2)} ${name}`;
    if (whole < limits[i]) break;
  }
  return text;
}
const duration = (ns) => known(ns) ? scaled(ns, TIMES, TIME_LIMITS) : UNKNOWN;
const bytes = (n) => known(n) ? scaled(n, SIZES, SIZE_LIMITS) : UNKNOWN;

function share(part, whole) {
  if (!known(part) || !known(whole) || whole === 0) return UNKNOWN;
  const permille = Math.floor((part * 1000 + whole / 2) / whole);
  if (permille === 0 && part > 0) return "<0.1 %";
  if (permille >= 1000 && part < whole) return ">99.9 %";
  if (permille === 1000 && part > whole) return ">100.0 %";
  if (permille >= 10000) return `${count(Math.floor(permille / 10))} %`;
  return `${Math.floor(permille / 10)}.${permille % 10} %`;
}
// A moment of the trace in seconds.
function seconds(ns) {
  if (!known(ns)) return UNKNOWN;
  const ms = Math.round(Math.abs(ns) / 1e6);
  return `${ns < 0 ? "-" : ""}${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, "0")}`;
}
// The same moment on the wall clock, UTC.
const wallClock = (ns) => new Date(data.started_unix_ms + ns / 1e6).toISOString().replace("T", " ").replace("Z", " UTC");
const pageAddress = (page) => `0x${(page * 4096).toString(16)}`;
