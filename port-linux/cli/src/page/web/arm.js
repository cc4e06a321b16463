// The arm in 3D on a 2D canvas: its bodies, its tool frame, the position that it is to have, and what a sensor sees.
const Arm = (() => {
  const canvas = document.getElementById('arm'), context = canvas.getContext('2d'), ghostly = document.createElement('canvas');
  const start = { turn: -2.3, tilt: 0.42, zoom: 1 };
  let view = { ...start }, shape = null, bodies = [], moment = null, trail = () => [], box = null, dirty = true, due = 0;
  const FONT = '12px system-ui, sans-serif', AXES = { x: '--axis-x', y: '--axis-y', z: '--axis-z' };

  const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
  const length = a => Math.hypot(a[0], a[1], a[2]);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // The shape of an arm: the axes of its joints, its tool frame and its bodies.
  function model(newShape) {
    shape = newShape; bodies = shape ? shape.solids.map(Solids.facets) : [];
    box = null; dirty = true;
  }

  // What is known at these joint angles: the places of joints and tool, and the tool frame's axes.
  function at(q) {
    if (!shape || !q || q.length !== shape.joints.length || !q.every(Number.isFinite)) return null;
    const frames = Solids.posture(shape, q), last = frames[frames.length - 1];
    return { frames, tool: Solids.place(last, shape.tool.origin), axes: shape.tool.axes.map(axis => Solids.apply(last.r, axis)), joints: shape.joints.map(({ point }, i) => Solids.place(frames[i], point)) };
  }

  // The arm at one moment: joint angles `q`, those it is to have `wanted`, the newest reading `sensor`, and `workpiece`. `past` returns the
  // tool's places before it.
  function show(newMoment, past) { moment = newMoment; trail = past; dirty = true; }
  function forget() { moment = null; model(null); }

  const reach = () => shape ? Math.max(0.4, ...shape.joints.map(({ point }) => length(point)), length(shape.tool.origin)) : 0.5;

  // What has been seen fits into the picture, and the picture never jumps.
  function grow(points) {
    box = box || [[0, 0, 0], [0, 0, 0]];
    points.forEach(p => [0, 1, 2].forEach(k => { box[0][k] = Math.min(box[0][k], p[k]); box[1][k] = Math.max(box[1][k], p[k]); }));
  }

  // A turn of vectors to right, up and near, row by row.
  function camera() {
    const [ct, st, ci, si] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    return [ct, -st, 0, si * st, si * ct, ci, -ci * st, -ci * ct, si];
  }

  // To the screen: x to the right, y down, and how near it is.
  function projection(width, height, turn) {
    const corners = [...Array(8)].map((_, i) => Solids.apply(turn, [0, 1, 2].map(k => box[i >> k & 1][k])));
    const [[left, right], [low, high]] = [0, 1].map(k => [Math.min(...corners.map(c => c[k])), Math.max(...corners.map(c => c[k]))]);
    const room = 0.13 * reach(), scale = Math.min(width / (right - left + 2 * room), height / (high - low + 2 * room)) * view.zoom;
    return p => {
      const [x, y, near] = Solids.apply(turn, p);
      return [width / 2 + scale * (x - (left + right) / 2), height / 2 - scale * (y - (low + high) / 2), near, scale];
    };
  }

  function line(points, width, stroke, dash = []) {
    context.beginPath();
    points.forEach((p, i) => i ? context.lineTo(p[0], p[1]) : context.moveTo(p[0], p[1]));
    context.lineWidth = width; context.strokeStyle = stroke; context.setLineDash(dash);
    context.lineCap = 'round'; context.lineJoin = 'round'; context.stroke(); context.setLineDash([]);
  }

  function dot(p, radius, fill) { context.beginPath(); context.arc(p[0], p[1], radius, 0, 7); context.fillStyle = fill; context.fill(); }

  function floor(to, grid) {
    const step = reach() > 1.2 ? 0.5 : 0.25, most = Math.ceil(reach() / step) * step;
    for (let k = -most; k <= most + 1e-9; k += step) {
      line([to([k, -most, 0]), to([k, most, 0])], 1, grid);
      line([to([-most, k, 0]), to([most, k, 0])], 1, grid);
    }
    return step;
  }

  // The places around the end of an arrow, the one it points to first.
  function beside(from, to) {
    const [x, y] = [to[0] - from[0], to[1] - from[1]], l = Math.hypot(x, y) || 1, places = [];
    [9, 15, 22].forEach(gap => [0, 0.6, -0.6, 1.2, -1.2].forEach(by => {
      const a = Math.atan2(y / l, x / l) + by;
      places.push([to[0] + gap * Math.cos(a), to[1] + gap * Math.sin(a), Math.abs(Math.cos(a)) < 0.5 ? 'center' : Math.cos(a) > 0 ? 'left' : 'right']);
    }));
    return places;
  }

  function frame(origin, axes, size, to, labels, ink, names, dash = []) {
    const from = to(origin);
    axes.map((axis, i) => ({ name: 'xyz'[i], end: to(add(origin, axis, size)) })).sort((a, b) => a.end[2] - b.end[2]).forEach(({ name, end }) => {
      const stroke = colour(AXES[name]), a = Math.atan2(end[1] - from[1], end[0] - from[0]), seen = Math.hypot(end[1] - from[1], end[0] - from[0]);
      line([from, end], 4.5, ink.sheet); line([from, end], 2.4, stroke, dash);
      if (seen > 8) line([-2.6, 2.6].flatMap(by => [[end[0] + 6 * Math.cos(a + by), end[1] + 6 * Math.sin(a + by)], end]), 2.4, stroke);
      if (names) labels.push({ text: name, places: beside(from, end), ink: stroke });
    });
    dot(from, 2.6, ink.ink);
  }

  function workpiece(piece, to, fill, stroke) {
    const { origin, axes: [u, v, n], side, points, heights } = piece;
    const at = (i, j) => add(add(add(origin, u, (i / (points - 1) - 0.5) * side), v, (j / (points - 1) - 0.5) * side), n, heights[i * points + j]);
    const grid = [...Array(points)].map((_, i) => [...Array(points)].map((_, j) => to(at(i, j))));
    const rim = [...grid[0], ...grid.map(row => row[points - 1]), ...[...grid[points - 1]].reverse(), ...grid.map(row => row[0]).reverse()];
    context.beginPath(); rim.forEach((p, i) => i ? context.lineTo(p[0], p[1]) : context.moveTo(p[0], p[1])); context.closePath();
    context.globalAlpha = 0.35; context.fillStyle = fill; context.fill(); context.globalAlpha = 1;
    for (let i = 0; i < points; i += 2) { line(grid[i], 1, stroke); line(grid.map(row => row[i]), 1, stroke); }
  }

  function ray(here, to, ink) {
    const { sensor } = moment;
    if (!sensor || !moment.workpiece || !Number.isFinite(sensor.value)) return null;
    const fresh = !(sensor.age_ms > sensor.max_age_ms), [a, b] = [to(here.tool), to(add(here.tool, here.axes[2], sensor.value))];
    line([a, b], 2.5, fresh ? ink.ray : ink.limit, fresh ? [] : [4, 4]);
    dot(b, 4, fresh ? ink.ray : ink.limit);
    return fresh ? `${sensor.name}: ${(sensor.value * 1e3).toFixed(1)} mm` : `${sensor.name}: last reading is ${(sensor.age_ms / 1e3).toFixed(1)} s old`;
  }

  // The position that the arm is to have, as far as it is seen: a ghost, and its tool frame.
  function ghost(here, size, [width, height, ratio], to) {
    const there = at(moment.wanted);
    if (!there) return null;
    const apart = length(add(there.tool, here.tool, -1)), words = `target ${(apart * 1e3).toFixed(apart < 0.01 ? 1 : 0)} mm away`;
    if (apart * size < 2) return { there: null, words };
    Object.assign(ghostly, { width: canvas.width, height: canvas.height });
    const other = ghostly.getContext('2d');
    other.setTransform(ratio, 0, 0, ratio, 0, 0);
    Solids.turned(bodies, there.frames, to);
    Solids.silhouette(other, bodies, colour('--ghost'));
    context.globalAlpha = 0.4; context.drawImage(ghostly, 0, 0, width, height); context.globalAlpha = 1;
    return { there, words };
  }

  function draw(now) {
    const ratio = Math.min(2, window.devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); dirty = true;
    }
    if (!dirty || now < due) return;
    dirty = false;
    const begun = performance.now();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const here = moment && at(moment.q);
    document.getElementById('no-arm').hidden = Boolean(here);
    if (!here) { document.getElementById('arm-legend').textContent = ''; return; }
    picture(here, [width, height, ratio]);
    // On a slow machine the picture takes a third of its time at most.
    due = now + 2 * (performance.now() - begun);
  }

  function picture(here, sizes) {
    const [width, height] = sizes, ink = Object.fromEntries([['ink', 'ink'], ['dim', 'dim'], ['grid', 'grid'], ['sheet', 'sheet'], ['shadow', 'shadow'], ['ray', 'c1'], ['limit', 'limit'], ['piece', 'c4'], ['trail', 'c2']].map(([name, of]) => [name, colour(`--${of}`)]));
    const bases = [['base x', [0.34 * reach(), 0, 0]], ['base y', [0, 0.34 * reach(), 0]]];
    grow([...here.joints, here.tool, ...bases.map(([, end]) => end), ...(moment.workpiece ? [moment.workpiece.origin] : [])]);
    const turn = camera(), to = projection(width, height, turn), step = floor(to, ink.grid), names = [];
    // A shadow on the floor says how far above it the arm is.
    Solids.turned(bodies, here.frames, ([x, y]) => to([x, y, 0]));
    Solids.silhouette(context, bodies, ink.shadow);
    bases.forEach(([text, end]) => {
      const [a, b] = [to([0, 0, 0]), to(end)];
      line([a, b], 1.6, ink.dim);
      names.push({ text, places: beside(a, b), ink: ink.dim });
    });
    const target = moment.wanted && ghost(here, to(here.tool)[3], sizes, to);
    // Seen from its upper side, the workpiece is behind the arm.
    const behind = moment.workpiece && Solids.apply(turn, moment.workpiece.axes[2])[2] > 0;
    if (behind) workpiece(moment.workpiece, to, ink.piece, ink.piece);
    Solids.turned(bodies, here.frames, to);
    Solids.draw(context, bodies, here.frames, turn, shape.series);
    if (moment.workpiece && !behind) workpiece(moment.workpiece, to, ink.piece, ink.piece);
    line(trail().map(p => to(p)), 2, ink.trail);
    const said = ray(here, to, ink), size = 0.13 * reach();
    if (target && target.there) {
      frame(target.there.tool, target.there.axes, size, to, names, ink, false, [4, 5]);
      const [a, b] = [to(here.tool), to(target.there.tool)];
      names.push({ text: 'target', places: beside(a, b), ink: colour('--ghost') });
    }
    frame(here.tool, here.axes, size, to, names, ink, true);
    const labels = new Labels(context, width, height, FONT), badge = document.getElementById('moment');
    if (!badge.hidden) labels.boxes.push([0, 0, badge.offsetLeft + badge.offsetWidth, badge.offsetTop + badge.offsetHeight]);
    names.reverse().forEach(({ text, places, ink: fill }) => labels.put(text, places, fill, ink.sheet));
    const legend = [`floor squares of ${step} m`, `tool at ${here.tool.map(v => (v * 1e3).toFixed(0)).join(', ')} mm from the base`];
    if (target) legend.push(target.words);
    if (said) legend.push(said);
    document.getElementById('arm-legend').textContent = legend.join(' · ');
  }

  function turn(by, up) { view.turn += by; view.tilt = Math.min(1.5, Math.max(-0.2, view.tilt + up)); dirty = true; }
  function reset() { view = { ...start }; dirty = true; }
  function redraw() { dirty = true; }

  const pointers = new Map();
  let spread = 0;
  canvas.addEventListener('pointerdown', event => { pointers.set(event.pointerId, [event.clientX, event.clientY]); canvas.setPointerCapture(event.pointerId); spread = 0; });
  canvas.addEventListener('pointermove', event => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) view.zoom = Math.min(6, Math.max(0.4, view.zoom * now / spread));
      spread = now; dirty = true;
    } else turn((event.clientX - before[0]) / 150, event.pointerType === 'touch' ? 0 : (event.clientY - before[1]) / 150);
  });
  ['pointerup', 'pointercancel'].forEach(name => canvas.addEventListener(name, event => { pointers.delete(event.pointerId); spread = 0; }));
  canvas.addEventListener('wheel', event => {
    // Without the key the page scrolls.
    if (!event.ctrlKey) return;
    event.preventDefault(); view.zoom = Math.min(6, Math.max(0.4, view.zoom * Math.exp(-event.deltaY / 300))); dirty = true;
  }, { passive: false });
  return { model, at, show, forget, draw, turn, reset, redraw };
})();
