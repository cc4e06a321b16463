'use strict';
// The arm in 3D on a 2D canvas: points of the kinematic model that the program sends, turned and drawn from far to near.
const Arm = (() => {
  const canvas = document.getElementById('arm'), context = canvas.getContext('2d');
  const start = { turn: -2.3, tilt: 0.42, zoom: 1 };
  let view = { ...start }, newest = null, trail = [], box = null, reach = 0.5, dirty = true;

  const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
  const length = a => Math.hypot(a[0], a[1], a[2]);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function show(live, status) {
    newest = { live, status };
    dirty = true;
    const tool = live.arm && live.arm[live.arm.length - 1];
    if (!tool) return;
    reach = Math.max(reach, ...live.arm.map(length));
    // What has been seen fits into the picture, and the picture never jumps.
    const seen = live.workpiece ? [...live.arm, live.workpiece.origin] : live.arm;
    box = box || [[0, 0, 0], [0, 0, 0]];
    seen.forEach(p => [0, 1, 2].forEach(k => { box[0][k] = Math.min(box[0][k], p[k]); box[1][k] = Math.max(box[1][k], p[k]); }));
    const last = trail[trail.length - 1];
    if (!last || length(add(tool, last.at, -1)) > 0.001) trail.push({ at: tool, time: live.time });
    while (trail.length > 400 || (trail.length && live.time - trail[0].time > 20)) trail.shift();
  }

  function forget() { newest = null; trail = []; box = null; reach = 0.5; dirty = true; }

  // To the screen: x to the right, y down, and how near it is.
  function projection(width, height) {
    const [low, high] = box, middle = add(low, add(high, low, -1), 0.5), size = Math.max(0.8 * reach, length(add(high, low, -1)));
    const scale = Math.min(width, height * 1.15) / (1.2 * size) * view.zoom;
    const [ct, st, ci, si] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    return p => {
      const [px, py, up] = add(p, middle, -1), right = ct * px - st * py, away = st * px + ct * py;
      return [width / 2 + scale * right, height / 2 - 6 - scale * (ci * up + si * away), -(ci * away) + si * up, scale];
    };
  }

  function line(points, width, stroke, dash = []) {
    context.beginPath();
    points.forEach((p, i) => i ? context.lineTo(p[0], p[1]) : context.moveTo(p[0], p[1]));
    context.lineWidth = width; context.strokeStyle = stroke; context.setLineDash(dash);
    context.lineCap = 'round'; context.lineJoin = 'round'; context.stroke(); context.setLineDash([]);
  }

  function dot(p, radius, fill, stroke) {
    context.beginPath(); context.arc(p[0], p[1], radius, 0, 7); context.fillStyle = fill; context.fill();
    if (stroke) { context.lineWidth = 1.5; context.strokeStyle = stroke; context.stroke(); }
  }

  function floor(to, grid) {
    const step = reach > 1.2 ? 0.5 : 0.25, most = Math.ceil(reach / step) * step;
    for (let k = -most; k <= most + 1e-9; k += step) {
      line([to([k, -most, 0]), to([k, most, 0])], 1, grid);
      line([to([-most, k, 0]), to([most, k, 0])], 1, grid);
    }
    return step;
  }

  function axes(to, ink) {
    context.font = '12px system-ui, sans-serif'; context.fillStyle = ink;
    [['x', [0.3 * reach, 0, 0]], ['y', [0, 0.3 * reach, 0]]].forEach(([name, end]) => {
      const [a, b] = [to([0, 0, 0]), to(end)];
      line([a, b], 2, ink);
      context.fillText(name, b[0] + 4, b[1] + 4);
    });
  }

  function workpiece(piece, to, fill, stroke) {
    const { origin, axes: [u, v, n], side, points, heights } = piece;
    const at = (i, j) => add(add(add(origin, u, (i / (points - 1) - 0.5) * side), v, (j / (points - 1) - 0.5) * side), n, heights[i * points + j]);
    const grid = [...Array(points)].map((_, i) => [...Array(points)].map((_, j) => to(at(i, j))));
    const rim = [...grid[0], ...grid.map(row => row[points - 1]), ...[...grid[points - 1]].reverse(), ...grid.map(row => row[0]).reverse()];
    context.beginPath(); rim.forEach((p, i) => i ? context.lineTo(p[0], p[1]) : context.moveTo(p[0], p[1])); context.closePath();
    context.globalAlpha = 0.35; context.fillStyle = fill; context.fill(); context.globalAlpha = 1;
    for (let i = 0; i < points; i += 2) {
      line(grid[i], 1, stroke);
      line(grid.map(row => row[i]), 1, stroke);
    }
  }

  function ray(live, tool, to, ink) {
    const source = live.sources.find(source => source.value && source.value.length === 1 && source.max <= 5);
    if (!source || !live.tool_axis || !live.workpiece) return null;
    const fresh = source.age_ms <= source.max_age_ms, end = add(tool, live.tool_axis, source.value[0]);
    const [a, b] = [to(tool), to(end)];
    line([a, b], 2.5, fresh ? ink.ray : ink.limit, fresh ? [] : [4, 4]);
    dot(b, 4, fresh ? ink.ray : ink.limit);
    return fresh ? `${source.name}: ${(source.value[0] * 1e3).toFixed(1)} mm` : `${source.name}: last reading is ${(source.age_ms / 1e3).toFixed(1)} s old`;
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); dirty = true;
    }
    if (!dirty) return;
    dirty = false;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const live = newest && newest.live, there = Boolean(live && live.arm);
    document.getElementById('no-arm').hidden = there;
    if (!there) { document.getElementById('arm-legend').textContent = ''; return; }
    const ink = { ink: colour('--ink'), dim: colour('--dim'), grid: colour('--grid'), sheet: colour('--sheet'), link: colour('--c0'), joint: colour('--c6'), ray: colour('--c1'), limit: colour('--limit'), piece: colour('--c4'), trail: colour('--c2') };
    const to = projection(width, height), step = floor(to, ink.grid);
    axes(to, ink.dim);
    const tool = live.arm[live.arm.length - 1];
    // A shadow on the floor says how far above it the arm is.
    line(live.arm.map(p => to([p[0], p[1], 0])), 6, ink.grid);
    const parts = [];
    for (let i = 1; i < live.arm.length; i++) {
      const [a, b] = [to(live.arm[i - 1]), to(live.arm[i])];
      parts.push({ near: Math.min(a[2], b[2]), draw: () => {
        const thick = Math.max(4, a[3] * 0.085 * reach * (1 - 0.09 * i));
        line([a, b], thick + 2.5, ink.sheet); line([a, b], thick, ink.link);
        line([[a[0] - thick / 5, a[1] - thick / 5], [b[0] - thick / 5, b[1] - thick / 5]], thick / 5, 'rgba(255,255,255,.35)');
      } });
      if (i < live.arm.length - 1) parts.push({ near: Math.max(a[2], b[2]) + 1e-3, draw: () => dot(b, Math.max(3, b[3] * 0.05 * reach * (1 - 0.07 * i)), ink.joint, ink.sheet) });
    }
    let said = null;
    if (live.workpiece) parts.push({ near: to(live.workpiece.origin)[2] - 0.05, draw: () => workpiece(live.workpiece, to, ink.piece, ink.piece) });
    parts.push({ near: to(tool)[2] + 0.5, draw: () => {
      line(trail.map(t => to(t.at)), 2, ink.trail);
      said = ray(live, tool, to, ink);
      dot(to(tool), 4.5, ink.sheet, ink.ink);
    } });
    parts.sort((a, b) => a.near - b.near).forEach(part => part.draw());
    const legend = [`floor squares of ${step} m`, `tool at ${tool.map(v => (v * 1e3).toFixed(0)).join(', ')} mm from the base`];
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
  return { show, forget, draw, turn, reset, redraw };
})();
