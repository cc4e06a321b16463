// States and events from this program's own server, shown as figures and plots. Everything kept is bounded: rings of
// values (kept.js) and the newest events.
const $ = id => document.getElementById(id);
const MOST_EVENTS = 200;
const USUAL = 10;
const SHORTEST = 0.5;
const MODES = ['Offline', 'Monitor', 'Arming', 'Command', 'Stopping'];
const LINK = ['Unacceptable', 'Bad', 'Ok', 'Perfect'];
const MODE_WORDS = {
  Offline: 'not connected to the robot',
  Monitor: 'reads only; the arm is not commanded',
  Arming: 'holding the arm still until the robot is seen to take commands',
  Command: 'the arm is commanded',
  Stopping: 'bringing the arm to standstill',
};
const GRADES = { Perfect: 'good', Ok: 'good', Bad: 'warn', Unacceptable: 'bad' };
const degrees = radians => (radians * 180) / Math.PI;
const radians = degrees => (degrees * Math.PI) / 180;
const text = (id, value) => {
  const at = $(id);
  if (at.textContent !== value) at.textContent = value;
};
const style = (id, name) => {
  const at = $(id);
  if (at.className !== name) at.className = name;
};

// What a judge, or a curious person at the console, can ask.
window.outrigger = {
  frames: 0,
  past: 0,
  robot: null,
  status: null,
  live: null,
  page: null,
  about: null,
  ended: false,
  drawn: 0,
  events: 0,
};

let joints = [];
let seconds = USUAL;
let held = null;
let closed = false;
let session = null;
let status = null;
let live = null;
let page = null;
let robot = null;
let lastSeen = null;
let marks = [];

const scaled = value => (value.unit === 'm' || value.unit === 'rad' ? 1e3 : 1);
const symbol = value => (scaled(value) === 1 ? value.unit : `m${value.unit}`);
// The units of what a law shows, each with a plot of its own.
const UNITS = ['m', 'rad', 'N', 'Nm', ''];

// The largest of the numbers of this unit that the law shows.
function largest(values, unit) {
  let most = NaN;
  for (const value of (values || []).filter(value => value.value !== null && value.unit === unit)) {
    const size = value.value * scaled(value);
    if (Number.isNaN(most) || Math.abs(size) > Math.abs(most)) most = size;
  }
  return most;
}

// The plots and the table for the joints of a session.
function build(about) {
  joints = about.joints;
  kept = { ...kept, target: rings(joints.length) };
  buildPlots();
  const body = document.querySelector('#joint-table tbody');
  body.textContent = '';
  joints.forEach((name, i) => {
    const row = body.insertRow();
    row.className = `j${i}`;
    for (const value of [name, '–', '–', '–']) row.insertCell().textContent = value;
  });
}

function buildPlots() {
  $('plots').textContent = '';
  const inDegrees = values => values && values.map(degrees);
  lane = new Plot('Mode, link quality and faults', '', 0, 92, { lane: true }).add('mode', '').add('grade', '');
  lane.showing(status => [MODES.indexOf(status.mode), LINK.indexOf(status.grade)]);
  const age = new Plot('Age of the newest state', 'ms', 1, 100, { floor: 0 }).add('age', '--c0');
  age.showing(
    status => [status.age_ms],
    (status, live) => [[live.age_limit_ms, `limit ${live.age_limit_ms} ms`]],
  );
  const control = UNITS.map(unit => {
    const plot = new Plot('Control error', symbol({ unit }), 2, 110, { room: 1, zero: true }).add('error', '--c1');
    return plot.showing((status, live) => [largest(live.values, unit)]);
  });
  errors = new Plot('Tracking error', '°', 2, 110, { room: 0.05 }).addJoints();
  errors.showing((status, live) => inDegrees(live.tracking_error));
  sensor = new Plot('Sensor', 'mm', 1, 100, { times: 1000 }).add('sensor', '--c4');
  sensor.showing((status, live) => [singleReading(live.sources[0]) * sensor.times]);
  angles = new Plot('Joint angles', '°', 1, 160).addJoints();
  angles.showing(status => inDegrees(status.q_actual));
  speeds = new Plot('Joint speeds', '°/s', 1, 150, { room: 2 }).addJoints();
  speeds.showing(status => inDegrees(status.qd_actual), speedLimits);
  forces = new Plot('Force at the tool', 'N', 1, 100, { room: 2 });
  forces.add('x', '--c0').add('y', '--c1', [5, 3]).add('z', '--c2');
  forces.showing((status, live) => live.tcp_force);
  plots = [lane, age, ...control, errors, sensor, angles, speeds, forces];
  for (const plot of plots.slice(1)) plot.root.hidden = true;
}

// The newest reading of a sensor that has one value, else NaN.
const singleReading = source => (source && source.value && source.value.length === 1 ? source.value[0] : NaN);

function speedLimits(status, live) {
  if (!live.commands || !live.speed_limit.length) return [];
  const limit = degrees(live.speed_limit[0]);
  return [
    [limit, `limit ${limit.toFixed(0)} °/s`],
    [-limit, ''],
  ];
}

// A state of the robot: the newest one, or one from before the page was opened.
function state(newStatus, newLive, past) {
  // After a new connection to the same session some are known already.
  if (count && newStatus.time <= latest()) return;
  [status, live] = [newStatus, newLive];
  times[count % KEPT] = status.time;
  const source = live.sources[0];
  if (source && sensor) nameSensor(source);
  for (const plot of plots) plot.take(status, live);
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
  if (!past) lastSeen = performance.now();
}

// Forgets what is known of a session, and shows that nothing is known of the next one.
function forget() {
  forgetKept();
  status = live = lastSeen = null;
  Object.assign(window.outrigger, { status, live });
  Arm.forget();
  blank();
}

// Distances of up to some metres are shown in millimetres; of other sensors nobody knows the unit.
function nameSensor(source) {
  const isDistance = source.max <= 5;
  sensor.times = isDistance ? 1000 : 1;
  const title = isDistance ? `Sensor “${source.name}” [mm]` : `Sensor “${source.name}”, raw unit`;
  if (sensor.heading.textContent !== title) sensor.heading.textContent = title;
}

// Hands the arm of the shown moment to its picture.
function showArm() {
  if (!count) return;
  const index = shownIndex();
  const moment = cursor === null ? newestArm() : armAt(index);
  const { q, error } = moment;
  const wanted = q && error ? q.map((v, i) => v + error[i]) : null;
  Arm.show({ ...moment, wanted }, () => trailTo(Math.min(index, count - 1)));
}

function newestArm() {
  const source = live.sources[0];
  const isDistance = source && source.max <= 5;
  return {
    q: status.q_actual,
    error: live.tracking_error,
    workpiece: live.workpiece,
    sensor: isDistance ? distance(source, singleReading(source), source.age_ms) : null,
  };
}

// The arm in a kept state.
function armAt(index) {
  const source = live.sources[0];
  const isDistance = source && source.max <= 5;
  const piece = upTo(pieces, times[index % KEPT]);
  return {
    q: known(angles.at(index).map(radians)),
    error: known(errors.at(index).map(radians)),
    workpiece: piece && piece.piece,
    sensor: isDistance ? distance(source, sensor.at(index)[0] / 1e3, kept.sensorAge[0][index % KEPT]) : null,
  };
}

// A reading of a distance sensor [m], for the picture; null if it is unknown.
function distance(source, value, age) {
  return Number.isFinite(value) ? { name: source.name, value, age_ms: age, max_age_ms: source.max_age_ms } : null;
}

function event(message) {
  window.outrigger.events += 1;
  mark(message);
  const newest = $('event-list').firstChild;
  // A busy machine changes grades many times a second: one line says how often, and the newest.
  const isAgain = message.kind === 'grade' && newest && newest.dataset.kind === 'grade';
  if (isAgain && message.time - newest.dataset.since < 10) return countAgain(newest, message);
  $('event-list').prepend(entry(message));
  while ($('event-list').children.length > MOST_EVENTS) $('event-list').lastChild.remove();
}

// Marks a fault in the plots. It ends commanding, and once more the stopping: it is one mark.
function mark(message) {
  if (!message.remedy || message.time === undefined) return;
  const last = marks[marks.length - 1];
  if (last && last.name === message.reason && message.time - last.time < 5) return;
  marks.push({ time: message.time, name: message.reason });
  if (marks.length > 64) marks.shift();
}

// Writes a further change of the grade into the list's newest entry.
function countAgain(entry, message) {
  const data = entry.dataset;
  data.times = Number(data.times) + 1;
  data.at = message.time;
  const within = Math.max(1, Math.ceil(message.time - data.since));
  entry.firstChild.textContent = `${message.time.toFixed(2)} s`;
  entry.lastChild.textContent = `${message.text} (change ${data.times} within ${within} s)`;
}

// An entry of the list of events.
function entry(message) {
  const item = document.createElement('li');
  const words = document.createElement('span');
  item.className = styleOf(message);
  words.textContent = message.text;
  if (message.remedy) {
    const remedy = document.createElement('div');
    remedy.className = 'remedy';
    remedy.textContent = message.remedy;
    words.append(remedy);
  }
  item.dataset.kind = message.kind;
  if (message.time !== undefined) {
    Object.assign(item.dataset, { since: message.time, at: message.time, times: 1 });
    item.append(momentButton(message.time));
  }
  item.append(words);
  return item;
}

// A button that shows the moment of an event.
function momentButton(time) {
  const button = document.createElement('button');
  button.textContent = `${time.toFixed(2)} s`;
  button.title = 'Show this moment';
  return button;
}

function styleOf(message) {
  if (message.remedy || ['refused', 'local-stall', 'grade-low'].includes(message.kind)) return 'fault';
  return ['transition', 'demo', 'grade'].includes(message.kind) ? 'change' : 'other';
}

function connection() {
  const [words, tint] = connectionWords(performance.now() - lastSeen);
  text('connection', words);
  style('connection', tint);
  if (!page) return;
  const times = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
  const counts = [
    `${times(page.watching, 'page')} open`,
    `${times(page.dropped, 'state')} dropped on this one, ${page.dropped_of_all} on all`,
    `${times(page.refused, 'request')} refused`,
    `${window.outrigger.frames} states shown, ${window.outrigger.past} from before`,
  ];
  text('counts', counts.join(' · '));
}

// What is said of the connection, `silent` ms after the newest state, and its style.
function connectionWords(silent) {
  if (window.outrigger.ended) return ['the command has ended', 'ended'];
  if (closed) return ['no reply from the program; reconnecting', 'waits'];
  if (lastSeen === null) return ['waiting for the first state', 'waits'];
  if (silent > 1500) return [`no state for ${(silent / 1000).toFixed(0)} s`, 'waits'];
  if (cursor !== null) return [`showing ${(latest() - cursor).toFixed(1)} s ago`, 'waits'];
  return [held === null ? 'live' : 'live, plots paused', 'lives'];
}

function message(data) {
  const lines = data.split('\n').map(line => JSON.parse(line));
  const found = type => lines.find(line => line.type === type);
  const counts = found('page');
  if (counts) page = window.outrigger.page = counts;
  if (found('about')) meet(found('about'));
  if (found('robot')) meetRobot(found('robot'));
  lines.filter(line => line.type === 'event').forEach(event);
  if (found('status') && found('live')) state(found('status'), found('live'), Boolean(found('past')));
  if (found('end')) {
    window.outrigger.ended = true;
    source.close();
  }
}

// A new connection: what was known of another session is forgotten.
function meet(about) {
  Object.assign(window.outrigger, { about, ended: false });
  document.title = `Outrigger ${about.command}`;
  $('event-list').textContent = '';
  marks = [];
  if (session === about.session) return;
  forget();
  hold(null);
  build(about);
  session = about.session;
  robot = null;
}

function meetRobot(described) {
  robot = window.outrigger.robot = described;
  const { shape } = described;
  const { about } = window.outrigger;
  Arm.model(shape || null);
  if (shape && shape.models.length && about) {
    document.title = `${shape.models.join(' or ')} · Outrigger ${about.command}`;
  }
  showArm();
}

const source = new EventSource('/stream');
source.onmessage = event => message(event.data);
source.onopen = () => {
  closed = false;
};
source.onerror = () => {
  closed = true;
};

let plotsDue = 0;
let written = 0;
function frame(now) {
  Arm.draw(now);
  if (now > plotsDue) {
    const begun = performance.now();
    drawPlots();
    // On a slow machine the plots take a third of its time at most.
    plotsDue = now + Math.max(40, 2 * (performance.now() - begun));
  }
  if (now - written > 100) {
    written = now;
    keepCursor();
    figures();
    connection();
    tellMoment();
  }
  window.outrigger.drawn += 1;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);

function drawPlots() {
  for (const plot of plots.filter(plot => plot.dirty && !plot.root.hidden)) {
    drawPlot(plot, ...shown());
    plot.dirty = false;
  }
}

/* Buttons and keys. */
// Holds the plots where they are; null lets them go on, and shows the newest state.
function hold(at) {
  held = count ? at : null;
  if (held === null) cursor = null;
  paused();
}

function paused() {
  const still = held !== null;
  $('pause').setAttribute('aria-pressed', String(still));
  text('pause', still ? 'Resume' : 'Pause');
  showArm();
  redraw();
  written = 0;
}

const pause = () => hold(held === null ? latest() : null);

function zoom(factor) {
  const [from, to] = shown();
  show(zoomed([from, to], from + (pointed ?? 0.5) * (to - from), factor, whole(), SHORTEST));
}

function scheme(to) {
  const dark = to === undefined ? document.documentElement.dataset.scheme !== 'dark' : to;
  document.documentElement.dataset.scheme = dark ? 'dark' : 'light';
  colours.clear();
  $('scheme').textContent = dark ? 'Light' : 'Dark';
  redraw();
}

function help() {
  const words = $('words');
  words.hidden = !words.hidden;
  $('help').setAttribute('aria-expanded', String(!words.hidden));
  if (!words.hidden) words.scrollIntoView({ block: 'nearest' });
}

$('pause').onclick = pause;
$('shorter').onclick = () => zoom(0.5);
$('longer').onclick = () => zoom(2);
$('scheme').onclick = () => scheme();
$('help').onclick = help;
const dark = matchMedia('(prefers-color-scheme: dark)');
scheme(dark.matches);
dark.addEventListener('change', () => scheme(dark.matches));
addEventListener('resize', redraw);

const KEYS = {
  '+': () => zoom(0.5),
  '-': () => zoom(2),
  'd': () => scheme(),
  '?': help,
  '0': () => Arm.reset(),
  'ArrowLeft': () => Arm.turn(-0.1, 0),
  'ArrowRight': () => Arm.turn(0.1, 0),
  ',': () => step(-STEP),
  '.': () => step(STEP),
  'l': () => hold(null),
  'Escape': () => hold(null),
};
// Up and down scroll, unless the picture is what keys are for.
const KEYS_ON_THE_ARM = { ArrowUp: () => Arm.turn(0, 0.1), ArrowDown: () => Arm.turn(0, -0.1) };

// What a key does where the page's focus is `on`, if it does something.
function actOf(key, on) {
  // The slider has arrows of its own, and a button its space bar.
  if (on.id === 'cursor' && key.startsWith('Arrow')) return undefined;
  if (key === ' ') return on.tagName === 'BUTTON' ? undefined : pause;
  return (on.id === 'arm' && KEYS_ON_THE_ARM[key]) || KEYS[key];
}

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = actOf(event.key, event.target);
  if (!act) return;
  event.preventDefault();
  act();
});
