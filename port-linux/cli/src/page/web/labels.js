'use strict';
// The page's colours by the names of their properties, read from its style once for each colour scheme.
const colours = new Map();
function colour(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  }
  return colours.get(name);
}

// Texts on a canvas, none of which covers another or is cut off at the edge.
class Labels {
  constructor(context, width, height, font) { Object.assign(this, { context, width, height, boxes: [] }); context.font = font; this.size = parseFloat(font); context.textBaseline = 'middle'; }
  // The box of a text at a place: x, y of its middle line, and its alignment.
  box(text, [x, y, align]) {
    const w = this.context.measureText(text).width, h = this.size + 1;
    return [align === 'right' ? x - w : align === 'center' ? x - w / 2 : x, y - h / 2, w, h];
  }
  isFree([x, y, w, h]) {
    return x >= 0 && y >= 0 && x + w <= this.width && y + h <= this.height && this.boxes.every(([bx, by, bw, bh]) => x >= bx + bw || bx >= x + w || y >= by + bh || by >= y + h);
  }
  // Draws the text at the first of these places that is free, over `ground` if it is given; at none, it is left out.
  put(text, places, colour, ground = null) {
    const place = places.find(place => this.isFree(this.box(text, place)));
    if (!place) return null;
    const box = this.box(text, place), { context } = this;
    this.boxes.push(box);
    if (ground) { context.globalAlpha = 0.75; context.fillStyle = ground; context.fillRect(box[0] - 2, box[1], box[2] + 4, box[3]); context.globalAlpha = 1; }
    context.fillStyle = colour; context.textAlign = place[2]; context.fillText(text, place[0], place[1]);
    return place;
  }
  // The same, shortened until it fits.
  shortened(text, places, colour, ground) {
    let place = this.put(text, places, colour, ground);
    for (let length = text.length - 2; !place && length > 2; length -= 1) place = this.put(`${text.slice(0, length)}…`, places, colour, ground);
    return place;
  }
}
