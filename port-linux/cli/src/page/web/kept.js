// What the page keeps of the last ten minutes, and the moment that it shows. All of it is bounded: rings of numbers for
// 36 864 states (ten minutes at 60 states a second; about 8 MB in all), and lists of what changes rarely.
const KEPT = 36864;
const SPAN = 600;
const MOST_WORDS = 1024;
// Words are stored once a second in the long run, and so many at once: those of ten minutes are fewer than MOST_WORDS.
const BURST = 300;
const MOST_PIECES = 600;
const times = new Float64Array(KEPT);
let count = 0;
let cursor = null;
let words = [];
let pieces = [];
let spare = BURST;
let refilled = 0;

const ring = () => new Float32Array(KEPT).fill(NaN);
const rings = length => [...Array(length)].map(ring);
// Joint speeds that are commanded, the tool's pose and place, and the age of the first sensor's reading.
let kept = { target: [], pose: rings(6), tool: rings(3), sensorAge: [ring()] };
function put(into, values) {
  into.forEach((of, i) => {
    of[count % KEPT] = (values && values[i]) ?? NaN;
  });
}
const got = (from, index) => from.map(of => of[index % KEPT]);
const known = values => (values.every(Number.isFinite) ? values : null);

const latest = () => (count ? times[(count - 1) % KEPT] : 0);
// The number of the first state that is kept.
function oldest() {
  const first = Math.max(0, count - KEPT + 1);
  return count && times[first % KEPT] < latest() - SPAN ? indexAt(latest() - SPAN) : first;
}

// The number of the first state that is not before `time`.
function indexAt(time) {
  let [low, high] = [Math.max(0, count - KEPT + 1), count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle % KEPT] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Returns true if words may be stored at this time.
function mayStore(time) {
  spare = Math.min(BURST, spare + Math.max(0, time - refilled));
  refilled = time;
  if (spare < 1) return false;
  spare -= 1;
  return true;
}

// Keeps what is said of the newest state where a headline differs from what was said before, and the rest once a second
// at most; so too the workpiece. The mode and the grade of each state are in the rings of their plot.
function remember(time, said, piece) {
  const last = words[words.length - 1];
  const differs = keys => keys.some(key => said[key] !== last.said[key]);
  const isNew = !last || differs(['mode', 'grade', 'robotMode', 'attention']);
  const isWanted = isNew || (time - last.time >= 1 && differs(Object.keys(said)));
  if (isWanted && mayStore(time)) words.push({ time, said });
  if (piece && !(pieces.length && time - pieces[pieces.length - 1].time < 1)) pieces.push({ time, piece });
  while (words.length > MOST_WORDS || (words.length > 1 && words[1].time < time - SPAN)) words.shift();
  while (pieces.length > MOST_PIECES) pieces.shift();
}

function forgetKept() {
  count = 0;
  cursor = null;
  words = [];
  pieces = [];
  spare = BURST;
  refilled = 0;
}

// The newest of a list that is not after `time`; null if all are after it.
function upTo(list, time) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  return low ? list[low - 1] : null;
}

// The number of the state that the page shows.
function shownIndex() {
  return cursor === null ? count - 1 : clamp(indexAt(cursor), oldest(), Math.max(0, count - 1));
}

// The tool's places in the 20 s before a state, some hundred of them.
function trailTo(index) {
  const first = Math.max(indexAt(times[index % KEPT] - 20), 0);
  const stride = Math.max(1, Math.floor((index - first) / 300));
  const places = [];
  for (let i = index - ((index - first) % stride); i >= first && i >= count - KEPT + 1; i -= stride) {
    const place = known(got(kept.tool, i));
    if (place) places.push(place);
  }
  return places;
}
