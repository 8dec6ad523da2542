"use strict";
/* The page of a replay. Data stands in #data; everything is drawn from it, nothing is fetched. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const number = (value) => Math.round(value).toLocaleString("en");
  const KINDS = data.kinds;
  const LEFT = 56, RIGHT = 8;
  let WIDTH = 1000; // of the chart that is being drawn: as wide as its place, so that its text keeps its size
  let trace = null, call = 0, chosen = -1, shown = [];

  /* --- small helpers: elements are made, never written as text, so that no content can become markup --- */
  function make(tag, attributes, ...children) {
    const svg = ["svg", "path", "rect", "line", "text", "circle", "g", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const fill = (node, ...children) => node.replaceChildren(...children.filter((child) => child !== null));
  const option = (value, text) => make("option", { value }, text);
  const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
  const label = (index) => { const item = trace.items[index]; return `${item.id.split("-")[0]} ${item.name || item.kind}`; };

  function lifeAt(item, at) {
    let found = item.life[0];
    for (const entry of item.life) if (entry[0] <= at) found = entry;
    return found;
  }

  /* --- charts over calls --- */
  const step = () => (WIDTH - LEFT - RIGHT) / Math.max(1, trace.calls.length);
  const x = (at) => LEFT + at * step();

  function frame(host, height, top, name, ticks) {
    WIDTH = Math.max(320, host.clientWidth || 1000);
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${height + 20}`, role: "img", "aria-label": name, class: "chart", "data-width": WIDTH });
    const y = (value) => height - (value / Math.max(1, top)) * (height - 10);
    for (let i = 0; i <= ticks; i++) {
      const value = (top * i) / ticks;
      svg.append(make("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }));
      svg.append(make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)));
    }
    const every = Math.max(1, Math.ceil((trace.calls.length * 40) / WIDTH));
    for (let at = 0; at < trace.calls.length; at += every)
      svg.append(make("text", { x: x(at + 0.5), y: height + 14, "text-anchor": "middle" }, String(at + 1)));
    svg.append(make("line", { class: "cursor", x1: 0, x2: 0, y1: 0, y2: height }));
    const wide = WIDTH;
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect(), at = ((event.clientX - box.left) / box.width) * wide - LEFT;
      select(Math.floor((at / (wide - LEFT - RIGHT)) * trace.calls.length));
    });
    host.replaceChildren(svg);
    return [svg, y];
  }

  function stairs(values, y, floor) {
    let up = "", down = "";
    values.forEach((value, at) => {
      up += `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}L${x(at + 1).toFixed(1)} ${y(value).toFixed(1)}`;
      if (floor) down = `L${x(at + 1).toFixed(1)} ${y(floor[at]).toFixed(1)}L${x(at).toFixed(1)} ${y(floor[at]).toFixed(1)}${down}`;
    });
    return up + (floor ? `${down}Z` : "");
  }

  function drawContext() {
    const calls = trace.calls, present = KINDS.filter((kind) => calls.some((c) => c.bands[kind]));
    const sums = calls.map((c) => present.reduce((sum, kind) => sum + (c.bands[kind] || 0), 0));
    const top = Math.max(trace.limit, ...sums, 1);
    const worst = calls.reduce((best, c, at) => (sums[at] > sums[best] ? at : best), 0);
    const name = `Tokens of the request by kind, ${calls.length} calls, at most ${number(sums[worst] || 0)} at call ` +
      `${worst + 1}; the limit is ${number(trace.limit)}. The slider below reads out each call.`;
    const [svg, y] = frame($("context"), 240, top, name, 4);
    let floor = calls.map(() => 0);
    for (const kind of present) {
      const ceiling = floor.map((value, at) => value + (calls[at].bands[kind] || 0));
      svg.insertBefore(make("path", { d: stairs(ceiling, y, floor), fill: `var(--${kind})` }), svg.querySelector(".cursor"));
      floor = ceiling;
    }
    svg.append(make("line", { class: "limit", x1: LEFT, x2: WIDTH - RIGHT, y1: y(trace.limit), y2: y(trace.limit) }));
    calls.forEach((c, at) => {
      if (c.epoch !== "none") svg.append(make("path", { class: "epoch", d: `M${x(at)} 240l-4 7h8z` }));
      if (c.pressured && c.kept < c.needed) svg.append(make("circle", { class: "loss", cx: x(at + 0.5), cy: 5, r: 3.5 }));
      if (c.raised) svg.append(make("path", { class: "raised", d: `M${x(at + 0.5) - 4} 1l8 8m0 -8l-8 8` }));
    });
    const key = (tone, text) => make("li", {}, make("i", { style: `background:${tone}` }), text);
    $("kinds").replaceChildren(...present.map((kind) => key(`var(--${kind})`, kind)),
      make("li", {}, "- - limit"), make("li", {}, "▲ rewritten here"),
      make("li", {}, make("span", { class: "bad" }, "●"), " a needed value was gone"),
      make("li", {}, make("span", { class: "bad" }, "✕"), " refused with an error"));
  }

  function drawCost() {
    const calls = trace.calls, top = Math.max(1, ...calls.map((c) => c.sent));
    const cost = calls.reduce((sum, c) => sum + (c.raised ? 0 : c.cost), 0);
    const whole = calls.reduce((sum, c) => sum + (c.raised ? 0 : c.full_cost), 0);
    const name = `Tokens of each request, from the prompt cache and billed in full. In all ${number(cost)} against ` +
      `${number(whole)} for sending everything.`;
    const [svg, y] = frame($("cost"), 110, top, name, 2);
    const bars = step() > 4 ? Math.min(1, step() * 0.15) : 0;
    for (const [part, tone] of [["sent", "fresh"], ["hit", "hit"]]) {
      let d = "";
      calls.forEach((c, at) => { d += `M${x(at) + bars} 110V${y(c[part]).toFixed(1)}H${(x(at + 1) - bars).toFixed(1)}V110z`; });
      svg.insertBefore(make("path", { d, fill: `var(--${tone})` }), svg.querySelector(".cursor"));
    }
    $("bill").textContent = `${number(cost)} units against ${number(whole)} for sending everything: ` +
      `${whole ? (cost / whole).toFixed(2) : "–"}. A unit is an uncached input token; cached ones cost 0.1, written ones 1.25.`;
  }

  function drawCompare() {
    const name = $("other").value, other = trace.others[name];
    $("beside").hidden = !other;
    if (!other) return;
    const mine = trace.calls.map((c) => c.sent), theirs = other.map((c) => c[0]), all = trace.calls.map((c) => c.full);
    const text = `Tokens sent at each call: ${trace.policy}, ${name}, and everything.`;
    const [svg, y] = frame($("beside"), 160, Math.max(1, ...all), text, 3);
    for (const [values, tone, dash] of [[all, "faint", "2 3"], [theirs, "fresh", "7 3"], [mine, "focus", ""]])
      svg.append(make("path", { d: stairs(values, y), fill: "none", stroke: `var(--${tone})`, "stroke-width": 1.8, "stroke-dasharray": dash }));
    const ours = trace.calls.reduce((sum, c) => sum + (c.pressured ? c.needed - c.kept : 0), 0);
    const gone = other.reduce((sum, c, at) => sum + (trace.calls[at].pressured ? c[2] - c[3] : 0), 0);
    const price = (rows) => rows.reduce((sum, [sent, hit]) => sum + 0.1 * hit + 1.25 * (sent - hit), 0);
    $("verdict").replaceChildren(
      make("li", {}, make("i", { style: "background:var(--focus)" }), `${trace.policy}: ${count(ours, "needed value")} gone, cost ${number(price(trace.calls.map((c) => [c.sent, c.hit])))}`),
      make("li", {}, make("i", { style: "background:var(--fresh)" }), `${name} (dashed): ${count(gone, "needed value")} gone, cost ${number(price(other))}`),
      make("li", {}, make("i", { style: "background:var(--faint)" }), "everything (dotted)"));
  }

  /* --- one call --- */
  function select(at) {
    call = Math.max(0, Math.min(trace.calls.length - 1, at));
    $("call").value = call + 1;
    const c = trace.calls[call];
    $("call").setAttribute("aria-valuetext", `call ${call + 1} of ${trace.calls.length}, ${number(c.sent)} tokens` +
      (c.pressured && c.kept < c.needed ? `, ${count(c.needed - c.kept, "needed value")} gone` : ""));
    for (const line of document.querySelectorAll(".chart .cursor")) {
      WIDTH = Number(line.parentNode.dataset.width);
      line.setAttribute("x1", x(call + 0.5)); line.setAttribute("x2", x(call + 0.5));
    }
    drawCall(c);
    paint();
  }

  function drawCall(c) {
    const facts = [
      `${number(c.sent)} tokens sent of ${number(c.full)}; ${number(c.hit)} of them from the cache. Cost ${number(c.cost)}, everything ${number(c.full_cost)}.`,
      c.epoch === "none" ? "Nothing was rewritten at this call." : `Rewritten at this call: ${c.epoch}.`,
    ];
    if (c.oversize) facts.push("The latest unit alone exceeds the budget.");
    const list = make("ul", {});
    for (const need of trace.needs.filter((entry) => entry.call === call)) {
      const from = make("ul", {});
      for (const source of need.sources) {
        const entry = lifeAt(trace.items[source], call);
        const state = entry[1] === "full" ? "in full" : `${entry[1]} since call ${entry[0] + 1}: ${entry[3]}`;
        from.append(make("li", {}, make("button", { class: "link", type: "button", onclick: () => open(source, true) }, label(source)), ` ${state}`));
      }
      list.append(make("li", {}, make("code", {}, need.value), " ",
        make("span", { class: need.kept ? "good" : "bad" }, need.kept ? "✓ there" : "✗ gone"), from));
    }
    fill($("calldetails"),
      make("h3", { id: "callname" }, `Call ${call + 1} of ${trace.calls.length}, before message ${c.t}`),
      ...facts.map((text) => make("p", {}, text)),
      c.raised ? make("p", { class: "bad" }, c.raised) : null,
      make("p", {}, c.needed ? `It needed ${count(c.needed, "value")} from earlier messages; ${c.kept} were there:` : "It needed no value from earlier messages."),
      list);
  }

  /* --- items: only the rows in sight are in the document --- */
  const ROW = 26;
  const HEIGHT = { full: 12, compressed: 7, stub: 3, recalled: 12, gone: 0 };

  function strip(item) {
    const svg = make("svg", { viewBox: "0 0 220 16", preserveAspectRatio: "none", width: "100%", height: 16, "aria-hidden": "true" });
    const all = trace.calls.length, at = (value) => (value / all) * 220;
    item.life.forEach((entry, i) => {
      const end = i + 1 < item.life.length ? item.life[i + 1][0] : all, high = HEIGHT[entry[1]];
      const box = { x: at(entry[0]), width: Math.max(0.6, at(end) - at(entry[0])), y: 8 - high / 2, height: high };
      if (entry[1] === "gone") svg.append(make("line", { x1: box.x, x2: box.x + box.width, y1: 8, y2: 8, stroke: "var(--faint)", "stroke-dasharray": "1 4" }));
      else if (entry[1] === "recalled") svg.append(make("rect", { ...box, fill: "none", stroke: `var(--${item.kind})` }));
      else svg.append(make("rect", { ...box, fill: `var(--${item.kind})` }));
    });
    svg.append(make("line", { x1: at(call + 0.5), x2: at(call + 0.5), y1: 0, y2: 16, stroke: "var(--ink)", "stroke-width": 0.7 }));
    return svg;
  }

  function story(item) {
    return item.life.map((entry) => `call ${entry[0] + 1}: ${entry[1]}, ${number(entry[2])} tokens` +
      (entry[3] ? `, ${entry[3]}` : "") + (entry[4] === null ? "" : ` (score ${entry[4].toFixed(2)})`));
  }

  function filter() {
    const kind = $("kind").value, state = $("state").value, words = $("find").value.trim().toLowerCase();
    const needed = state === "lost" ? new Set(trace.needs.filter((n) => !n.kept).flatMap((n) => n.sources)) : null;
    shown = [];
    trace.items.forEach((item, index) => {
      if (kind && item.kind !== kind) return;
      if (needed ? !needed.has(index) : state && item.life[item.life.length - 1][1] !== state) return;
      if (words && !`${item.id} ${item.name} ${item.preview}`.toLowerCase().includes(words)) return;
      shown.push(index);
    });
    $("space").style.height = `${shown.length * ROW}px`;
    $("items").setAttribute("aria-rowcount", shown.length + 1);
    $("count").textContent = `${count(shown.length, "item")} of ${number(trace.items.length)}`;
    if (!shown.includes(chosen)) chosen = shown.length ? shown[0] : -1;
    $("rows").scrollTop = 0;
    paint();
  }

  function paint() {
    const view = $("rows"), first = Math.max(0, Math.floor(view.scrollTop / ROW) - 4);
    const last = Math.min(shown.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + 4);
    const focused = view.contains(document.activeElement) && document.activeElement.classList.contains("row");
    const rows = [];
    for (let at = first; at < last; at++) {
      const index = shown[at], item = trace.items[index], now = item.born <= call ? lifeAt(item, call) : null;
      const cell = (text, css) => make("span", { role: "gridcell", class: css || null }, text);
      const row = make("div", {
        class: "row", role: "row", id: `item-${index}`, "aria-rowindex": at + 2, "aria-selected": index === chosen,
        tabindex: index === chosen ? 0 : -1, style: `top:${at * ROW}px;--tone:var(--${item.kind})`,
        onclick: () => open(index, true),
      }, cell(item.id.split("-")[0], "mono"), cell(item.kind, "tag"), cell(item.name ? `${item.name}: ${item.preview}` : item.preview),
        cell(now ? number(now[2]) : "", "n"), make("span", { role: "gridcell" }, make("span", { class: "quiet" }, now ? now[1] : "not there yet"), strip(item)));
      row.dataset.index = index;
      rows.push(row);
    }
    $("space").replaceChildren(...rows);
    if (focused) { const row = $(`item-${chosen}`); if (row) row.focus({ preventScroll: true }); }
  }

  function open(index, scroll) {
    chosen = index;
    let at = shown.indexOf(index);
    if (at < 0) { $("kind").value = $("state").value = $("find").value = ""; filter(); chosen = index; at = shown.indexOf(index); }
    const view = $("rows");
    if (scroll && (at * ROW < view.scrollTop || (at + 1) * ROW > view.scrollTop + view.clientHeight))
      view.scrollTop = Math.max(0, at * ROW - view.clientHeight / 2);
    paint();
    drawItem(trace.items[index], index);
  }

  function drawItem(item, index) {
    const uses = trace.needs.filter((need) => need.sources.includes(index));
    const signals = Object.entries(item.signals).filter(([, value]) => value > 0).map(([name, value]) => `${name} ${value}`).join(", ");
    fill($("itemdetails"),
      make("h3", {}, `Item ${item.id}: ${item.kind}${item.name ? ` ${item.name}` : ""}`),
      make("p", { class: "mono" }, item.preview),
      make("p", {}, `${count(item.tokens, "token")}, message ${item.message}, there from call ${item.born + 1} on.`),
      item.score.length ? make("p", {}, `Score ${item.score[2]} = weighted recency ${item.score[0]} and relevance ${item.score[1]}${signals ? ` (${signals})` : ""}.`) : null,
      ...item.protections.map(([reason, until]) => make("p", {}, `Protected: ${reason}; until ${until}.`)),
      make("p", {}, "Its life:"),
      make("ul", {}, ...story(item).map((text) => make("li", {}, text))),
      uses.length ? make("p", {}, "What later calls needed of it:") : make("p", {}, "No later call needed a value of it."),
      make("ul", {}, ...uses.slice(0, 40).map((need) => make("li", {},
        make("button", { class: "link", type: "button", onclick: () => { select(need.call); $("call").focus(); } }, `call ${need.call + 1}`),
        " ", make("code", {}, need.value), need.kept ? " was there" : make("span", { class: "bad" }, " was gone")))));
  }

  function keys(event) {
    if (!event.target.classList.contains("row")) return;
    const page = Math.floor($("rows").clientHeight / ROW), at = shown.indexOf(chosen);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(shown[Math.max(0, Math.min(shown.length - 1, to))], true);
    const row = $(`item-${chosen}`);
    if (row) row.focus({ preventScroll: true });
  }

  function hint(event) {
    const row = event.target.closest && event.target.closest(".row[data-index]");
    $("tip").hidden = !row;
    if (!row) return;
    const item = trace.items[row.dataset.index], box = row.getBoundingClientRect();
    $("tip").textContent = [...story(item), item.score.length ? `score ${item.score[2]}: recency ${item.score[0]}, relevance ${item.score[1]}` : ""].join("\n");
    $("tip").style.left = `${Math.max(4, Math.min(box.right - 420, innerWidth - 430))}px`;
    $("tip").style.top = `${Math.min(box.bottom + 4, innerHeight - 120)}px`;
  }

  /* --- a run --- */
  function draw() { drawContext(); drawCost(); drawCompare(); }

  function show(index) {
    trace = data.traces[index];
    call = 0; chosen = -1;
    $("call").max = trace.calls.length;
    $("about").textContent = `${trace.set}, task ${trace.task}: ${count(trace.calls.length, "call")}, ${count(trace.items.length, "item")}, ` +
      `${trace.wire}, limit ${number(trace.limit)} tokens.` + (trace.notes.length ? ` ${trace.notes.join("; ")}.` : "");
    const kinds = [...new Set(trace.items.map((item) => item.kind))];
    $("kind").replaceChildren(option("", "every kind"), ...kinds.map((kind) => option(kind, kind)));
    $("other").replaceChildren(...Object.keys(trace.others).map((name) => option(name, name)));
    if (trace.others.window) $("other").value = "window";
    $("compare").hidden = !Object.keys(trace.others).length;
    draw();
    filter();
    const lost = trace.calls.findIndex((c) => c.pressured && c.kept < c.needed);
    select(lost >= 0 ? lost : trace.calls.length - 1);
    if (chosen >= 0) drawItem(trace.items[chosen], chosen);
  }

  if (!data.traces.length) { $("run").hidden = true; return; }
  $("trace").replaceChildren(...data.traces.map((entry, at) => {
    const gone = entry.calls.reduce((sum, c) => sum + (c.pressured ? c.needed - c.kept : 0), 0);
    return option(at, `${entry.id} (${count(entry.calls.length, "call")}, ${count(gone, "needed value")} gone)`);
  }));
  $("trace").addEventListener("change", () => show(Number($("trace").value)));
  $("call").addEventListener("input", () => select(Number($("call").value) - 1));
  $("other").addEventListener("change", () => { drawCompare(); select(call); });
  for (const id of ["kind", "state"]) $(id).addEventListener("change", filter);
  $("find").addEventListener("input", filter);
  $("rows").addEventListener("scroll", paint);
  $("rows").addEventListener("keydown", keys);
  $("rows").addEventListener("focusin", hint);
  $("rows").addEventListener("mouseover", hint);
  $("rows").addEventListener("mouseleave", () => { $("tip").hidden = true; });
  $("rows").addEventListener("focusout", () => { $("tip").hidden = true; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") $("tip").hidden = true; });
  addEventListener("resize", () => { draw(); select(call); });
  show(0);
})();
