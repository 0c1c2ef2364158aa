// How features are drawn: the symbols of a layer, and lines, areas and points on a canvas.

import { drawing, element } from './dom.js';

/** After Okabe and Ito, for layers without a style. */
const palette = [
  '#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#882255', '#999933',
];

const plain = (color, label = '') => ({
  label, stroke: color, strokeOpacity: 1, width: 2, fill: color, fillOpacity: 0.3, point: color,
});

/** What the features of a layer look like. `place` is that of the layer among all. */
export function themeOf(layer, place) {
  const style = layer.style ?? { symbols: [plain(palette[place % palette.length])] };
  const rest = plain('#8a8a8a', 'other');
  return {
    attribute: style.attribute ?? null,
    symbols: style.symbols,
    /** The columns that a tile must have. */
    columns: [...new Set([
      style.attribute, layer.label, layer.radius, ...(layer.ownColors ?? [])].filter(Boolean))],
    pick(properties) {
      if (!layer.style && layer.ownColors) {
        const own = ownSymbol(properties);
        if (own) return own;
      }
      if (!style.attribute) return style.symbols[0] ?? rest;
      const value = properties[style.attribute] ?? null;
      return style.symbols.find(symbol => matches(symbol, value))
        ?? style.symbols.find(symbol => symbol.value === '') ?? rest;
    },
  };
}

function matches(symbol, value) {
  if (symbol.range) {
    const number = value === null || value === '' ? NaN : Number(value);
    return symbol.range[0] <= number && number <= symbol.range[1];
  }
  if (symbol.value === undefined) return true;
  if (symbol.value === '' || value === null) return false;
  return symbol.value === String(value)
    || (typeof value === 'number' && Number(symbol.value) === value);
}

/** The colours that a feature names itself. */
function ownSymbol(properties) {
  const color = name => /^#[0-9a-f]{3,6}$/i.test(properties[name] ?? '') ? properties[name] : null;
  const [line, area, point] = ['stroke', 'fill', 'marker-color'].map(color);
  const any = line ?? area ?? point;
  if (!any) return null;
  const number = (name, usual) => {
    const value = Number(properties[name] ?? NaN);
    return Number.isFinite(value) ? value : usual;
  };
  return {
    label: '', stroke: line ?? any, strokeOpacity: number('stroke-opacity', 1),
    width: Math.min(number('stroke-width', 2), 100), fill: area ?? any,
    fillOpacity: number('fill-opacity', 0.5), point: point ?? any,
  };
}

// Drawing

function trace(context, part, scale) {
  context.moveTo(part[0] * scale, part[1] * scale);
  for (let index = 2; index < part.length; index += 2) {
    context.lineTo(part[index] * scale, part[index + 1] * scale);
  }
}

/**
 * Draws a feature of a tile.
 *
 * @param scale pixels of the canvas for a unit of the tile
 * @param dot pixels of the canvas for a pixel of the screen
 * @param radius of points in pixels of the canvas, for circles that stand for metres
 */
export function draw(context, feature, symbol, scale, dot, radius = null) {
  context.beginPath();
  if (feature.type === 1) {
    const size = radius ?? 5 * dot;
    for (const part of feature.parts) {
      for (let index = 0; index < part.length; index += 2) {
        const [x, y] = [part[index] * scale, part[index + 1] * scale];
        context.moveTo(x + size, y);
        context.arc(x, y, size, 0, 2 * Math.PI);
      }
    }
    context.globalAlpha = radius === null ? 1 : symbol.fillOpacity;
    context.fillStyle = symbol.point;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = dot * (radius === null ? 1.5 : 2);
    context.strokeStyle = radius === null ? '#fff' : symbol.point;
    context.stroke();
    return;
  }
  for (const part of feature.parts) trace(context, part, scale);
  if (feature.type === 3) {
    context.globalAlpha = symbol.fillOpacity;
    context.fillStyle = symbol.fill;
    context.fill('evenodd');
  }
  context.globalAlpha = symbol.strokeOpacity;
  context.lineWidth = symbol.width * dot;
  context.lineJoin = context.lineCap = 'round';
  context.strokeStyle = symbol.stroke;
  context.stroke();
  context.globalAlpha = 1;
}

// Legend

/** A small picture of a symbol. */
export function swatch(symbol, geometry) {
  const picture = drawing('svg', { class: 'swatch', viewBox: '0 0 20 14', 'aria-hidden': 'true' });
  if (/POINT/.test(geometry)) {
    picture.append(drawing('circle', { cx: 10, cy: 7, r: 5, fill: symbol.point, stroke: '#fff' }));
  } else if (/LINE|CURVE|CIRCULAR/.test(geometry) && !/POLYGON/.test(geometry)) {
    picture.append(drawing('path', {
      d: 'M2 12 8 4 12 9 18 2', fill: 'none', stroke: symbol.stroke,
      'stroke-width': Math.min(symbol.width, 5), 'stroke-opacity': symbol.strokeOpacity,
    }));
  } else {
    picture.append(drawing('rect', {
      x: 2, y: 2, width: 16, height: 10, fill: symbol.fill, 'fill-opacity': symbol.fillOpacity,
      stroke: symbol.stroke, 'stroke-opacity': symbol.strokeOpacity,
      'stroke-width': Math.min(symbol.width, 3),
    }));
  }
  return picture;
}

/** The symbols of a layer with their names; nothing where there is one alone. */
export function legend(theme, layer) {
  if (theme.symbols.length < 2) return null;
  return element('ul', { class: 'legend' }, ...theme.symbols.map(symbol => element(
    'li', {}, swatch(symbol, layer.geometry),
    element('span', {}, symbol.label || symbol.value || 'other'))));
}
