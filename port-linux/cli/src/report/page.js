// Crosshair and zoom of the charts over time. Without this script they are pictures, as they stand.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const numbers = text => text.split(' ').map(Number);
  const charts = [];
  let pointed = null;

  class Chart {
    constructor(svg) {
      this.svg = svg;
      this.shown = this.whole = numbers(svg.dataset.time);
      this.least = (this.whole[1] - this.whole[0]) / 1e4;
      this.values = numbers(svg.dataset.values);
      [this.left, this.right, this.top, this.bottom] = numbers(svg.dataset.frame);
      this.data = svg.querySelector('svg.data');
      this.times = svg.querySelector('g.times');
      this.unit = svg.querySelector('text.label')?.textContent.match(/\[(.*)\]/)?.[1] ?? '';
      this.read = svg.closest('figure').querySelector('output');
      this.lines = [...svg.querySelectorAll('path.line')].map(path => ({
        name: path.querySelector('title').textContent,
        points: [...path.getAttribute('d').matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)].map(m => [Number(m[1]), Number(m[2])]),
      }));
      this.bands = [...svg.querySelectorAll('rect')].map(rect => ({
        name: rect.querySelector('title')?.textContent,
        from: Number(rect.getAttribute('x')),
        to: Number(rect.getAttribute('x')) + Number(rect.getAttribute('width')),
      }));
      this.cross = this.element(svg, 'path', { class: 'cross' });
      this.stretch = this.element(svg, 'rect', { class: 'span' });
      svg.tabIndex = 0;
      svg.addEventListener('keydown', event => this.key(event));
      listen(svg, this);
    }

    element(parent, name, attributes) {
      const element = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
      parent.append(element);
      return element;
    }

    edges() {
      const box = this.svg.getBoundingClientRect(), unit = box.width / this.svg.viewBox.baseVal.width;
      return [box.left + this.left * unit, box.left + this.right * unit];
    }

    x(time, [from, to] = this.shown) { return this.left + ((time - from) / (to - from)) * (this.right - this.left); }

    // Every chart shows the same instant; those over the same time show the same part of it.
    point(time) {
      pointed = time;
      charts.forEach(chart => chart.mark(time));
    }
    show(span) { charts.filter(chart => String(chart.whole) === String(this.whole)).forEach(chart => chart.draw(span)); }
    all() { this.show(this.whole); }
    drag(span) {
      const [a, b] = span ? span.map(time => this.x(time)) : [0, 0];
      Object.entries({ x: a, y: this.top, width: b - a, height: this.bottom - this.top }).forEach(([key, value]) => this.stretch.setAttribute(key, value));
    }

    scale(factor) {
      const [from, to] = this.shown, middle = pointed !== null && pointed >= from && pointed <= to ? pointed : (from + to) / 2;
      this.show(zoomed(this.shown, middle, factor, this.whole, this.least));
    }

    key(event) {
      const [from, to] = this.shown, by = { ArrowLeft: -0.01, ArrowRight: 0.01 }[event.key] * (to - from);
      if (by) this.point(clamp((pointed ?? (from + to) / 2) + by, from, to));
      else if (event.key === '+') this.scale(0.5);
      else if (event.key === '-') this.scale(2);
      else if (event.key === '0' || event.key === 'Escape') this.all();
      else return;
      event.preventDefault();
    }

    mark(time) {
      const inside = time !== null && time >= this.shown[0] && time <= this.shown[1];
      this.cross.setAttribute('d', inside ? `M${this.x(time)} ${this.top}V${this.bottom}` : '');
      this.read.textContent = inside ? this.words(time) : '';
    }

    words(time) {
      const x = this.x(time, this.whole), [low, high] = this.values;
      const values = this.lines.map(({ name, points }) => {
        let [from, to] = [0, points.length - 1];
        while (from < to) {
          const middle = (from + to) >> 1;
          if (points[middle][0] < x) from = middle + 1; else to = middle;
        }
        return [name, low + (this.bottom - points[from]?.[1]) / (this.bottom - this.top) * (high - low)];
      });
      return reading(time, this.bands.find(band => band.from <= x && x < band.to)?.name, values, this.unit, decimalsOf(this.values));
    }

    draw(span) {
      this.shown = span;
      const [a, b] = span.map(time => this.x(time, this.whole)), [times, decimals] = ticks(span, Number(this.svg.dataset.times));
      this.data.setAttribute('viewBox', `${a} ${this.top} ${b - a} ${this.bottom - this.top}`);
      this.times.replaceChildren();
      for (const time of times) {
        const x = this.x(time);
        this.element(this.times, 'path', { class: 'grid', d: `M${x} ${this.top}V${this.bottom}` });
        this.element(this.times, 'text', { class: 'tick', x, y: this.bottom + 17, 'text-anchor': 'middle' }).textContent = time.toFixed(decimals);
      }
      for (const name of this.svg.querySelectorAll('[data-at]')) {
        const time = Number(name.dataset.at), x = this.x(time), to = side(x, [this.left, this.right]);
        name.setAttribute('x', x + 5 * to);
        name.setAttribute('text-anchor', to < 0 ? 'end' : 'start');
        name.style.display = time >= span[0] && time <= span[1] ? '' : 'none';
      }
      this.mark(pointed);
    }
  }

  for (const svg of document.querySelectorAll('svg[data-time]')) {
    const figure = svg.closest('figure');
    if (!figure.querySelector('output')) {
      const tools = document.createElement('span'), first = () => charts.find(chart => figure.contains(chart.svg));
      tools.className = 'tools';
      for (const [text, name, act] of [['+', 'zoom in', chart => chart.scale(0.5)], ['−', 'zoom out', chart => chart.scale(2)], ['all', 'reset the zoom', chart => chart.all()]]) {
        const button = document.createElement('button');
        Object.assign(button, { type: 'button', textContent: text, title: name, onclick: () => act(first()) });
        button.setAttribute('aria-label', name);
        tools.append(button);
      }
      figure.querySelector('figcaption').append(tools);
      figure.append(document.createElement('output'));
    }
    charts.push(new Chart(svg));
  }
})();
