// States and events from this program's own server, shown as figures and plots. Everything kept is bounded: rings of values (kept.js) and the
// newest events.
const $ = id => document.getElementById(id);
const MOST_EVENTS = 200, USUAL = 10, SHORTEST = 0.5;
const MODES = ['Offline', 'Monitor', 'Arming', 'Command', 'Stopping'];
const LINK = ['Unacceptable', 'Bad', 'Ok', 'Perfect'];
const MODE_WORDS = {
  Offline: 'not connected to the robot', Monitor: 'reads only; the arm is not commanded', Arming: 'holding the arm still until the robot is seen to take commands',
  Command: 'the arm is commanded', Stopping: 'bringing the arm to standstill',
};
const GRADES = { Perfect: 'good', Ok: 'good', Bad: 'warn', Unacceptable: 'bad' };
const degrees = radians => radians * 180 / Math.PI;
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const text = (id, value) => { const at = $(id); if (at.textContent !== value) at.textContent = value; };
const style = (id, name) => { const at = $(id); if (at.className !== name) at.className = name; };

// What a judge, or a curious person at the console, can ask.
window.outrigger = { frames: 0, past: 0, robot: null, status: null, live: null, page: null, about: null, ended: false, drawn: 0, events: 0 };

let joints = [], seconds = USUAL, held = null, closed = false, session = null;
let status = null, live = null, page = null, robot = null, lastSeen = 0, marks = [];

/* One plot: lines of values over time, with limits. */
class Plot {
  constructor(title, unit, digits, height, options = {}) {
    Object.assign(this, { title, unit, digits, height, series: [], limits: [], at: null, dirty: true, ...options });
    this.root = document.createElement('div');
    this.root.className = 'plot';
    this.root.innerHTML = '<header><h2></h2><p class="value"></p></header><canvas></canvas>';
    this.root.querySelector('h2').textContent = unit ? `${title} [${unit}]` : title;
    this.value = this.root.querySelector('.value');
    this.canvas = this.root.querySelector('canvas');
    this.canvas.style.height = `${height}px`;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${title} over time`);
    this.context = this.canvas.getContext('2d');
    listen(this.canvas, this);
    $('plots').append(this.root);
  }
  add(name, tint, dash = []) { this.series.push({ name, tint, dash, values: ring() }); return this; }
  put(values) { put(this.series.map(line => line.values), values); }
  get used() { return this.series.some(line => line.used); }
  edges() { const box = this.canvas.getBoundingClientRect(); return [box.left + LEFT, box.right - RIGHT]; }
  get shown() { return shown(); }
  get whole() { return whole(); }
  get least() { return SHORTEST; }
  point(time) { const [from, to] = shown(); pointed = time === null ? null : (time - from) / (to - from); redraw(); }
  drag(span) { dragged = span; redraw(); }
  show(span, still) { show(span, still); }
  pick(time) { moveTo(time); }
  all() { seconds = USUAL; hold(null); }
}
const LEFT = 50, RIGHT = 66, TOP = 6, BOTTOM = 18;
const FONT = '11.5px system-ui, sans-serif';
let plots = [], pointed = null, dragged = null, lane = null, sensor = null, angles = null, speeds = null, forces = null, errors = null;

const shown = () => { const to = held === null ? latest() : held; return [to - seconds, to]; };
const whole = () => [latest() - SPAN, latest()];
// A plot that goes on goes on, of another length; `still` holds it where it was put.
function show(span, still = false) { seconds = span[1] - span[0]; hold(still || held !== null ? span[1] : null); }
function redraw() { plots.forEach(plot => { plot.dirty = true; }); Arm.redraw(); }

const scaled = value => (value.unit === 'm' || value.unit === 'rad' ? 1e3 : 1);
const symbol = value => (scaled(value) === 1 ? value.unit : `m${value.unit}`);
// The units of what a law shows, each with a plot of its own.
const UNITS = ['m', 'rad', 'N', 'Nm', ''];
// The largest of the numbers of this unit that the law shows.
function largest(values, unit) {
  const known = (values || []).filter(value => value.value !== null && value.unit === unit);
  return known.reduce((most, value) => (Number.isNaN(most) || Math.abs(value.value * scaled(value)) > Math.abs(most) ? value.value * scaled(value) : most), NaN);
}

function build(about) {
  joints = about.joints;
  $('plots').textContent = '';
  plots = [];
  lane = new Plot('Mode, link quality and faults', '', 0, 92, { lane: true }).add('mode', '').add('grade', '');
  const each = (plot, of) => { joints.forEach((name, i) => plot.add(name, `--c${i}`, i % 2 ? [5, 3] : [])); plot.of = of; return plot; };
  const reads = i => (status, live) => [live.sources[i] && live.sources[i].value && live.sources[i].value.length === 1 ? live.sources[i].value[0] : NaN];
  const limits = (s, l) => l.commands ? l.speed_limit.slice(0, 1).flatMap(v => [[degrees(v), `limit ${degrees(v).toFixed(0)} °/s`], [-degrees(v), '']]) : [];
  plots = [
    Object.assign(lane, { of: s => [MODES.indexOf(s.mode), LINK.indexOf(s.grade)] }),
    Object.assign(new Plot('Age of the newest state', 'ms', 1, 100, { floor: 0 }).add('age', '--c0'), { of: (s, l) => [s.age_ms], limit: (s, l) => [[l.age_limit_ms, `limit ${l.age_limit_ms} ms`]] }),
    ...UNITS.map(unit => Object.assign(new Plot('Control error', symbol({ unit }), 2, 110, { room: 1 }).add('error', '--c1'), { of: (s, l) => [largest(l.values, unit)], zero: true })),
    errors = each(new Plot('Tracking error', '°', 2, 110, { room: 0.05 }), (s, l) => l.tracking_error && l.tracking_error.map(degrees)),
    sensor = new Plot('Sensor', 'mm', 1, 100).add('sensor', '--c4'),
    angles = each(new Plot('Joint angles', '°', 1, 160), s => s.q_actual && s.q_actual.map(degrees)),
    speeds = Object.assign(each(new Plot('Joint speeds', '°/s', 1, 150, { room: 2 }), s => s.qd_actual && s.qd_actual.map(degrees)), { limit: limits }),
    forces = Object.assign(new Plot('Force at the tool', 'N', 1, 100, { room: 2 }).add('x', '--c0').add('y', '--c1', [5, 3]).add('z', '--c2'), { of: (s, l) => l.tcp_force }),
  ];
  sensor.of = (s, l) => reads(0)(s, l).map(v => v * sensor.times);
  sensor.times = 1000;
  plots.slice(1).forEach(plot => { plot.root.hidden = true; });
  kept = { ...kept, target: rings(joints.length) };
  const body = document.querySelector('#joint-table tbody');
  body.textContent = '';
  joints.forEach((name, i) => {
    const row = body.insertRow();
    row.className = `j${i}`;
    [name, '–', '–', '–'].forEach(value => { row.insertCell().textContent = value; });
  });
}

// A state of the robot: the newest one, or one from before the page was opened.
function state(newStatus, newLive, past) {
  // After a new connection to the same session some are known already.
  if (count && newStatus.time <= latest()) return;
  [status, live] = [newStatus, newLive];
  times[count % KEPT] = status.time;
  const source = live.sources[0];
  if (source && sensor) {
    // Distances of up to some metres are shown in millimetres; of other sensors nobody knows the unit.
    sensor.times = source.max <= 5 ? 1000 : 1;
    const title = source.max <= 5 ? `Sensor “${source.name}” [mm]` : `Sensor “${source.name}”, raw unit`;
    const at = sensor.root.querySelector('h2');
    if (at.textContent !== title) at.textContent = title;
  }
  plots.forEach(plot => {
    const values = plot.of(status, live);
    plot.put(values);
    if (values) plot.series.forEach((line, i) => { if (Number.isFinite(values[i])) line.used = true; });
    if (plot.used && plot.root.hidden) plot.root.hidden = false;
    plot.limits = plot.limit ? plot.limit(status, live) : [];
    plot.dirty = true;
  });
  const here = Arm.at(status.q_actual);
  put(kept.target, live.qd_command || status.qd_target);
  put(kept.pose, status.tcp_pose);
  put(kept.tool, here && here.tool);
  put(kept.sensorAge, source && [source.age_ms]);
  count += 1;
  remember(status.time, wordsOf(status, live), live.workpiece);
  window.outrigger[past ? 'past' : 'frames'] += 1;
  Object.assign(window.outrigger, { status, live });
  if (cursor === null) showArm();
  lastSeen = performance.now();
}

// Hands the arm of the shown moment to its picture.
function showArm() {
  if (!count) return;
  const index = shownIndex(), time = times[index % KEPT], source = live.sources[0], radians = v => v * Math.PI / 180;
  const q = cursor === null ? status.q_actual : known(got(angles.series.map(line => line.values), index).map(radians));
  const error = cursor === null ? live.tracking_error : known(got(errors.series.map(line => line.values), index).map(radians));
  const single = source && (cursor === null ? source.value && source.value.length === 1 && source.max <= 5 && source.value[0] : source.max <= 5 && got([sensor.series[0].values], index)[0] / 1e3);
  const piece = cursor === null ? live.workpiece : pieces.length ? upTo(pieces, time).piece : null;
  Arm.show({
    q, wanted: q && error ? q.map((v, i) => v + error[i]) : null, workpiece: piece,
    sensor: source && Number.isFinite(single) ? { name: source.name, value: single, age_ms: cursor === null ? source.age_ms : kept.sensorAge[0][index % KEPT], max_age_ms: source.max_age_ms } : null,
  }, () => trailTo(Math.min(index, count - 1)));
}

function range(plot, first, last) {
  let low = Infinity, high = -Infinity;
  for (const { values } of plot.series) for (let i = first; i < last; i++) {
    const v = values[i % KEPT];
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (low === Infinity) [low, high] = [0, 1];
  if (plot.floor !== undefined) low = Math.min(low, plot.floor);
  if (plot.zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  // A limit is drawn where it is not so far that nothing else would be seen.
  for (const [limit] of plot.limits) if (Math.abs(limit) <= 6 * Math.max(Math.abs(low), Math.abs(high), 1e-9) || plot.floor !== undefined) [low, high] = [Math.min(low, limit), Math.max(high, limit)];
  const room = Math.max(high - low, plot.room || 0.2, 1e-6), middle = (low + high) / 2;
  return plot.floor !== undefined ? [low, Math.max(high * 1.12, low + 1)] : [middle - room * 0.56, middle + room * 0.56];
}

function drawPlot(plot, from, to) {
  const { canvas, context } = plot, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = plot.height;
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const labels = new Labels(context, width, height, FONT);
  const right = width - RIGHT, bottom = height - BOTTOM, x = t => LEFT + (t - from) / (to - from) * (right - LEFT);
  const first = Math.max(indexAt(from) - 1, 0, count - KEPT + 1), last = Math.min(count, indexAt(to) + 1);
  if (plot.lane) drawLane(context, labels, x, first, last, from, to, right);
  else drawLines(plot, context, labels, x, first, last, right, bottom);
  const [steps, digits] = ticks([from, to], Math.max(2, Math.min(8, width / 110)));
  steps.filter(t => t >= 0).forEach(t => labels.put(`${t.toFixed(digits)} s`, [[x(t), height - 8, 'center']], colour('--dim')));
  if (dragged) {
    const [a, b] = dragged.map(t => clamp(x(t), LEFT, right));
    context.globalAlpha = 0.15; context.fillStyle = colour('--c0'); context.fillRect(a, TOP, b - a, bottom - TOP); context.globalAlpha = 1;
  }
  const mark = (at, stroke, wide) => { context.beginPath(); context.moveTo(at, TOP); context.lineTo(at, bottom); context.lineWidth = wide; context.strokeStyle = stroke; context.setLineDash([]); context.stroke(); };
  if (cursor !== null && cursor >= from && cursor <= to) mark(x(cursor), colour('--c1'), 2);
  if (pointed !== null) mark(LEFT + pointed * (right - LEFT), colour('--ink'), 1);
  const index = pointed !== null ? clamp(indexAt(from + pointed * (to - from)), 0, count - 1) : shownIndex();
  readOut(plot, index);
}

function readOut(plot, index) {
  let words = '';
  // Of many lines, the names stand beside them and the values only where somebody points.
  const asked = pointed !== null || cursor !== null;
  if (count && index >= 0 && (pointed !== null || plot.series.length <= 3)) {
    const at = index % KEPT, time = asked ? times[at] : null;
    const [mode, grade] = plot.lane ? plot.series.map(line => line.values[at]) : [];
    if (plot.lane) words = reading(time, `${MODES[mode] || '–'} · link ${LINK[grade] || '–'}`, [], '', 0);
    else words = reading(time, '', plot.series.map(line => [plot.series.length > 1 ? line.name : '', line.values[at]]), plot.unit, plot.digits);
  }
  if (plot.value.textContent !== words) plot.value.textContent = words;
}

const TINTS = [['--offline', '--monitor', '--arming', '--command', '--stopping'], ['--stopping', '--arming', '--monitor', '--command']];

function drawLane(context, labels, x, first, last, from, to, right) {
  [['mode', MODES], ['link', LINK]].forEach(([name, said], row) => {
    const top = 2 + row * 19, values = lane.series[row].values;
    labels.put(name, [[LEFT - 6, top + 8, 'right']], colour('--dim'));
    let begin = first;
    for (let i = first; i < last; i++) {
      const end = i + 1 === last || values[(i + 1) % KEPT] !== values[i % KEPT];
      if (!end) continue;
      const value = values[i % KEPT], [a, b] = [Math.max(LEFT, x(times[begin % KEPT])), Math.min(right, x(times[Math.min(i + 1, last - 1) % KEPT]))];
      begin = i + 1;
      if (!(value >= 0)) continue;
      context.fillStyle = colour(TINTS[row][value]);
      context.fillRect(a, top, Math.max(1, b - a), 16);
      const word = said[value];
      if (context.measureText(word).width + 8 < b - a) labels.put(word, [[(a + b) / 2, top + 8.5, 'center']], colour('--strip'));
    }
  });
  context.strokeStyle = colour('--bad'); context.lineWidth = 1.5;
  marks.filter(mark => mark.time >= from && mark.time <= to).forEach(mark => {
    const at = x(mark.time), first = side(at, [LEFT, right]);
    context.beginPath(); context.moveTo(at, 0); context.lineTo(at, 44); context.stroke();
    const places = [49, 62].flatMap(y => [first, -first].map(to => [at + 4 * to, y, to < 0 ? 'right' : 'left']));
    labels.shortened(mark.name, places, colour('--bad'));
  });
}

function drawLines(plot, context, labels, x, first, last, right, bottom) {
  const [low, high] = range(plot, first, last), y = v => bottom - (v - low) / (high - low) * (bottom - TOP);
  const [levels, digits] = ticks([low, high], Math.max(2, plot.height / 34));
  context.lineWidth = 1;
  levels.forEach(v => {
    labels.put(v.toFixed(digits), [[LEFT - 6, clamp(y(v), TOP + 1, bottom - 3), 'right']], colour('--dim'));
    context.beginPath(); context.moveTo(LEFT, y(v)); context.lineTo(right, y(v)); context.strokeStyle = colour(Math.abs(v) < 1e-9 ? '--line' : '--grid'); context.stroke();
  });
  context.save();
  context.beginPath(); context.rect(LEFT, 0, right - LEFT, plot.height); context.clip();
  marks.forEach(mark => { const at = x(mark.time); if (at >= LEFT && at <= right) { context.beginPath(); context.moveTo(at, TOP); context.lineTo(at, bottom); context.strokeStyle = colour('--bad'); context.globalAlpha = 0.5; context.stroke(); context.globalAlpha = 1; } });
  // Of more points than the screen has columns, the one farthest from the middle of each column.
  const stride = Math.max(1, Math.floor((last - first) / Math.max(1, right - LEFT))), begin = first + (stride - first % stride) % stride;
  for (const line of plot.series) {
    context.beginPath(); context.strokeStyle = colour(line.tint); context.lineWidth = 1.8; context.setLineDash(line.dash);
    let pen = false;
    for (let i = begin; i < last; i += stride) {
      let v = line.values[i % KEPT];
      for (let k = i + 1; k < Math.min(i + stride, last); k++) { const w = line.values[k % KEPT]; if (Math.abs(w - (low + high) / 2) > Math.abs(v - (low + high) / 2) || Number.isNaN(v)) v = w; }
      const gap = i > begin && times[i % KEPT] - times[(i - stride) % KEPT] > 0.5 + stride * 0.12;
      if (Number.isNaN(v) || gap) pen = false;
      if (Number.isNaN(v)) continue;
      if (pen) context.lineTo(x(times[i % KEPT]), y(v)); else context.moveTo(x(times[i % KEPT]), y(v));
      pen = true;
    }
    context.stroke(); context.setLineDash([]);
  }
  context.restore();
  plot.limits.filter(([v]) => v >= low && v <= high).forEach(([v, name]) => {
    context.beginPath(); context.moveTo(LEFT, y(v)); context.lineTo(right, y(v)); context.strokeStyle = colour('--limit'); context.lineWidth = 1.5; context.setLineDash([7, 4]); context.stroke(); context.setLineDash([]);
    if (name) labels.put(name, [-8, 9].map(by => [LEFT + 6, y(v) + by, 'left']), colour('--limit'), colour('--sheet'));
  });
  if (plot.series.length > 1 && last > first) ends(plot, context, labels, y, last, right, bottom);
}

// Each line's name at its end, pushed apart where they would overlap.
function ends(plot, context, labels, y, last, right, bottom) {
  const apart = labels.size + 1.5, [top, most] = [TOP + 1, bottom - 1];
  const all = plot.series.map(line => ({ line, v: line.values[(last - 1) % KEPT] })).filter(end => Number.isFinite(end.v)).map(end => ({ ...end, at: y(end.v) })).sort((a, b) => a.at - b.at);
  all.forEach((end, i) => { end.at = Math.max(end.at, i ? all[i - 1].at + apart : top); });
  for (let i = all.length - 1, limit = most; i >= 0; i--, limit = all[i + 1].at - apart) all[i].at = Math.min(all[i].at, limit);
  all.forEach(({ line, at, v }) => {
    const tint = colour(line.tint);
    if (!labels.shortened(line.name, [[right + 9, at, 'left']], tint)) return;
    context.strokeStyle = tint; context.lineWidth = 1; context.beginPath(); context.moveTo(right, y(v)); context.lineTo(right + 6, at); context.stroke();
  });
}

// What the figures say of a state, as far as it does not change with every state.
function wordsOf(status, live) {
  const low = LINK.indexOf(status.grade) < LINK.indexOf(status.grade_needed), tint = GRADES[status.grade] || 'none', robot = [];
  if (status.safety) robot.push(`safety ${status.safety}`);
  if (status.krc_quality) robot.push(`KRC quality ${status.krc_quality}`);
  if (live.speed_slider !== undefined) robot.push(`speed slider ${(live.speed_slider * 100).toFixed(0)} %`);
  else if (live.speed_scaling !== undefined) robot.push(`speed ${(live.speed_scaling * 100).toFixed(0)} % by slider and limiter`);
  if (live.program_state) robot.push(`program ${live.program_state.toLowerCase()}`);
  return {
    mode: status.mode, modeStyle: `big ${{ Command: 'good', Arming: 'warn', Stopping: 'warn', Offline: 'bad' }[status.mode] || ''}`, modeWords: live.held_by || MODE_WORDS[status.mode] || '',
    grade: status.grade === '-' ? 'none' : status.grade, gradeStyle: `big ${low && tint === 'good' ? 'warn' : tint}`, gradeWords: status.grade === '-' ? (status.trouble || 'no states') : status.grade_text,
    robotMode: status.robot_mode || status.krc_state || (status.identity ? 'connected' : 'not connected'), robotWords: robot.join(' · '),
    ...attention(status, live),
  };
}

function attention(status, live) {
  const fault = live.latched, unmet = live.not_met;
  if (fault) return { attention: `Fault: ${fault.text}`, remedy: `${fault.remedy}; then reset, and start again`.replace(/[;,] (then )?(acknowledge|reset)(,? (and|then) (request|start))?; then reset/, '; then reset'), attentionStyle: 'big bad' };
  if (status.trouble) return { attention: 'Not connected to the robot', remedy: status.trouble, attentionStyle: 'big bad' };
  if (status.overrides_pendant) return { attention: 'A stop at the pendant would be overridden', remedy: 'stop here, by a stop input, or by the emergency stop', attentionStyle: 'big warn' };
  if (unmet.length) return { attention: `Not ready: ${unmet[0].text}`, remedy: unmet[0].remedy + (unmet.length > 1 ? ` (and ${unmet.length - 1} more)` : ''), attentionStyle: 'big warn' };
  return { attention: status.mode === 'Monitor' ? 'Ready to command' : 'No fault', remedy: '', attentionStyle: 'big good' };
}

function figures() {
  if (!count) return;
  const index = shownIndex(), past = cursor !== null, said = past ? upTo(words, times[index % KEPT]).said : wordsOf(status, live);
  const shape = robot && robot.shape, models = shape ? shape.models.join(' or ') : '', serial = robot && robot.serial ? `serial number ${robot.serial}` : '';
  text('robot', [models, serial, status.robot, status.identity].filter(Boolean).join(' · '));
  text('mode', said.mode); style('mode', said.modeStyle); text('mode-words', said.modeWords);
  text('grade', said.grade); style('grade', said.gradeStyle);
  const lost = status.lost ? `, ${status.lost} lost` : '', rate = past || status.grade === '-' ? '' : `; ${status.rate_hz.toFixed(0)} states/s${lost}`;
  text('link-words', `${said.gradeWords}${rate}`);
  const age = past ? plots[1].series[0].values[index % KEPT] : status.age_ms, limit = live.age_limit_ms, bar = document.querySelector('#age-bar i');
  bar.style.width = `${Math.min(100, Math.max(0, (age || 0) / limit * 66.6)).toFixed(1)}%`;
  bar.className = age > limit ? 'over' : '';
  text('age-words', Number.isFinite(age) ? `newest state ${age.toFixed(1)} ms old, limit ${limit} ms` : status.grade === '-' ? 'not connected' : 'no state yet');
  text('robot-mode', said.robotMode); text('robot-words', said.robotWords);
  text('attention', said.attention); text('remedy', said.remedy); style('attention', said.attentionStyle);
  table(index, past);
}

function table(index, past) {
  const rows = document.querySelectorAll('#joint-table tbody tr'), of = plot => got(plot.series.map(line => line.values), index);
  const written = v => Number.isFinite(v) ? number(v, 2) : '–', value = (values, i) => written(values && degrees(values[i]));
  const columns = past ? [of(angles), of(speeds), got(kept.target, index).map(degrees)] : null;
  rows.forEach((row, i) => (past ? columns.map(column => written(column[i])) : [value(status.q_actual, i), value(status.qd_actual, i), value(live.qd_command || status.qd_target, i)]).forEach((words, k) => { const cell = row.cells[k + 1]; if (cell.textContent !== words) cell.textContent = words; }));
  $('joint-table').dataset.stamp = past || status.controller_time === undefined ? '' : String(status.controller_time);
  text('tool-words', (past ? toolOf(index) : tool()).join('\n') || '–');
}

const poseWords = pose => [`position  ${pose.slice(0, 3).map(v => (v * 1e3).toFixed(1)).join('  ')} mm`, `rotation vector  ${pose.slice(3).map(v => v.toFixed(3)).join('  ')} rad`];
const forceWords = force => `force  ${force.map(v => v.toFixed(1)).join('  ')} N`;

// What is kept of the tool and the sensor at one state.
function toolOf(index) {
  const pose = known(got(kept.pose, index)), force = known(got(forces.series.map(line => line.values), index)), words = pose ? poseWords(pose) : [];
  if (force) words.push(forceWords(force));
  plots.filter(plot => plot.series.length === 1 && plot.series[0].used && plot !== plots[1]).forEach(plot => {
    const v = plot.series[0].values[index % KEPT];
    if (Number.isFinite(v)) words.push(plot === sensor ? `${plot.root.querySelector('h2').textContent}  ${v.toFixed(plot.digits)}` : `${plot.title.toLowerCase()}  ${v.toFixed(plot.digits)} ${plot.unit}`);
  });
  return words;
}

function tool() {
  const tool = status.tcp_pose ? poseWords(status.tcp_pose) : [];
  if (live.tcp_force) tool.push(forceWords(live.tcp_force));
  for (const name of new Set((live.values || []).map(value => value.name))) {
    const parts = live.values.filter(value => value.name === name && value.value !== null);
    if (parts.length) tool.push(`${name.replaceAll('_', ' ')}  ${parts.map(value => `${value.part ? `${value.part} ` : ''}${(value.value * scaled(value)).toFixed(2)} ${symbol(value)}`).join('  ')}`);
  }
  live.sources.forEach(source => tool.push(`sensor “${source.name}”  ${source.value ? (source.max <= 5 && source.value.length === 1 ? `${(source.value[0] * 1e3).toFixed(1)} mm` : source.value.map(v => v.toFixed(4)).join('  ')) : 'no reading yet'}${source.value ? `, ${source.age_ms.toFixed(0)} ms old (limit ${source.max_age_ms} ms)` : ''}`));
  return tool;
}

function event(message) {
  window.outrigger.events += 1;
  const fault = message.remedy || ['refused', 'local-stall', 'grade-low'].includes(message.kind);
  const last = marks[marks.length - 1];
  // A fault ends commanding, and once more the stopping: it is one mark.
  if (message.remedy && message.time !== undefined && !(last && last.name === message.reason && message.time - last.time < 5)) { marks.push({ time: message.time, name: message.reason }); if (marks.length > 64) marks.shift(); }
  // A busy machine changes grades many times a second: one line says how often, and the newest.
  const newest = $('event-list').firstChild;
  if (message.kind === 'grade' && newest && newest.dataset.kind === 'grade' && message.time - newest.dataset.since < 10) {
    newest.dataset.times = Number(newest.dataset.times) + 1;
    newest.dataset.at = message.time;
    newest.firstChild.textContent = `${message.time.toFixed(2)} s`;
    newest.lastChild.textContent = `${message.text} (change ${newest.dataset.times} within ${Math.max(1, Math.ceil(message.time - newest.dataset.since))} s)`;
    return;
  }
  const item = document.createElement('li'), when = document.createElement('button'), words = document.createElement('span');
  item.className = fault ? 'fault' : ['transition', 'demo', 'grade'].includes(message.kind) ? 'change' : 'other';
  when.textContent = message.time === undefined ? '' : `${message.time.toFixed(2)} s`;
  when.title = 'Show this moment';
  words.textContent = message.text;
  if (message.remedy) { const remedy = document.createElement('div'); remedy.className = 'remedy'; remedy.textContent = message.remedy; words.append(remedy); }
  Object.assign(item.dataset, { kind: message.kind, since: message.time || 0, at: message.time || 0, times: 1 });
  item.append(when, words);
  $('event-list').prepend(item);
  while ($('event-list').children.length > MOST_EVENTS) $('event-list').lastChild.remove();
}

function connection() {
  const silent = performance.now() - lastSeen;
  let words = ['live', 'lives'];
  if (window.outrigger.ended) words = ['the command has ended', 'ended'];
  else if (closed) words = ['no reply from the program; reconnecting', 'waits'];
  else if (!status) words = ['waiting for the first state', 'waits'];
  else if (silent > 1500) words = [`no state for ${(silent / 1000).toFixed(0)} s`, 'waits'];
  else if (cursor !== null) words = [`showing ${(latest() - cursor).toFixed(1)} s ago`, 'waits'];
  else if (held !== null) words = ['live, plots paused', 'lives'];
  text('connection', words[0]); style('connection', words[1]);
  if (page) {
    const times = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
    text('counts', `${times(page.watching, 'page')} open · ${times(page.dropped, 'state')} dropped on this one, ${page.dropped_of_all} on all · ${times(page.refused, 'request')} refused · ${window.outrigger.frames} states shown, ${window.outrigger.past} from before`);
  }
}

function message(data) {
  const lines = data.split('\n').map(line => JSON.parse(line));
  const found = type => lines.find(line => line.type === type);
  const about = found('about'), counts = found('page');
  if (counts) { page = counts; window.outrigger.page = counts; }
  if (about) {
    // A new connection: what was known of another session is forgotten.
    window.outrigger.about = about; window.outrigger.ended = false;
    document.title = `Outrigger ${about.command}`;
    $('event-list').textContent = ''; marks = [];
    if (session !== about.session) { forget(); hold(null); build(about); Arm.forget(); session = about.session; robot = null; }
  }
  const of = found('robot');
  if (of) {
    window.outrigger.robot = robot = of;
    Arm.model(of.shape || null);
    if (of.shape && of.shape.models.length && window.outrigger.about) document.title = `${of.shape.models.join(' or ')} · Outrigger ${window.outrigger.about.command}`;
    showArm();
  }
  lines.filter(line => line.type === 'event').forEach(event);
  if (found('status') && found('live')) state(found('status'), found('live'), Boolean(found('past')));
  if (found('end')) { window.outrigger.ended = true; source.close(); }
}

const source = new EventSource('/stream');
source.onmessage = event => message(event.data);
source.onopen = () => { closed = false; };
source.onerror = () => { closed = true; };

let plotted = 0, written = 0;
function frame(now) {
  Arm.draw(now);
  if (now - plotted > 40) {
    plotted = now;
    plots.filter(plot => plot.dirty && !plot.root.hidden).forEach(plot => { drawPlot(plot, ...shown()); plot.dirty = false; });
  }
  if (now - written > 100) { written = now; figures(); connection(); tellMoment(); }
  window.outrigger.drawn += 1;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

/* Buttons and keys. */
// Holds the plots where they are; null lets them go on, and shows the newest state.
function hold(at) { held = count ? at : null; if (held === null) cursor = null; paused(); }
function paused() {
  const still = held !== null;
  $('pause').setAttribute('aria-pressed', String(still));
  text('pause', still ? 'Resume' : 'Pause');
  showArm(); redraw(); written = 0;
}
const pause = () => hold(held === null ? latest() : null);
function zoom(factor) { const [from, to] = shown(); show(zoomed([from, to], from + (pointed ?? 0.5) * (to - from), factor, whole(), SHORTEST)); }
function scheme(to) {
  const dark = to === undefined ? document.documentElement.dataset.scheme !== 'dark' : to;
  document.documentElement.dataset.scheme = dark ? 'dark' : 'light';
  $('scheme').textContent = dark ? 'Light' : 'Dark';
  redraw();
}
function help() { const words = $('words'); words.hidden = !words.hidden; $('help').setAttribute('aria-expanded', String(!words.hidden)); if (!words.hidden) words.scrollIntoView({ block: 'nearest' }); }
$('pause').onclick = pause; $('shorter').onclick = () => zoom(0.5); $('longer').onclick = () => zoom(2); $('scheme').onclick = () => scheme(); $('help').onclick = help;
const dark = matchMedia('(prefers-color-scheme: dark)');
scheme(dark.matches);
dark.addEventListener('change', () => scheme(dark.matches));
addEventListener('resize', redraw);
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = event.target.tagName === 'BUTTON';
  const acts = {
    '+': () => zoom(0.5), '-': () => zoom(2), d: () => scheme(), '?': help, 0: Arm.reset,
    ArrowLeft: () => Arm.turn(-0.1, 0), ArrowRight: () => Arm.turn(0.1, 0),
    ',': () => step(-STEP), '.': () => step(STEP), l: () => hold(null), Escape: () => hold(null),
  };
  // The slider has arrows of its own.
  if (event.target.id === 'cursor' && event.key.startsWith('Arrow')) return;
  // Up and down scroll, unless the picture is what keys are for.
  if (event.target.id === 'arm') Object.assign(acts, { ArrowUp: () => Arm.turn(0, 0.1), ArrowDown: () => Arm.turn(0, -0.1) });
  if (!onButton) acts[' '] = pause;
  const act = acts[event.key];
  if (act) { event.preventDefault(); act(); }
});
