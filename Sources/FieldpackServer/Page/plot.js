// Columns of numbers over time, such as the motion of a device, and where on the map they are.

import * as L from './leaflet/leaflet.esm.min.js';
import { items, pages } from './api.js';
import { button, drawing, element, report } from './dom.js';

const most = 5000, width = 900, height = 80;
const colors = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9'];

/** A button that plots the layer of a table; hidden for layers without a time or numbers. */
export function plotButton(table) {
  return button('Plot', () => show(table), { id: 'plot', hidden: !table.layer.instant });
}

async function show(table) {
  const { layer, plot } = table;
  if (!plot.hidden) {
    plot.hidden = true;
    return;
  }
  try {
    const rows = await read(layer);
    const names = table.columns
      .filter(column => ['number', 'integer'].includes(column.type) && !column.isID)
      .map(column => column.name)
      .filter(name => rows.some(row => typeof row.properties[name] === 'number'));
    plot.hidden = false;
    plot.replaceChildren(...(names.length && rows.length
      ? names.map((name, index) => channel(table, rows, name, colors[index % colors.length]))
      : [element('p', {}, 'The layer has no numbers over time.')]));
  } catch (error) {
    report(error.message, { key: 'plot' });
  }
}

async function read(layer) {
  const rows = [];
  const url = items(layer, {
    limit: 1000, sortby: layer.instant, filter: layer.filter || null });
  for await (const page of pages(url)) {
    for (const feature of page.features) {
      const time = Date.parse(feature.properties[layer.instant]);
      if (Number.isFinite(time)) rows.push({ ...feature, time });
    }
    if (rows.length >= most) break;
  }
  return rows;
}

/** One column as a line over time. Where the pointer is, the map shows the place. */
function channel(table, rows, name, color) {
  const values = rows.filter(row => typeof row.properties[name] === 'number');
  const numbers = values.map(row => row.properties[name]);
  const low = numbers.reduce((a, b) => Math.min(a, b)), high = numbers.reduce((a, b) => Math.max(a, b));
  const [first, last] = [values[0].time, values.at(-1).time];
  const x = time => last > first ? (time - first) / (last - first) * width : width / 2;
  const y = value => high > low ? height - 4 - (value - low) / (high - low) * (height - 8) : height / 2;
  const points = values.map(row => `${x(row.time).toFixed(1)},${y(row.properties[name]).toFixed(1)}`);
  const picture = drawing('svg', {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `${name} from ${low} to ${high}`,
  }, drawing('polyline', {
    points: points.join(' '), fill: 'none', stroke: color, 'vector-effect': 'non-scaling-stroke',
  }));
  const told = element('figcaption', {}, `${name}: ${low} to ${high}`);
  picture.addEventListener('pointermove', event => {
    const box = picture.getBoundingClientRect();
    const time = first + (event.clientX - box.left) / box.width * (last - first);
    const near = values.reduce((a, b) =>
      Math.abs(b.time - time) < Math.abs(a.time - time) ? b : a);
    told.textContent = `${name}: ${near.properties[name]} at ${new Date(near.time).toISOString()}`;
    point(table, near);
  });
  picture.addEventListener('pointerleave', () => point(table, null));
  return element('figure', {}, told, picture);
}

function point(table, row) {
  table.pointer?.remove();
  if (row?.geometry?.type !== 'Point') return;
  const [longitude, latitude] = row.geometry.coordinates;
  table.pointer = L.circleMarker([latitude, longitude], {
    radius: 8, color: '#e6007a', interactive: false }).addTo(table.page.map);
}
