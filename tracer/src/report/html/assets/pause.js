// Everything about one pause, at the side of the page.
const panel = document.getElementById("details");
let opener = null;

function openPause(id, from) {
  const index = indexOfPause(id);
  const detail = process().details.find((pause) => pause.id === id);
  if (index < 0 && !detail) return;
  if (from) opener = from;
  shared.pause = id;
  hideTip();
  replace(panel, detail ? wholePause(detail) : shortPause(index));
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.focus();
  // So that a link leads to it; a replaced entry of the history, not a new one.
  history.replaceState(null, "", `#${process().called[0]}-${process().process}-${id}`);
  changed("pause");
}
function closePause() {
  if (panel.hidden) return;
  panel.hidden = true;
  history.replaceState(null, "", "#");
  if (opener && opener.isConnected) opener.focus();
  opener = null;
}
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { closePause(); event.stopPropagation(); }
  if (event.target !== panel) return;
  const all = process().details, at = all.findIndex((pause) => pause.id === shared.pause);
  const next = event.key === "ArrowRight" ? all[at + 1] : event.key === "ArrowLeft" ? all[at - 1] : null;
  if (next) openPause(next.id);
});

function panelHead(id, ns, reason) {
  const all = process().details, at = all.findIndex((pause) => pause.id === id), one = process().called[0];
  const go = (to, words, sign) => el("button", { type: "button", "aria-label": words, disabled: !all[to], onclick: () => all[to] && openPause(all[to].id) }, sign);
  return el("header", {},
    el("h2", {}, `${one[0].toUpperCase()}${one.slice(1)} #${id}, ${known(ns) ? duration(ns) : "length unknown"}`, el("br"), el("span", { class: "soft" }, reason)),
    at >= 0 ? [go(at - 1, `The longer ${one} before`, "←"), go(at + 1, `The next shorter ${one}`, "→")] : null,
    el("button", { type: "button", "aria-label": "Close", onclick: closePause }, "Close"));
}
// Of one whose details are not on the page.
function shortPause(i) {
  const of = pauses();
  return [panelHead(of.id[i], of.ns[i], name(of.reason[i])),
    strip(of.parts[i], of.ns[i], 20), partTable(of.parts[i], of.ns[i]),
    pairs([["At", `${seconds(of.at_ns[i])} s, ${wallClock(of.at_ns[i])}`], ["Stopping", duration(of.stopping_ns[i])],
      ["Faults", `${count(of.faults[i])} (${count(of.major[i])} major), ${duration(of.in_faults_ns[i])} in them`]]),
    el("p", { class: "note" }, `Code paths and the rest are on the page for the worst ${count(process().details.length)} ${process().called[1]}; all are in the recording.`)];
}
const pairs = (rows) => el("dl", { class: "facts" }, rows.filter(Boolean).map(([label, ...text]) => el("div", {}, el("dt", {}, label), el("dd", {}, text))));
const titled = (title, ...rest) => [el("h3", {}, title), rest];
function partTable(parts, whole) {
  const rows = [];
  for (let i = 0; i < parts.length; i += 2) rows.push([parts[i], parts[i + 1]]);
  return el("table", {}, el("tbody", {}, rows.map(([part, ns]) => el("tr", {}, el("td", { class: "left" }, swatch(part), " ", part < data.kinds ? "in faults: " : "", partWords(part), partName(part) === "stopping" ? ", at most" : ""),
    el("td", {}, duration(ns)), el("td", {}, share(ns, whole))))));
}
function smallTable(heads, rows) {
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { class: at ? null : "left", scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) => el("td", { class: at ? null : "left wrap" }, cell)))))));
}
const kindRows = (kinds) => Object.entries(kinds).sort((a, b) => b[1].ns - a[1].ns)
  .map(([kind, total]) => [`${total.inferred ? "~" : ""}${kind}`, count(total.count), duration(total.ns), total.count ? duration(total.ns / total.count) : UNKNOWN]);
const kindWords = (kinds) => Object.entries(kinds).sort((a, b) => b[1].ns - a[1].ns).map(([kind, total]) => `${count(total.count)} ${total.inferred ? "~" : ""}${kind}`).join(", ");
function stackList(user, kernel) {
  const frames = (number) => known(number) ? data.stacks[number] : [];
  const shown = [...frames(kernel).map((frame) => [frame, "kernel"]), ...frames(user).map((frame) => [frame, null])];
  if (!shown.length) return null;
  return el("ol", { class: "frames" }, shown.map(([frame, sort]) => el("li", { class: sort }, name(frame, 110), sort ? " [kernel]" : "")));
}
const on = (what) => data.blocked_on[what] || what;
const leftOut = (pause, what, words) => pause.left_out[what] ? el("p", { class: "note" }, `${count(pause.left_out[what])} more ${words} are in the recording`) : null;
const tid = (number, named) => `thread ${number}${known(named) ? ` (${plainName(named, 30)})` : ""}`;
function budgetRows(budget, whole) {
  return Object.entries(budget).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).map(([part, ns]) => [data.budget[part] || part.replace(/_ns$/, "").replaceAll("_", " "), duration(ns), share(ns, whole)]);
}

function wholePause(pause) {
  const whole = pause.duration_ns, unit = process().windows.unit;
  const begun = unit === "pause" ? "requested" : "entered", ended = unit === "pause" ? "resumed" : "left";
  const phase = (from, to) => known(from) && known(to) ? duration(to - from) : UNKNOWN;
  const parts = [panelHead(pause.id, whole, [name(pause.reason, 60), pause.state === "complete" ? "" : `; ${process().states[pause.state]}`])];
  if (known(whole)) parts.push(strip(pause.parts, whole, 24, pause.budget), partTable(pause.parts, whole));
  parts.push(titled("When", pairs([
    [`${begun[0].toUpperCase()}${begun.slice(1)}`, known(pause.requested_ns) ? `${seconds(pause.requested_ns)} s, ${wallClock(pause.requested_ns)}, by thread ${pause.driver_tid}` : `unknown; thread ${pause.driver_tid}`],
    unit === "pause" && process().windows.has_stopped ? ["Stopping", duration(pause.stopping_ns)] : null,
    unit === "pause" && process().windows.has_restarting ? ["Stopped for", phase(pause.stopped_ns, pause.restarting_ns)] : null,
    unit === "pause" && process().windows.has_restarting ? ["Restarting", phase(pause.restarting_ns, pause.resumed_ns)] : null,
    known(pause.resumed_by_tid) ? [ended[0].toUpperCase() + ended.slice(1), `by thread ${pause.resumed_by_tid}`] : null,
    ["Collection", pause.is_gc === null ? "unknown" : pause.is_gc ? "yes" : "no"],
    pause.call ? ["Call", `${pause.call.goroutine ? `goroutine ${pause.call.goroutine}, ` : ""}resumed ${count(pause.call.resumptions)} times, ${counted(pause.call.inner_calls, "inner call", "inner calls")}${pause.call.moved ? ", moved between threads" : ""}${pause.call.tail_call ? ", ended in a jump to another function" : ""}`] : null,
    pause.throttling ? ["Throttled", `${counted(pause.throttling.times, "time", "times")}, ${duration(pause.throttling.ns)} summed over CPUs within ${duration(pause.throttling.over_ns)}, cgroup `, name(pause.throttling.cgroup)] : null,
  ])));
  if (pause.budget) parts.push(titled("Where its time went", smallTable(["budget of the thread", "time", "share"], budgetRows(pause.budget, whole)),
    pause.tracing_ns ? el("p", { class: "note" }, `Of the time on CPU outside faults, ${duration(pause.tracing_ns)} went to pauselens's own work after each fault.`) : null));
  else parts.push(titled("Where its time went", el("p", { class: "faint" }, "unknown: no budget")));
  if (pause.faults) {
    parts.push(titled("Faults", el("p", {}, `${counted(pause.faults, "fault", "faults")} (${count(pause.major)} major, ${count(pause.minor)} minor), ${duration(pause.in_faults_ns)} in them; faults explain ${duration(pause.explained_by_faults_ns)} (${share(pause.explained_by_faults_ns, whole)})`),
      smallTable(["kind", "faults", "time", "per fault"], kindRows(pause.by_kind)),
      pause.fault_details.have < pause.fault_details.of ? el("p", { class: "warning" }, `Details of ${count(pause.fault_details.have)} of ${count(pause.fault_details.of)} faults arrived: counts and times are whole, code paths are not.`) : null,
      pause.longest_fault ? el("p", { class: "note" }, `The longest: ${duration(pause.longest_fault.ns)}, ${pause.longest_fault.kind}, at `, name(pause.longest_fault.address), ", ", known(pause.longest_fault.mapping) ? name(pause.longest_fault.mapping) : "mapping unknown") : null));
    if (pause.places.length) parts.push(titled("What they touched", smallTable(["place", "faults", "time"], pause.places.map((place) => [[place.inferred > place.count / 2 ? "~" : "", place.region, ": ", name(place.what, 70)], count(place.count), duration(place.ns)])), leftOut(pause, "places", "places"),
      el("p", { class: "note" }, `By region: ${Object.entries(pause.by_region).sort((a, b) => b[1].ns - a[1].ns).map(([region, total]) => `${total.inferred > total.count / 2 ? "~" : ""}${region} ${duration(total.ns)} (${count(total.count)})`).join(", ") || UNKNOWN}${pause.places.concat(Object.values(pause.by_region)).some((total) => total.inferred > total.count / 2) ? ". ~ inferred" : ""}`)));
    if (pause.reads.length) parts.push(titled("What they read", smallTable(["device", "faults", "time", "requests", "read", "read ahead"], pause.reads.map((read) => [[name(read.device), known(read.serves) ? [", ", name(read.serves)] : ""], `${read.inferred ? "~" : ""}${count(read.faults)}`, duration(read.ns), count(read.requests), bytes(read.bytes), counted(read.read_ahead_pages, "page", "pages")]))));
    parts.push(titled("Code paths of its faults", el("p", { class: "note" }, "By time, innermost function first; kernel functions above where the fault was blocked."), pause.stacks.map((stack) => codePath(stack, pause.in_faults_ns)), leftOut(pause, "stacks", "code paths")));
  } else parts.push(titled("Faults", el("p", { class: "faint" }, "none on the thread that ran it")));
  if (pause.blocked.length) parts.push(titled("Blocked outside faults", pause.blocked.map((blocked) => el("div", { class: "path" },
    el("p", {}, `${duration(blocked.ns)} on ${on(blocked.on)} in ${counted(blocked.count, "wait", "waits")}${known(blocked.woken_by_tid) ? `, the longest ended by thread ${blocked.woken_by_tid}` : ""}`),
    stackList(blocked.frames, blocked.kernel_frames))), leftOut(pause, "blocked", "places")));
  if (pause.cpu_waits) parts.push(titled("Waits for a CPU", el("p", {}, `${counted(pause.cpu_waits.count, "wait", "waits")}, ${duration(pause.cpu_waits.ns)}, the longest ${duration(pause.cpu_waits.longest_ns)}; lost its CPU ${counted(pause.cpu_waits.switches, "time", "times")}`),
    pause.cpu_waits.after.length ? smallTable(["who had the CPU", "waits", "time"], pause.cpu_waits.after.map((who) => [[name(who.name), `, thread ${who.tid}${who.of_target ? ", of this program" : ""}`], count(who.count), duration(who.ns)])) : null));
  if (pause.workers.length || pause.workers_unseen || pause.waited_for_workers) parts.push(titled("Threads that worked for it", workersOf(pause, whole)));
  if (pause.stopping || pause.stopping_faults.length) parts.push(titled("How the world came to a stop", stoppingOf(pause)));
  const others = pause.bystanders;
  if (others.faults || others.sum_ns) parts.push(titled("Other threads meanwhile", el("p", {}, `${counted(others.faults, "fault", "faults")} (${count(others.major)} major), ${duration(others.sum_ns)} summed over threads: ${kindWords(others.by_kind)}`)));
  if (known(pause.requested_by)) parts.push(titled(unit === "pause" ? "Asked for by" : "Code path at its begin", stackList(pause.requested_by)));
  parts.push(titled("Memory at its end", memoryAt(pause)));
  return parts;
}
function codePath(stack, all) {
  const worst = stack.kernel[0];
  return el("div", { class: "path" },
    el("p", {}, `${duration(stack.ns)} (${share(stack.ns, all)}), ${counted(stack.faults, "fault", "faults")}: ${kindWords(stack.by_kind)}`),
    stack.kernel.map((path) => el("p", { class: "soft" }, `blocked in the kernel: ${counted(path.faults, "fault", "faults")}, ${duration(path.ns)} on ${on(path.on)}`)),
    stackList(stack.frames, worst ? worst.frames : null),
    stack.kernel.slice(1).map((path) => el("details", {}, el("summary", {}, `kernel functions of the ${duration(path.ns)} on ${on(path.on)}`), stackList(null, path.frames))));
}
function workersOf(pause, whole) {
  const waited = pause.waited_for_workers, faults = pause.worker_faults;
  return [
    waited ? el("p", {}, `Its thread waited ${waited.at_least ? "at least " : ""}${duration(waited.ns)} for them, ${duration(waited.in_their_faults_ns)} of it while one was in a fault`) : el("p", { class: "faint" }, "how long it waited for them is unknown"),
    faults ? el("p", {}, `${counted(faults.faults, "fault", "faults")}, ${duration(faults.sum_ns)} summed over them: ${kindWords(faults.by_kind)}`) : null,
    pause.workers.length ? smallTable(["thread", "faults", "in faults", "mostly"], pause.workers.map((worker) => {
      const most = budgetRows(worker.budget, whole)[0];
      return [tid(worker.tid, worker.name), count(worker.faults), duration(worker.in_faults_ns), most ? `${most[1]} ${most[0]}` : UNKNOWN];
    })) : null,
    pause.workers_unseen ? el("p", { class: "note" }, `${counted(pause.workers_unseen, "other thread", "other threads")} of which nothing was seen in it`) : null,
    faults && faults.places.length ? smallTable(["what their faults touched", "faults", "time"], faults.places.slice(0, 20).map((place) => [[place.inferred > place.count / 2 ? "~" : "", place.region, ": ", name(place.what, 60)], count(place.count), duration(place.ns)])) : null,
    faults && faults.stacks.length ? el("details", {}, el("summary", {}, `code paths of their faults (${count(faults.stacks.length)})`), faults.stacks.map((stack) => codePath(stack, faults.sum_ns))) : null,
  ];
}
function stoppingOf(pause) {
  const stopping = pause.stopping, words = (budget) => Object.entries(budget).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1])
    .map(([part, ns]) => `${duration(ns)} ${{ fault_ns: "in page faults", on_cpu_ns: "on CPU", waiting_for_cpu_ns: "waiting for a CPU", blocked_ns: "blocked in a system call", unknown_ns: "not seen" }[part] || part}`).join(", ") || "no time";
  return [
    stopping ? el("p", {}, `${duration(stopping.ns)}; the last to stop was ${known(stopping.last_tid) ? `thread ${stopping.last_tid}` : "the thread that ran it, which waited for nobody"}: ${words(stopping.budget)}`) : null,
    stopping ? stopping.threads.map((thread) => el("div", { class: "path" },
      el("p", {}, `${tid(thread.tid, thread.name)}: ${thread.at_request.replaceAll("_", " ")} when it was asked for${known(thread.since_ns) ? `, for ${duration(thread.since_ns)}` : ""}; ${words(thread.budget)}${known(thread.blocked_on) ? `; on ${on(thread.blocked_on)}` : ""}`),
      stackList(thread.frames, thread.kernel_frames))) : null,
    leftOut(pause, "stopping_threads", "threads"),
    pause.stopping_faults.map((fault) => el("div", { class: "path" },
      el("p", {}, `thread ${fault.tid} was in a fault (${fault.kind}) of ${duration(fault.full_ns)}, ${duration(fault.in_stopping_ns)} of it while the world was stopping${fault.before_request_ns ? `, begun ${duration(fault.before_request_ns)} before` : ""}`), stackList(fault.frames))),
    leftOut(pause, "stopping_faults", "faults of other threads"),
  ];
}
function memoryAt(pause) {
  const memory = process().memory;
  let at = memory.at_end_of.indexOf(pause.id), exact = at >= 0;
  if (!exact && known(pause.resumed_ns)) {
    const away = (i) => Math.abs(memory.at_ns[i] - pause.resumed_ns);
    for (let i = 0; i < memory.at_ns.length; i++) if (at < 0 || away(i) < away(at)) at = i;
  }
  if (at < 0) return el("p", { class: "faint" }, "unknown: no sample");
  const rate = (n) => known(n) ? `${bytes(n)}/s` : UNKNOWN;
  return [pairs([
    ["Resident", bytes(memory.resident_bytes[at])], ["Swapped out", bytes(memory.swapped_bytes[at])],
    memory.cgroup === null ? null : ["Cgroup", `${bytes(memory.cgroup_used_bytes[at])} used, ${bytes(memory.cgroup_swapped_bytes[at])} in swap; memory.high ${bytes(memory.cgroup_high_bytes[at])}, memory.max ${bytes(memory.cgroup_max_bytes[at])}`],
    ["Host's swapping", `${rate(memory.swap_in_rate[at])} in, ${rate(memory.swap_out_rate[at])} out`],
    ["Host", `${bytes(memory.available_bytes[at])} available, ${bytes(memory.swap_free_bytes[at])} of swap free`],
  ]), el("p", { class: "note" }, exact ? "Read at its end." : `The nearest sample, at ${seconds(memory.at_ns[at])} s.`)];
}
