"use strict";
// Crosshair and zoom of the charts over time. Without this script they are pictures, as they stand.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const numbers = (text) => text.split(" ").map(Number);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const charts = [];

  // Round times inside a span, about `count` of them.
  function ticks(from, to, count) {
    const raw = (to - from) / count;
    const magnitude = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * magnitude).find((s) => s >= raw);
    const decimals = clamp(-Math.floor(Math.log10(step)), 0, 9);
    const times = [];
    for (let i = Math.ceil(from / step); i * step <= to; i += 1) times.push([i * step, (i * step).toFixed(decimals)]);
    return times;
  }

  class Chart {
    constructor(svg) {
      this.svg = svg;
      this.whole = numbers(svg.dataset.time);
      this.shown = [...this.whole];
      [this.low, this.high] = numbers(svg.dataset.values);
      [this.left, this.right, this.top, this.bottom] = numbers(svg.dataset.frame);
      this.data = svg.querySelector("svg.data");
      this.times = svg.querySelector("g.times");
      this.unit = svg.querySelector("text.label")?.textContent.match(/\[(.*)\]/)?.[1] ?? "";
      this.read = svg.closest("figure").querySelector("output");
      this.lines = [...svg.querySelectorAll("path.line")].map((path) => ({
        name: path.querySelector("title").textContent,
        points: [...path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]),
      }));
      this.bands = [...svg.querySelectorAll("rect")].map((rect) => ({
        name: rect.querySelector("title")?.textContent,
        from: Number(rect.getAttribute("x")),
        to: Number(rect.getAttribute("x")) + Number(rect.getAttribute("width")),
      }));
      this.cross = this.draw("path", "cross");
      this.span = this.draw("rect", "span");
      svg.tabIndex = 0;
      svg.addEventListener("pointermove", (event) => this.moved(event));
      svg.addEventListener("pointerleave", () => show(null));
      svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") this.from = this.at(event); });
      svg.addEventListener("pointerup", (event) => this.released(event));
      svg.addEventListener("dblclick", () => zoom(this, ...this.whole));
      svg.addEventListener("keydown", (event) => this.key(event));
    }

    draw(name, kind) {
      const element = document.createElementNS(SVG, name);
      element.setAttribute("class", kind);
      this.svg.append(element);
      return element;
    }

    // The time below a pointer.
    at(event) {
      const box = this.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
      return this.time(clamp(x, this.left, this.right));
    }

    time(x) { return this.shown[0] + ((x - this.left) / (this.right - this.left)) * (this.shown[1] - this.shown[0]); }
    x(time, [from, to] = this.shown) { return this.left + ((time - from) / (to - from)) * (this.right - this.left); }

    moved(event) {
      const time = this.at(event);
      show(time);
      if (this.from === undefined) return;
      const [a, b] = [this.x(this.from), this.x(time)].sort((one, other) => one - other);
      this.span.setAttribute("x", a);
      this.span.setAttribute("y", this.top);
      this.span.setAttribute("width", b - a);
      this.span.setAttribute("height", this.bottom - this.top);
    }

    released(event) {
      const from = this.from;
      this.from = undefined;
      this.span.setAttribute("width", 0);
      if (from === undefined) return;
      const to = this.at(event);
      if (Math.abs(this.x(to) - this.x(from)) > 8) zoom(this, Math.min(from, to), Math.max(from, to));
    }

    key(event) {
      const width = this.shown[1] - this.shown[0];
      const middle = pointed ?? (this.shown[0] + this.shown[1]) / 2;
      const by = { ArrowLeft: -width / 100, ArrowRight: width / 100 }[event.key];
      if (by) show(clamp(middle + by, ...this.shown));
      else if (event.key === "+") scale(this, 0.5);
      else if (event.key === "-") scale(this, 2);
      else if (event.key === "0" || event.key === "Escape") zoom(this, ...this.whole);
      else return;
      event.preventDefault();
    }

    show(time) {
      const inside = time !== null && time >= this.shown[0] && time <= this.shown[1];
      this.cross.setAttribute("d", inside ? `M${this.x(time)} ${this.top}V${this.bottom}` : "");
      this.read.textContent = inside ? this.words(time) : "";
    }

    words(time) {
      const x = this.x(time, this.whole);
      const band = this.bands.find((stretch) => stretch.from <= x && x < stretch.to);
      const values = this.lines.map(({ name, points }) => {
        let [from, to] = [0, points.length - 1];
        while (from < to) {
          const middle = (from + to) >> 1;
          if (points[middle][0] < x) from = middle + 1; else to = middle;
        }
        const y = points[from]?.[1];
        if (y === undefined) return `${name} –`;
        const value = this.low + ((this.bottom - y) / (this.bottom - this.top)) * (this.high - this.low);
        return `${name} ${value.toPrecision(3)} ${this.unit}`;
      });
      return [`${time.toFixed(3)} s`, band?.name, ...values].filter(Boolean).join("  ·  ");
    }

    zoom(from, to) {
      this.shown = [from, to];
      const [a, b] = [this.x(from, this.whole), this.x(to, this.whole)];
      this.data.setAttribute("viewBox", `${a} ${this.top} ${b - a} ${this.bottom - this.top}`);
      this.times.replaceChildren();
      for (const [time, name] of ticks(from, to, Number(this.svg.dataset.times))) {
        const x = this.x(time);
        const line = document.createElementNS(SVG, "path");
        line.setAttribute("class", "grid");
        line.setAttribute("d", `M${x} ${this.top}V${this.bottom}`);
        const text = document.createElementNS(SVG, "text");
        text.setAttribute("class", "tick");
        text.setAttribute("x", x);
        text.setAttribute("y", this.bottom + 17);
        text.setAttribute("text-anchor", "middle");
        text.textContent = name;
        this.times.append(line, text);
      }
      for (const name of this.svg.querySelectorAll("[data-at]")) {
        const time = Number(name.dataset.at);
        name.setAttribute("x", this.x(time) + Number(name.dataset.dx));
        name.style.display = time >= from && time <= to ? "" : "none";
      }
    }
  }

  let pointed = null;
  const together = (chart) => charts.filter((other) => String(other.whole) === String(chart.whole));
  function show(time) {
    pointed = time;
    for (const chart of charts) chart.show(time);
  }
  function zoom(chart, from, to) {
    const least = (chart.whole[1] - chart.whole[0]) / 1e4;
    if (to - from < least) return;
    for (const other of together(chart)) other.zoom(Math.max(from, other.whole[0]), Math.min(to, other.whole[1]));
  }
  function scale(chart, factor) {
    const [from, to] = chart.shown;
    const middle = pointed !== null && pointed >= from && pointed <= to ? pointed : (from + to) / 2;
    zoom(chart, middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  for (const svg of document.querySelectorAll("svg[data-time]")) {
    const figure = svg.closest("figure");
    if (!figure.querySelector("output")) {
      const tools = document.createElement("span");
      tools.className = "tools";
      const chartsOf = () => charts.filter((chart) => figure.contains(chart.svg));
      for (const [text, name, act] of [
        ["+", "zoom in", (chart) => scale(chart, 0.5)],
        ["−", "zoom out", (chart) => scale(chart, 2)],
        ["all", "all of the time", (chart) => zoom(chart, ...chart.whole)],
      ]) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.title = name;
        button.setAttribute("aria-label", name);
        button.addEventListener("click", () => act(chartsOf()[0]));
        tools.append(button);
      }
      figure.querySelector("figcaption").append(tools);
      figure.append(document.createElement("output"));
    }
    charts.push(new Chart(svg));
  }
})();
