// The plots: lines of values over time with limits, and a lane with the mode, the link quality and faults.
const LEFT = 50;
const RIGHT = 66;
const TOP = 6;
const BOTTOM = 18;
const FONT = '11.5px system-ui, sans-serif';
const TINTS = [
  ['--offline', '--monitor', '--arming', '--command', '--stopping'],
  ['--stopping', '--arming', '--monitor', '--command'],
];
let plots = [];
let pointed = null;
let dragged = null;
let lane = null;
let sensor = null;
let angles = null;
let speeds = null;
let forces = null;
let errors = null;

/* One plot: lines of values over time, with limits. */
class Plot {
  constructor(title, unit, digits, height, options = {}) {
    Object.assign(this, { title, unit, digits, height, series: [], limits: [], dirty: true, ...options });
    this.root = document.createElement('div');
    this.root.className = 'plot';
    this.root.innerHTML = '<header><h2></h2><p class="value"></p></header><canvas></canvas>';
    this.heading = this.root.querySelector('h2');
    this.heading.textContent = unit ? `${title} [${unit}]` : title;
    this.value = this.root.querySelector('.value');
    this.canvas = this.root.querySelector('canvas');
    this.canvas.style.height = `${height}px`;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${title} over time`);
    this.context = this.canvas.getContext('2d');
    listen(this.canvas, this);
    $('plots').append(this.root);
  }

  add(name, tint, dash = []) {
    this.series.push({ name, tint, dash, values: ring(), low: new Float32Array(0), high: new Float32Array(0) });
    return this;
  }

  // A line for each joint.
  addJoints() {
    joints.forEach((name, i) => this.add(name, `--c${i}`, i % 2 ? [5, 3] : []));
    return this;
  }

  // `values` returns the lines' values in a state, and `limits` the limits that hold then, each with its name.
  showing(values, limits = () => []) {
    return Object.assign(this, { values, limitsOf: limits });
  }

  // Takes the newest state.
  take(status, live) {
    const values = this.values(status, live);
    put(this.series.map(line => line.values), values);
    if (values) {
      this.series.forEach((line, i) => {
        if (Number.isFinite(values[i])) line.used = true;
      });
    }
    if (this.used && this.root.hidden) this.root.hidden = false;
    this.limits = this.limitsOf(status, live);
    this.dirty = true;
  }

  // The lines' values in a kept state.
  at(index) {
    return got(this.series.map(line => line.values), index);
  }

  get used() {
    return this.series.some(line => line.used);
  }

  // What `listen` asks and tells.
  edges() {
    const box = this.canvas.getBoundingClientRect();
    return [box.left + LEFT, box.right - RIGHT];
  }

  get shown() {
    return shown();
  }

  get whole() {
    return whole();
  }

  get least() {
    return SHORTEST;
  }

  point(time) {
    const [from, to] = shown();
    pointed = time === null ? null : (time - from) / (to - from);
    redraw();
  }

  drag(span) {
    dragged = span;
    redraw();
  }

  show(span, still) {
    show(span, still);
  }

  pick(time) {
    moveTo(time);
  }

  all() {
    seconds = USUAL;
    hold(null);
  }
}

const shown = () => {
  const to = held === null ? latest() : held;
  return [to - seconds, to];
};
const whole = () => [latest() - SPAN, latest()];

// A plot that goes on goes on, of another length; `still` holds it where it was put.
function show(span, still = false) {
  seconds = span[1] - span[0];
  hold(still || held !== null ? span[1] : null);
}

function redraw() {
  plots.forEach(plot => {
    plot.dirty = true;
  });
  Arm.redraw();
}

// The columns in which the states of an area are drawn: one state each, or as many as are nearer than a pixel.
function columnsOf({ first, last, right }) {
  const stride = Math.max(1, Math.floor((last - first) / Math.max(1, right - LEFT)));
  const begin = first + ((stride - (first % stride)) % stride);
  return { begin, stride, size: Math.max(0, Math.ceil((last - begin) / stride)), last };
}

// Finds a line's lowest and highest value in each column, which are NaN where none is known.
function decimate(line, { begin, stride, size, last }) {
  if (line.low.length < size) [line.low, line.high] = [new Float32Array(2 * size), new Float32Array(2 * size)];
  for (let column = 0, i = begin; column < size; column++) {
    let low = NaN;
    let high = NaN;
    for (const end = Math.min(i + stride, last); i < end; i++) {
      const v = line.values[i % KEPT];
      if (!(v >= low)) low = Number.isNaN(v) ? low : v;
      if (!(v <= high)) high = Number.isNaN(v) ? high : v;
    }
    line.low[column] = low;
    line.high[column] = high;
  }
}

// The span of values that a plot shows.
function range(plot, size) {
  let low = Infinity;
  let high = -Infinity;
  for (const line of plot.series) {
    for (let column = 0; column < size; column++) {
      if (line.low[column] < low) low = line.low[column];
      if (line.high[column] > high) high = line.high[column];
    }
  }
  if (low === Infinity) [low, high] = [0, 1];
  const hasFloor = plot.floor !== undefined;
  if (hasFloor) low = Math.min(low, plot.floor);
  if (plot.zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  // A limit is drawn where it is not so far that nothing else would be seen.
  for (const [limit] of plot.limits) {
    const isNear = Math.abs(limit) <= 6 * Math.max(Math.abs(low), Math.abs(high), 1e-9);
    if (isNear || hasFloor) [low, high] = [Math.min(low, limit), Math.max(high, limit)];
  }
  if (hasFloor) return [low, Math.max(high * 1.12, low + 1)];
  const room = Math.max(high - low, plot.room || 0.2, 1e-6);
  const middle = (low + high) / 2;
  return [middle - room * 0.56, middle + room * 0.56];
}

// A line on a canvas from one place to another.
function stroke(context, from, to, tint, width, dash = []) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.strokeStyle = tint;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

// Clears a canvas of this size, whose units are the page's.
function cleared(canvas, width, height) {
  const context = canvas.getContext('2d');
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function drawPlot(plot, from, to) {
  const width = plot.canvas.clientWidth;
  const { height } = plot;
  if (!width) return;
  const context = cleared(plot.canvas, width, height);
  const labels = new Labels(context, width, height, FONT);
  const right = width - RIGHT;
  const bottom = height - BOTTOM;
  const x = t => LEFT + ((t - from) / (to - from)) * (right - LEFT);
  const area = { from, to, x, right, bottom };
  area.first = Math.max(indexAt(from) - 1, 0, count - KEPT + 1);
  area.last = Math.min(count, indexAt(to) + 1);
  if (plot.lane) drawLane(context, labels, area);
  else drawLines(plot, context, labels, area);
  const [steps, digits] = ticks([from, to], clamp(width / 110, 2, 8));
  for (const t of steps.filter(t => t >= 0)) {
    labels.put(`${t.toFixed(digits)} s`, [[x(t), height - 8, 'center']], colour('--dim'));
  }
  if (dragged) {
    const [a, b] = dragged.map(t => clamp(x(t), LEFT, right));
    context.globalAlpha = 0.15;
    context.fillStyle = colour('--c0');
    context.fillRect(a, TOP, b - a, bottom - TOP);
    context.globalAlpha = 1;
  }
  const upright = (at, tint, wide) => stroke(context, [at, TOP], [at, bottom], tint, wide);
  if (cursor !== null && cursor >= from && cursor <= to) upright(x(cursor), colour('--c1'), 2);
  if (pointed !== null) upright(LEFT + pointed * (right - LEFT), colour('--ink'), 1);
  const index = pointed === null ? shownIndex() : clamp(indexAt(from + pointed * (to - from)), 0, count - 1);
  readOut(plot, index);
}

function readOut(plot, index) {
  // Of many lines, the names stand beside them and the values only where somebody points.
  const isAsked = pointed !== null || plot.series.length <= 3;
  const words = count && index >= 0 && isAsked ? readingOf(plot, index) : '';
  if (plot.value.textContent !== words) plot.value.textContent = words;
}

function readingOf(plot, index) {
  const time = pointed !== null || cursor !== null ? times[index % KEPT] : null;
  const values = plot.at(index);
  if (plot.lane) {
    const [mode, grade] = values;
    return reading(time, `${MODES[mode] || '–'} · link ${LINK[grade] || '–'}`, [], '', 0);
  }
  const name = line => (plot.series.length > 1 ? line.name : '');
  return reading(time, '', plot.series.map((line, i) => [name(line), values[i]]), plot.unit, plot.digits);
}

function drawLane(context, labels, area) {
  drawRow(context, labels, area, 0, 'mode', MODES);
  drawRow(context, labels, area, 1, 'link', LINK);
  const { from, to, x, right } = area;
  for (const mark of marks.filter(mark => mark.time >= from && mark.time <= to)) {
    const at = x(mark.time);
    const first = side(at, [LEFT, right]);
    stroke(context, [at, 0], [at, 44], colour('--bad'), 1.5);
    const places = [49, 62].flatMap(y => [first, -first].map(to => [at + 4 * to, y, to < 0 ? 'right' : 'left']));
    labels.shortened(mark.name, places, colour('--bad'));
  }
}

// One row of the lane: a bar for each stretch in which the value is the same, with its name where it fits.
function drawRow(context, labels, { first, last, x, right }, row, name, said) {
  const top = 2 + row * 19;
  const { values } = lane.series[row];
  labels.put(name, [[LEFT - 6, top + 8, 'right']], colour('--dim'));
  let begin = first;
  let drawn = -Infinity;
  for (let i = first; i < last; i++) {
    const isEnd = i + 1 === last || values[(i + 1) % KEPT] !== values[i % KEPT];
    if (!isEnd) continue;
    const value = values[i % KEPT];
    const a = Math.max(LEFT, x(times[begin % KEPT]));
    const b = Math.min(right, x(times[Math.min(i + 1, last - 1) % KEPT]));
    begin = i + 1;
    // Of the stretches within a pixel, one is drawn.
    if (!(value >= 0) || b < drawn + 1) continue;
    drawn = b;
    context.fillStyle = colour(TINTS[row][value]);
    context.fillRect(a, top, Math.max(1, b - a), 16);
    const fits = b - a > 16 && context.measureText(said[value]).width + 8 < b - a;
    if (fits) labels.put(said[value], [[(a + b) / 2, top + 8.5, 'center']], colour('--strip'));
  }
}

function drawLines(plot, context, labels, area) {
  const { first, last, x, right, bottom } = area;
  const columns = columnsOf(area);
  for (const line of plot.series) decimate(line, columns);
  const [low, high] = range(plot, columns.size);
  const y = v => bottom - ((v - low) / (high - low)) * (bottom - TOP);
  const across = (v, tint, width, dash) => stroke(context, [LEFT, y(v)], [right, y(v)], tint, width, dash);
  const [levels, digits] = ticks([low, high], Math.max(2, plot.height / 34));
  for (const v of levels) {
    labels.put(v.toFixed(digits), [[LEFT - 6, clamp(y(v), TOP + 1, bottom - 3), 'right']], colour('--dim'));
    across(v, colour(Math.abs(v) < 1e-9 ? '--line' : '--grid'), 1);
  }
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, right - LEFT, plot.height);
  context.clip();
  context.globalAlpha = 0.5;
  for (const at of marks.map(mark => x(mark.time)).filter(at => at >= LEFT && at <= right)) {
    stroke(context, [at, TOP], [at, bottom], colour('--bad'), 1);
  }
  context.globalAlpha = 1;
  for (const line of plot.series) drawLine(line, context, columns, x, y);
  context.restore();
  for (const [v, name] of plot.limits.filter(([v]) => v >= low && v <= high)) {
    across(v, colour('--limit'), 1.5, [7, 4]);
    const places = [-8, 9].map(by => [LEFT + 6, y(v) + by, 'left']);
    if (name) labels.put(name, places, colour('--limit'), colour('--sheet'));
  }
  if (plot.series.length > 1 && last > first) drawNames(plot, context, labels, area, y);
}

// Draws a line through its values, or through the lowest and the highest value of each column.
function drawLine(line, context, { begin, stride, size }, x, y) {
  context.beginPath();
  context.strokeStyle = colour(line.tint);
  context.lineWidth = 1.8;
  context.setLineDash(line.dash);
  // The value at which the line is; NaN where it begins anew.
  let at = NaN;
  let before = NaN;
  for (let column = 0; column < size; column++) {
    const time = times[(begin + column * stride) % KEPT];
    const ends = [line.low[column], line.high[column]];
    if (time - before > 0.5 + stride * 0.12) at = NaN;
    before = time;
    if (Number.isNaN(ends[0])) {
      at = NaN;
      continue;
    }
    if (Math.abs(ends[1] - at) < Math.abs(ends[0] - at)) ends.reverse();
    if (Number.isNaN(at)) context.moveTo(x(time), y(ends[0]));
    else context.lineTo(x(time), y(ends[0]));
    if (ends[1] !== ends[0]) context.lineTo(x(time), y(ends[1]));
    at = ends[1];
  }
  context.stroke();
  context.setLineDash([]);
}

// Each line's name at its end, pushed apart where they would overlap.
function drawNames(plot, context, labels, { last, right, bottom }, y) {
  const apart = labels.size + 1.5;
  const values = plot.at(last - 1);
  const ends = plot.series
    .map((line, i) => ({ line, at: y(values[i]), y: y(values[i]) }))
    .filter(end => Number.isFinite(end.y))
    .sort((a, b) => a.at - b.at);
  ends.forEach((end, i) => {
    end.at = Math.max(end.at, i ? ends[i - 1].at + apart : TOP + 1);
  });
  let limit = bottom - 1;
  for (const end of [...ends].reverse()) {
    end.at = Math.min(end.at, limit);
    limit = end.at - apart;
  }
  for (const { line, at, y } of ends) {
    const tint = colour(line.tint);
    const isPut = labels.shortened(line.name, [[right + 9, at, 'left']], tint);
    if (isPut) stroke(context, [right, y], [right + 6, at], tint, 1);
  }
}
