// The arm's links as bodies: surfaces of revolution that the program sends, as facets that are turned, shaded and drawn from far to near.
const Solids = (() => {
  const multiply = (a, b) => a.map((_, i) => { const r = 3 * Math.floor(i / 3), c = i % 3; return a[r] * b[c] + a[r + 1] * b[3 + c] + a[r + 2] * b[6 + c]; });
  const apply = (m, [x, y, z]) => [m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z];
  const unit = a => { const l = Math.hypot(...a) || 1; return a.map(v => v / l); };
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

  // A turn about an axis, by Rodrigues' formula.
  function turn([x, y, z], angle) {
    const c = Math.cos(angle), s = Math.sin(angle), t = 1 - c;
    return [t * x * x + c, t * x * y - s * z, t * x * z + s * y, t * x * y + s * z, t * y * y + c, t * y * z - s * x, t * x * z - s * y, t * y * z + s * x, t * z * z + c];
  }

  // Where each link is at these joint angles: a rotation and a shift for what is fixed to it, first that of the base.
  function posture(shape, q) {
    let r = IDENTITY, p = [0, 0, 0];
    const frames = [{ r, p }];
    shape.joints.forEach(({ point, direction }, i) => {
      // About a line through `point`: x → R·x + (point − R·point).
      const local = turn(direction, q[i]), moved = apply(local, point), shift = apply(r, point.map((v, k) => v - moved[k]));
      p = p.map((v, k) => v + shift[k]);
      r = multiply(r, local);
      frames.push({ r, p });
    });
    return frames;
  }

  const place = ({ r, p }, point) => apply(r, point).map((v, k) => v + p[k]);

  // The facets of a body: its corners, and of each facet the numbers of its corners and its normal.
  function facets({ joints, tint, origin, axis, profile }) {
    const widest = Math.max(...profile.map(([, r]) => r)), sides = widest < 0.02 ? 10 : widest < 0.045 ? 24 : 32;
    const u = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), v = cross(axis, u);
    const around = [...Array(sides)].map((_, k) => { const a = 2 * Math.PI * k / sides; return u.map((c, i) => c * Math.cos(a) + v[i] * Math.sin(a)); });
    const corners = [], faces = [];
    const ring = (at, r) => around.map(out => corners.push(origin.map((c, i) => c + axis[i] * at + out[i] * r)) - 1);
    let last = null, before = null;
    profile.forEach(([at, r]) => {
      if (before) {
        const [from, r0] = before, long = at - from, sign = Math.sign(long) || 1;
        if (long === 0 || (r0 === 0 || r === 0) && Math.abs(long) < 1e-6) {
          // A flat end is one facet.
          const outer = r > r0 ? (last = ring(at, r)) : last;
          faces.push({ corners: outer, normal: axis.map(c => c * (r > r0 ? -1 : 1) * direction(profile)) });
        } else {
          // Long bodies have several facets along them, which can be sorted among those of others.
          const parts = Math.max(1, Math.min(12, Math.round(Math.abs(long) / (0.7 * widest))));
          const slope = (r0 - r) / Math.abs(long);
          last = last || ring(from, r0);
          for (let part = 1; part <= parts; part++) {
            const next = ring(from + long * part / parts, r0 + (r - r0) * part / parts);
            for (let k = 0; k < sides; k++) {
              const n = (k + 1) % sides, out = around[k].map((c, i) => c + around[n][i]);
              faces.push({ corners: [last[k], last[n], next[n], next[k]], normal: unit(unit(out).map((c, i) => c + axis[i] * slope * sign)) });
            }
            last = next;
          }
        }
      }
      before = [at, r];
    });
    return { joints, tint, corners, faces, xs: new Float32Array(corners.length), ys: new Float32Array(corners.length), near: new Float32Array(corners.length) };
  }
  // Whether a profile goes along its axis or against it.
  const direction = profile => Math.sign(profile[profile.length - 1][0] - profile[0][0]) || 1;

  // Colours of our own choice, near to those of the arms.
  const COLOURS = {
    body: { lwr: [238, 138, 52], other: [206, 211, 217] },
    cap: { cb3: [82, 143, 196], e_series: [140, 182, 210], large: [92, 104, 118], lwr: [84, 90, 98], other: [150, 157, 165] },
    gap: { other: [58, 64, 72] }, metal: { other: [158, 164, 171] }, tool: { other: [104, 112, 122] },
  };
  const LIGHT = unit([-0.45, 0.75, 0.6]), HALF = unit(LIGHT.map((c, i) => c + [0, 0, 1][i]));
  const shades = new Map();
  function shade(tint, series, [x, y, z]) {
    const lit = Math.max(0, x * LIGHT[0] + y * LIGHT[1] + z * LIGHT[2]), shine = Math.max(0, x * HALF[0] + y * HALF[1] + z * HALF[2]) ** 28;
    const bright = Math.round((0.6 + 0.5 * lit) * (0.74 + 0.26 * z) * 60), white = Math.round(shine * 8), key = `${tint}${series}${bright},${white}`;
    let found = shades.get(key);
    if (!found) {
      const base = COLOURS[tint][series] || COLOURS[tint].other;
      found = `rgb(${base.map(c => Math.round(Math.min(255, c * bright / 60 + white * 5))).join()})`;
      shades.set(key, found);
    }
    return found;
  }

  // Turns the bodies into the view: `camera` turns a vector to right, up and near; `to` brings a point to the screen.
  function turned(bodies, frames, to) {
    bodies.forEach(body => body.corners.forEach((corner, i) => { [body.xs[i], body.ys[i], body.near[i]] = to(place(frames[body.joints], corner)); }));
  }

  // Draws bodies that were turned. What is nearer covers what is farther, facet by facet.
  function draw(context, bodies, frames, camera, series) {
    const seen = [];
    bodies.forEach(body => {
      const m = multiply(camera, frames[body.joints].r);
      body.faces.forEach(face => {
        const normal = apply(m, face.normal);
        if (normal[2] <= 0.01) return;
        seen.push({ body, face, normal, near: face.corners.reduce((sum, i) => sum + body.near[i], 0) / face.corners.length + (body.tint === 'gap' ? 0.008 : 0) });
      });
    });
    seen.sort((a, b) => a.near - b.near);
    context.lineWidth = 0.8; context.lineJoin = 'round'; context.setLineDash([]);
    seen.forEach(({ body, face, normal }) => {
      context.beginPath();
      face.corners.forEach((i, k) => k ? context.lineTo(body.xs[i], body.ys[i]) : context.moveTo(body.xs[i], body.ys[i]));
      context.closePath();
      // The edge closes the gap that smoothing leaves to the neighbour.
      context.fillStyle = context.strokeStyle = shade(body.tint, series, normal);
      context.fill(); context.stroke();
    });
  }

  // The outlines of all bodies filled in one colour: a shadow, or a ghost.
  function silhouette(context, bodies, fill) {
    context.fillStyle = context.strokeStyle = fill; context.lineWidth = 0.8; context.setLineDash([]);
    bodies.forEach(body => {
      const points = hull(body.corners.map((_, i) => [body.xs[i], body.ys[i]]));
      context.beginPath(); points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y)); context.closePath();
      context.fill(); context.stroke();
    });
  }

  // The convex hull of points in a plane (Andrew's monotone chain).
  function hull(points) {
    const sorted = points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const half = list => {
      const chain = [];
      list.forEach(p => {
        while (chain.length > 1) {
          const [a, b] = chain.slice(-2);
          if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
          chain.pop();
        }
        chain.push(p);
      });
      return chain.slice(0, -1);
    };
    return [...half(sorted), ...half([...sorted].reverse())];
  }

  return { facets, posture, place, apply, turned, draw, silhouette };
})();
