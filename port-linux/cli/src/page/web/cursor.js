/* The time cursor: a bar over all that is kept. Moved into the past, the page shows the arm, values and events of that moment. */
const STEP = 1;

// Shows the moment `time`; null, and whatever is at the end, is the newest.
function moveTo(time) {
  if (!count) return;
  const first = times[oldest() % KEPT], end = latest();
  if (time === null || time >= end - 0.05) { hold(null); return; }
  cursor = clamp(time, first, end);
  // The plots go where the cursor is, and stay.
  const [from, to] = shown();
  if (held === null || cursor < from || cursor > to) held = cursor < from || cursor > to ? Math.min(end, Math.max(cursor + seconds / 2, first + Math.min(seconds, end - first))) : to;
  paused();
}
const step = by => moveTo((cursor ?? latest()) + by);

// Tells the reader which moment is shown, and marks the events of it.
function tellMoment() {
  const past = cursor !== null, slider = $('cursor'), first = count ? times[oldest() % KEPT] : 0;
  document.body.classList.toggle('past', past);
  Object.assign(slider, { min: first.toFixed(2), max: latest().toFixed(2) });
  if (!past || document.activeElement !== slider || Math.abs(slider.value - cursor) > 0.06) slider.value = (past ? cursor : latest()).toFixed(2);
  const when = past ? `${cursor.toFixed(1)} s, ${(latest() - cursor).toFixed(1)} s ago` : `live, ${Math.round(latest() - first)} s kept`;
  text('when', when);
  slider.setAttribute('aria-valuetext', when);
  $('live').disabled = !past && held === null;
  const badge = $('moment');
  badge.hidden = !past;
  if (past) text('moment', `${(latest() - cursor).toFixed(1)} s ago`);
  let newest = true;
  for (const item of $('event-list').children) {
    const later = past && Number(item.dataset.at) > cursor;
    item.classList.toggle('later', later);
    item.classList.toggle('now', past && !later && newest);
    if (past && !later && newest && !item.dataset.seen) { $('event-list').scrollTop = item.offsetTop - $('event-list').offsetTop - 40; }
    item.dataset.seen = past && !later && newest ? '1' : '';
    if (!later) newest = false;
  }
  drawBand(first);
}

// The band behind the slider: modes in their colours, and faults as marks.
function drawBand(first) {
  const canvas = $('band'), context = canvas.getContext('2d'), ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !lane) return;
  if (canvas.width !== Math.round(width * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const span = Math.max(1e-3, latest() - first), x = t => (t - first) / span * width, modes = lane.series[0].values, begin = oldest();
  const stride = Math.max(1, Math.floor((count - begin) / width));
  for (let i = begin; i < count; i += stride) {
    const mode = modes[i % KEPT], next = Math.min(i + stride, count - 1);
    if (!(mode >= 0)) continue;
    context.fillStyle = colour(TINTS[0][mode]);
    context.fillRect(x(times[i % KEPT]), 3, x(times[next % KEPT]) - x(times[i % KEPT]) + 0.7, height - 6);
  }
  context.fillStyle = colour('--bad');
  marks.filter(mark => mark.time >= first).forEach(mark => context.fillRect(x(mark.time) - 1, 0, 2, height));
}

$('cursor').addEventListener('input', () => moveTo(Number($('cursor').value)));
$('live').onclick = () => hold(null);
$('event-list').addEventListener('click', event => { const item = event.target.closest('button'); if (item) moveTo(Number(item.parentElement.dataset.at)); });
