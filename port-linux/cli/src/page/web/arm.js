// The arm in 3D on a 2D canvas: its bodies, its tool frame, the position that it is to have, and what a sensor sees.
const Arm = (() => {
  const canvas = document.getElementById('arm');
  const context = canvas.getContext('2d');
  const ghostly = document.createElement('canvas');
  const start = { turn: -2.3, tilt: 0.42, zoom: 1 };
  let view = { ...start };
  let shape = null;
  let bodies = [];
  let moment = null;
  let trail = () => [];
  let box = null;
  let dirty = true;
  let due = 0;
  const FONT = '12px system-ui, sans-serif';
  const AXES = { x: '--axis-x', y: '--axis-y', z: '--axis-z' };

  const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
  const length = a => Math.hypot(a[0], a[1], a[2]);

  // The shape of an arm: the axes of its joints, its tool frame and its bodies.
  function model(newShape) {
    shape = newShape;
    bodies = shape ? shape.solids.map(Solids.facets) : [];
    box = null;
    dirty = true;
  }

  // What is known at these joint angles: the places of joints and tool, and the tool frame's axes.
  function at(q) {
    if (!shape || !q || q.length !== shape.joints.length || !q.every(Number.isFinite)) return null;
    const frames = Solids.posture(shape, q);
    const last = frames[frames.length - 1];
    return {
      frames,
      tool: Solids.place(last, shape.tool.origin),
      axes: shape.tool.axes.map(axis => Solids.apply(last.r, axis)),
      joints: shape.joints.map(({ point }, i) => Solids.place(frames[i], point)),
    };
  }

  // The arm at one moment: joint angles `q`, those it is to have `wanted`, the newest reading `sensor`, and
  // `workpiece`. `past` returns the tool's places before it.
  function show(newMoment, past) {
    moment = newMoment;
    trail = past;
    dirty = true;
  }
  function forget() {
    moment = null;
    model(null);
  }

  function reach() {
    if (!shape) return 0.5;
    return Math.max(0.4, ...shape.joints.map(({ point }) => length(point)), length(shape.tool.origin));
  }

  // What has been seen fits into the picture, and the picture never jumps.
  function grow(points) {
    box = box || { low: [0, 0, 0], high: [0, 0, 0] };
    for (const p of points) {
      box.low = box.low.map((v, k) => Math.min(v, p[k]));
      box.high = box.high.map((v, k) => Math.max(v, p[k]));
    }
  }

  // A turn of vectors to right, up and near, row by row.
  function camera() {
    const [ct, st, ci, si] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    return [ct, -st, 0, si * st, si * ct, ci, -ci * st, -ci * ct, si];
  }

  // To the screen: x to the right, y down, and how near it is.
  function projection(width, height, turn) {
    const corner = i => box.low.map((v, k) => ((i >> k) & 1 ? box.high[k] : v));
    const corners = [...Array(8)].map((_, i) => Solids.apply(turn, corner(i)));
    const ends = k => [Math.min(...corners.map(c => c[k])), Math.max(...corners.map(c => c[k]))];
    const [left, right] = ends(0);
    const [low, high] = ends(1);
    const room = 0.13 * reach();
    const scale = Math.min(width / (right - left + 2 * room), height / (high - low + 2 * room)) * view.zoom;
    return p => {
      const [x, y, near] = Solids.apply(turn, p);
      return [width / 2 + scale * (x - (left + right) / 2), height / 2 - scale * (y - (low + high) / 2), near, scale];
    };
  }

  function path(points) {
    context.beginPath();
    for (const p of points) context.lineTo(p[0], p[1]);
  }

  function line(points, width, stroke, dash = []) {
    path(points);
    context.lineWidth = width;
    context.strokeStyle = stroke;
    context.setLineDash(dash);
    context.lineCap = 'round';
    context.lineJoin = 'round';
    context.stroke();
    context.setLineDash([]);
  }

  function dot(p, radius, fill) {
    context.beginPath();
    context.arc(p[0], p[1], radius, 0, 7);
    context.fillStyle = fill;
    context.fill();
  }

  function floor(to, grid) {
    const step = reach() > 1.2 ? 0.5 : 0.25;
    const most = Math.ceil(reach() / step) * step;
    for (let k = -most; k <= most + 1e-9; k += step) {
      line([to([k, -most, 0]), to([k, most, 0])], 1, grid);
      line([to([-most, k, 0]), to([most, k, 0])], 1, grid);
    }
    return step;
  }

  // The places around the end of an arrow, the one it points to first.
  function beside(from, to) {
    const ahead = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const place = (gap, a) => [to[0] + gap * Math.cos(a), to[1] + gap * Math.sin(a), aligned(a)];
    return [9, 15, 22].flatMap(gap => [0, 0.6, -0.6, 1.2, -1.2].map(by => place(gap, ahead + by)));
  }

  // How a text is aligned that stands in this direction from an arrow.
  function aligned(direction) {
    if (Math.abs(Math.cos(direction)) < 0.5) return 'center';
    return Math.cos(direction) > 0 ? 'left' : 'right';
  }

  function frame(origin, axes, size, to, labels, ink, names, dash = []) {
    const from = to(origin);
    const ends = axes.map((axis, i) => ({ name: 'xyz'[i], end: to(add(origin, axis, size)) }));
    for (const { name, end } of ends.sort((a, b) => a.end[2] - b.end[2])) {
      const stroke = colour(AXES[name]);
      line([from, end], 4.5, ink.sheet);
      arrow(from, end, stroke, dash);
      if (names) labels.push({ text: name, places: beside(from, end), ink: stroke });
    }
    dot(from, 2.6, ink.ink);
  }

  // An arrow on the screen; seen from its end, it has no head.
  function arrow(from, end, stroke, dash) {
    const [dx, dy] = [end[0] - from[0], end[1] - from[1]];
    const a = Math.atan2(dy, dx);
    const wing = by => [end[0] + 6 * Math.cos(a + by), end[1] + 6 * Math.sin(a + by)];
    line([from, end], 2.4, stroke, dash);
    if (Math.hypot(dx, dy) > 8) line([wing(-2.6), end, wing(2.6), end], 2.4, stroke);
  }

  function workpiece(piece, to, fill, stroke) {
    const { origin, axes, side, points, heights } = piece;
    const [u, v, n] = axes;
    const along = i => (i / (points - 1) - 0.5) * side;
    const at = (i, j) => add(add(add(origin, u, along(i)), v, along(j)), n, heights[i * points + j]);
    const indices = [...Array(points).keys()];
    const rows = indices.map(i => indices.map(j => to(at(i, j))));
    const column = j => rows.map(row => row[j]);
    const far = [...rows[points - 1]].reverse();
    path([...rows[0], ...column(points - 1), ...far, ...column(0).reverse()]);
    context.closePath();
    context.globalAlpha = 0.35;
    context.fillStyle = fill;
    context.fill();
    context.globalAlpha = 1;
    for (let i = 0; i < points; i += 2) {
      line(rows[i], 1, stroke);
      line(column(i), 1, stroke);
    }
  }

  // The ray of a distance sensor, dashed if its reading is too old. Returns what the legend says of it.
  function ray(here, to, ink) {
    const { sensor } = moment;
    if (!sensor || !moment.workpiece || !Number.isFinite(sensor.value)) return null;
    const ends = [to(here.tool), to(add(here.tool, here.axes[2], sensor.value))];
    const isOld = sensor.age_ms > sensor.max_age_ms;
    line(ends, 2.5, isOld ? ink.limit : ink.ray, isOld ? [4, 4] : []);
    dot(ends[1], 4, isOld ? ink.limit : ink.ray);
    if (isOld) return `${sensor.name}: last reading is ${(sensor.age_ms / 1e3).toFixed(1)} s old`;
    return `${sensor.name}: ${(sensor.value * 1e3).toFixed(1)} mm`;
  }

  // The position that the arm is to have, as far as it is seen: a ghost, and its tool frame.
  function ghost(here, size, [width, height, ratio], to) {
    const there = at(moment.wanted);
    if (!there) return null;
    const apart = length(add(there.tool, here.tool, -1));
    const words = `target ${(apart * 1e3).toFixed(apart < 0.01 ? 1 : 0)} mm away`;
    if (apart * size < 2) return { there: null, words };
    Object.assign(ghostly, { width: canvas.width, height: canvas.height });
    const other = ghostly.getContext('2d');
    other.setTransform(ratio, 0, 0, ratio, 0, 0);
    Solids.turned(bodies, there.frames, to);
    Solids.silhouette(other, bodies, colour('--ghost'));
    context.globalAlpha = 0.4;
    context.drawImage(ghostly, 0, 0, width, height);
    context.globalAlpha = 1;
    return { there, words };
  }

  function draw(now) {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      dirty = true;
    }
    if (!dirty || now < due) return;
    dirty = false;
    const begun = performance.now();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const here = moment && at(moment.q);
    document.getElementById('no-arm').hidden = Boolean(here);
    if (!here) {
      document.getElementById('arm-legend').textContent = '';
      return;
    }
    picture(here, [width, height, ratio]);
    // On a slow machine the picture takes a third of its time at most.
    due = now + 2 * (performance.now() - begun);
  }

  // The page's colours of the picture's parts.
  function inks() {
    const names = {
      ink: '--ink',
      dim: '--dim',
      grid: '--grid',
      sheet: '--sheet',
      shadow: '--shadow',
      ray: '--c1',
      limit: '--limit',
      piece: '--c4',
      trail: '--c2',
    };
    return Object.fromEntries(Object.entries(names).map(([part, name]) => [part, colour(name)]));
  }

  function picture(here, sizes) {
    const [width, height] = sizes;
    const ink = inks();
    const base = 0.34 * reach();
    const bases = [
      ['base x', [base, 0, 0]],
      ['base y', [0, base, 0]],
    ];
    const piece = moment.workpiece;
    grow([...here.joints, here.tool, ...bases.map(([, end]) => end), ...(piece ? [piece.origin] : [])]);
    const turn = camera();
    const to = projection(width, height, turn);
    const step = floor(to, ink.grid);
    const names = [];
    // A shadow on the floor says how far above it the arm is.
    Solids.turned(bodies, here.frames, ([x, y]) => to([x, y, 0]));
    Solids.silhouette(context, bodies, ink.shadow);
    for (const [text, end] of bases) {
      const [a, b] = [to([0, 0, 0]), to(end)];
      line([a, b], 1.6, ink.dim);
      names.push({ text, places: beside(a, b), ink: ink.dim });
    }
    const target = moment.wanted && ghost(here, to(here.tool)[3], sizes, to);
    // Seen from its upper side, the workpiece is behind the arm.
    const behind = piece && Solids.apply(turn, piece.axes[2])[2] > 0;
    if (behind) workpiece(piece, to, ink.piece, ink.piece);
    Solids.turned(bodies, here.frames, to);
    Solids.draw(context, bodies, here.frames, turn, shape.series);
    if (piece && !behind) workpiece(piece, to, ink.piece, ink.piece);
    const places = trail().map(p => to(p));
    line(places, 2, ink.trail);
    const said = ray(here, to, ink);
    const size = 0.13 * reach();
    if (target && target.there) {
      frame(target.there.tool, target.there.axes, size, to, names, ink, false, [4, 5]);
      const places = beside(to(here.tool), to(target.there.tool));
      names.push({ text: 'target', places, ink: colour('--ghost') });
    }
    frame(here.tool, here.axes, size, to, names, ink, true);
    putNames(names, width, height, ink.sheet);
    const tool = here.tool.map(v => (v * 1e3).toFixed(0)).join(', ');
    const legend = [`floor squares of ${step} m`, `tool at ${tool} mm from the base`, target && target.words, said];
    document.getElementById('arm-legend').textContent = legend.filter(Boolean).join(' · ');
  }

  // Writes the names into the picture, beside the badge that says how old it is.
  function putNames(names, width, height, ground) {
    const labels = new Labels(context, width, height, FONT);
    const badge = document.getElementById('moment');
    const [right, bottom] = [badge.offsetLeft + badge.offsetWidth, badge.offsetTop + badge.offsetHeight];
    if (!badge.hidden) labels.boxes.push([0, 0, right, bottom]);
    for (const { text, places, ink } of names.reverse()) labels.put(text, places, ink, ground);
  }

  function turn(by, up) {
    view.turn += by;
    view.tilt = Math.min(1.5, Math.max(-0.2, view.tilt + up));
    dirty = true;
  }

  function zoom(factor) {
    view.zoom = Math.min(6, Math.max(0.4, view.zoom * factor));
    dirty = true;
  }

  function reset() {
    view = { ...start };
    dirty = true;
  }

  function redraw() {
    dirty = true;
  }

  const pointers = new Map();
  let spread = 0;
  canvas.addEventListener('pointerdown', event => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    canvas.setPointerCapture(event.pointerId);
    spread = 0;
  });
  canvas.addEventListener('pointermove', event => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 2) {
      pinch();
      return;
    }
    // A finger that moves up or down scrolls the page.
    const up = event.pointerType === 'touch' ? 0 : event.clientY - before[1];
    turn((event.clientX - before[0]) / 150, up / 150);
  });
  for (const name of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(name, event => {
      pointers.delete(event.pointerId);
      spread = 0;
    });
  }

  // Two fingers zoom by how far they are apart.
  function pinch() {
    const [a, b] = [...pointers.values()];
    const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (spread) zoom(now / spread);
    spread = now;
  }

  function wheel(event) {
    // Without the key the page scrolls.
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300));
  }
  canvas.addEventListener('wheel', wheel, { passive: false });
  return { model, at, show, forget, draw, turn, reset, redraw };
})();
