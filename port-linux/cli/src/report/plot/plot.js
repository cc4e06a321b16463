'use strict';
// What the live page's plots and the charts of a report have in common: ticks, words, and how pointers change the span of time shown.
// A span is [from, to]. Only `listen` touches the page.

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// Round values inside a span, about `count` of them, and the number of decimals they need; as `Span::ticks` has them.
function ticks([from, to], count) {
  const raw = (to - from) / count, exponent = Math.floor(Math.log10(raw));
  const [most, step] = [1, 2, 5, 10].map(m => [m, Number(`${m}e${exponent}`)]).find(([, s]) => s >= raw * (1 - 1e-9)) || [1, raw];
  const decimals = clamp(-(exponent + (most === 10 ? 1 : 0)), 0, 9), first = Math.ceil(from / step - 1e-9), values = [];
  for (let i = first; i <= Math.min(to / step + 1e-9, first + 50); i++) values.push(i * step);
  return [values, decimals];
}

// The number of decimals with which a thousandth of an axis can be read.
const decimalsOf = ([from, to]) => clamp(3 - Math.ceil(Math.log10(to - from)), 0, 6);

// A value with so many decimals; what is rounded to nothing has no sign.
const number = (value, digits) => value.toFixed(digits).replace(/^-(0(\.0*)?)$/, '$1');

// What stands below the pointer: the time if it is not null, what held then, and each line's value; an empty name for the only line.
function reading(time, held, values, unit, digits) {
  const known = values.filter(([, value]) => Number.isFinite(value));
  const words = known.map(([name, value], i) => `${name} ${number(value, digits)}${i + 1 === known.length ? ` ${unit}` : ''}`.trim());
  if (values.length && !known.length) words.push('none');
  return [time === null ? '' : `${time.toFixed(3)} s`, held, ...words].filter(Boolean).join(' · ');
}

// On which side of its line a name stands: the one with more room.
const side = (x, [left, right]) => x > (left + right) / 2 ? -1 : 1;

// The span moved into `whole`, no longer than it and no shorter than `least`.
function fitted([from, to], whole, least) {
  const length = clamp(to - from, least, whole[1] - whole[0]), begin = clamp((from + to - length) / 2, whole[0], whole[1] - length);
  return [begin, begin + length];
}

// Longer by `factor`; what is at `time` stays where it is.
function zoomed(span, time, factor, whole, least) {
  const length = clamp((span[1] - span[0]) * factor, least, whole[1] - whole[0]), share = (time - span[0]) / (span[1] - span[0]);
  return fitted([time - share * length, time + (1 - share) * length], whole, least);
}

// Later by `share` of its length.
function panned(span, share, whole) {
  const by = (span[1] - span[0]) * share;
  return fitted([span[0] + by, span[1] + by], whole, 0);
}

// Two fingers that were at the shares `before` of the span are at `now`: the times below them go with them.
function pinched(span, before, now, whole, least) {
  const length = span[1] - span[0], apart = ([a, b]) => Math.max(Math.abs(b - a), 0.02), middle = ([a, b]) => (a + b) / 2;
  const time = span[0] + middle(before) * length, longer = clamp(length * apart(before) / apart(now), least, whole[1] - whole[0]);
  return fitted([time - middle(now) * longer, time + (1 - middle(now)) * longer], whole, least);
}

// How much a turn of the wheel changes: the factor of a zoom.
const wheeled = delta => Math.exp(clamp(delta, -300, 300) / 300);

// Pointers over `element`. `chart` tells its ends on the screen (`edges`), its `shown` and `whole` span, and its `least` length; it is told
// the time below the pointer or null (`point`), the stretch that is being dragged over or null (`drag`), a span to show, and whether as it
// stands (`show`), and that all is wanted (`all`). A chart with `pick` is told the time at which somebody clicks or taps.
function listen(element, chart) {
  const touches = new Map();
  let from = null, tapped = { timeStamp: -Infinity };
  const share = event => { const [left, right] = chart.edges(); return clamp((event.clientX - left) / (right - left), 0, 1); };
  const at = event => { const [begin, end] = chart.shown; return begin + share(event) * (end - begin); };
  element.addEventListener('pointerdown', event => {
    chart.point(at(event));
    if (event.pointerType === 'mouse') { if (event.button === 0) from = at(event); return; }
    touches.set(event.pointerId, share(event));
    const twice = event.timeStamp - tapped.timeStamp < 350 && Math.hypot(event.clientX - tapped.clientX, event.clientY - tapped.clientY) < 30;
    tapped = twice ? { timeStamp: -Infinity } : event;
    if (twice && touches.size === 1) chart.all();
  });
  element.addEventListener('pointermove', event => {
    if (touches.size === 2 && touches.has(event.pointerId)) {
      const before = [...touches.values()];
      touches.set(event.pointerId, share(event));
      return chart.show(pinched(chart.shown, before, [...touches.values()], chart.whole, chart.least));
    }
    chart.point(at(event));
    if (from !== null) chart.drag([from, at(event)].sort((a, b) => a - b));
  });
  element.addEventListener('pointerup', event => {
    const [begin, to] = [from, at(event)], [left, right] = chart.edges();
    const still = event.pointerType === 'mouse' ? begin !== null : touches.size === 1 && event.pointerId === tapped.pointerId && Math.hypot(event.clientX - tapped.clientX, event.clientY - tapped.clientY) < 8;
    from = null; chart.drag(null);
    // A stretch of a few pixels is a click.
    if (begin !== null && Math.abs(to - begin) / (chart.shown[1] - chart.shown[0]) * (right - left) > 8) chart.show(fitted([Math.min(begin, to), Math.max(begin, to)], chart.whole, chart.least), true);
    else if (still && chart.pick) chart.pick(to);
  });
  ['pointerup', 'pointercancel', 'pointerleave'].forEach(name => element.addEventListener(name, event => touches.delete(event.pointerId)));
  element.addEventListener('pointerleave', () => { from = null; chart.drag(null); chart.point(null); });
  element.addEventListener('dblclick', () => chart.all());
  element.addEventListener('wheel', event => {
    // Without a key, up and down scroll the page.
    const across = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
    if (event.ctrlKey) chart.show(zoomed(chart.shown, at(event), wheeled(event.deltaY), chart.whole, chart.least));
    else if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey) chart.show(panned(chart.shown, across / 600, chart.whole), true);
    else return;
    event.preventDefault();
  }, { passive: false });
}
