// The time cursor: a bar over all that is kept. Moved into the past, the page shows the arm, values and events of that
// moment.
const STEP = 1;

// Shows the moment `time`; null, and whatever is at the end, is the newest.
function moveTo(time) {
  if (!count) return;
  const first = times[oldest() % KEPT];
  const end = latest();
  if (time === null || time >= end - 0.05) {
    hold(null);
    return;
  }
  cursor = clamp(time, first, end);
  // The plots go where the cursor is, and stay.
  const [from, to] = shown();
  const isOutside = cursor < from || cursor > to;
  if (isOutside) held = Math.min(end, Math.max(cursor + seconds / 2, first + Math.min(seconds, end - first)));
  else if (held === null) held = to;
  paused();
}

const step = by => moveTo((cursor ?? latest()) + by);

// Moves the cursor with the oldest moment that is kept, once its own is dropped.
function keepCursor() {
  const first = count ? times[oldest() % KEPT] : 0;
  if (cursor === null || cursor >= first) return;
  cursor = first;
  held = Math.max(held, Math.min(latest(), cursor + seconds / 2));
  showArm();
  redraw();
}

// Tells the reader which moment is shown, and marks the events of it.
function tellMoment() {
  const past = cursor !== null;
  const first = count ? times[oldest() % KEPT] : 0;
  const ago = past ? `${(latest() - cursor).toFixed(1)} s ago` : '';
  const limit = past && cursor <= first ? ', the oldest kept' : '';
  const when = past ? `${cursor.toFixed(1)} s, ${ago}${limit}` : `live, ${Math.round(latest() - first)} s kept`;
  document.body.classList.toggle('past', past);
  setSlider(first, when);
  text('when', when);
  $('live').disabled = !past && held === null;
  $('moment').hidden = !past;
  if (past) text('moment', ago);
  markEvents();
  drawBand(first);
}

// Sets the slider to the moment that is shown, unless somebody is moving it.
function setSlider(first, when) {
  const slider = $('cursor');
  const past = cursor !== null;
  Object.assign(slider, { min: first.toFixed(2), max: latest().toFixed(2) });
  const isMoved = past && document.activeElement === slider && Math.abs(slider.value - cursor) <= 0.06;
  if (!isMoved) slider.value = (past ? cursor : latest()).toFixed(2);
  slider.setAttribute('aria-valuetext', when);
}

// Marks the newest event before the moment that is shown, and those after it.
function markEvents() {
  const past = cursor !== null;
  const list = $('event-list');
  let newest = true;
  for (const item of list.children) {
    // That events were lost has no time.
    if (item.dataset.at === undefined) continue;
    const later = past && Number(item.dataset.at) > cursor;
    const now = past && !later && newest;
    item.classList.toggle('later', later);
    item.classList.toggle('now', now);
    if (now && !item.dataset.seen) list.scrollTop = item.offsetTop - list.offsetTop - 40;
    item.dataset.seen = now ? '1' : '';
    if (!later) newest = false;
  }
}

// The band behind the slider: modes in their colours, and faults as marks.
function drawBand(first) {
  const canvas = $('band');
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !lane) return;
  const context = cleared(canvas, width, height);
  const span = Math.max(1e-3, latest() - first);
  const x = t => ((t - first) / span) * width;
  const modes = lane.series[0].values;
  const begin = oldest();
  const stride = Math.max(1, Math.floor((count - begin) / width));
  for (let i = begin; i < count; i += stride) {
    const mode = modes[i % KEPT];
    if (!(mode >= 0)) continue;
    const from = x(times[i % KEPT]);
    const to = x(times[Math.min(i + stride, count - 1) % KEPT]);
    context.fillStyle = colour(TINTS[0][mode]);
    context.fillRect(from, 3, to - from + 0.7, height - 6);
  }
  context.fillStyle = colour('--bad');
  for (const mark of marks.filter(mark => mark.time >= first)) context.fillRect(x(mark.time) - 1, 0, 2, height);
}

$('cursor').addEventListener('input', () => {
  const { value, max, step } = $('cursor');
  // The last value of the slider is up to a step before its end.
  const isAtEnd = max - value < step - 1e-6;
  moveTo(isAtEnd ? null : Number(value));
});
$('live').onclick = () => hold(null);
$('event-list').addEventListener('click', event => {
  const item = event.target.closest('button');
  if (item) moveTo(Number(item.parentElement.dataset.at));
});
