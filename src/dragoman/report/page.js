// Numbers under the pointer, or under the arrow keys, for every chart that carries its points.
for (const figure of document.querySelectorAll("figure")) {
  const held = figure.querySelector('script[type="application/json"]');
  if (!held) continue;
  const chart = JSON.parse(held.textContent), box = chart.box, svg = figure.querySelector("svg"), cursor = svg.querySelector(".cursor");
  const tip = document.createElement("div");
  tip.className = "tip"; tip.hidden = true; tip.setAttribute("role", "status");
  figure.append(tip);
  const [low, high] = chart.x;
  const every = [...new Set(chart.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  let place = every.length - 1;
  const nearest = (xs, x) => {
    let a = 0, b = xs.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; if (xs[m] < x) a = m; else b = m; }
    return b >= 0 && Math.abs(xs[a] - x) <= Math.abs(xs[b] - x) ? a : b;
  };
  const show = (x) => {
    const at = box.left + (box.right - box.left) * (x - low) / (high - low || 1);
    for (const [name, value] of [["x1", at], ["x2", at], ["y1", box.top], ["y2", box.bottom]]) cursor.setAttribute(name, value);
    cursor.style.visibility = "visible";
    tip.replaceChildren();
    const row = (text) => { const line = document.createElement("div"); line.textContent = text; tip.append(line); };
    row(`${chart.x_label} ${x.toLocaleString("en")}`);
    for (const line of chart.lines) {
      const n = nearest(line.x, x);
      if (n < 0 || x < line.x[0] || x > line.x[line.x.length - 1] || line.y[n] === null) continue;
      row(`${line.name}: ${Number(line.y[n].toPrecision(5))}`);
    }
    tip.hidden = false;
    const seen = svg.getBoundingClientRect(), outer = figure.getBoundingClientRect();
    const left = seen.left - outer.left + at / box.width * seen.width;
    tip.style.top = `${seen.top - outer.top + 6}px`;
    tip.style.left = left > outer.width / 2 ? "" : `${left + 12}px`;
    tip.style.right = left > outer.width / 2 ? `${outer.width - left + 12}px` : "";
  };
  const hide = () => { tip.hidden = true; cursor.style.visibility = "hidden"; };
  svg.addEventListener("pointermove", (event) => {
    const seen = svg.getBoundingClientRect(), at = (event.clientX - seen.left) / seen.width * box.width;
    const x = low + (high - low) * (at - box.left) / (box.right - box.left);
    place = nearest(every, x);
    show(every[place]);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -every.length, End: every.length }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    place = Math.min(every.length - 1, Math.max(0, place + step));
    show(every[place]);
  });
}
