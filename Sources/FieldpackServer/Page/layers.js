// The panel of layers: which are shown, what they look like, and what can be done with them.

import { at, button, element, toggle } from './dom.js';
import { pictureRow } from './pictures.js';
import { legend, swatch } from './symbols.js';

export function fillLayers(page) {
  at('layers').replaceChildren(
    element('h2', {}, 'Layers'),
    element('ul', {}, ...page.layers.map(layer => row(page, layer)),
      ...page.pictures.map(picture => pictureRow(page, picture))));
  at('show-layers').addEventListener('click', () => toggle('layers', at('layers').hidden));
  // On a phone the map comes first.
  toggle('layers', window.innerWidth > 600);
}

function row(page, layer) {
  const parts = [];
  if (layer.tiles) {
    const box = element('input', { type: 'checkbox', checked: true, onchange: () => {
      if (box.checked) page.map.addLayer(layer.tiles);
      else page.map.removeLayer(layer.tiles);
    } });
    const only = layer.theme.symbols.length === 1 ? layer.theme.symbols[0] : null;
    parts.push(element(
      'label', {}, box, only && swatch(only, layer.geometry), element('span', {}, layer.title)));
  } else {
    parts.push(element('span', { class: 'name' }, layer.title));
  }
  const tools = element('span', { class: 'tools' });
  if (layer.bbox && layer.tiles) {
    tools.append(button('Zoom', () => page.zoomTo(layer), {
      'aria-label': `Zoom to ${layer.title}` }));
  }
  tools.append(button('Table', () => page.openTable(layer), {
    'aria-label': `Table of ${layer.title}` }));
  const add = button('Add', () => page.edit.create(layer), {
    'aria-label': `Add a feature to ${layer.title}`, hidden: true });
  tools.append(add);
  page.edit.mayCreate(layer).then(may => { add.hidden = !may; });
  parts.push(tools);
  const key = legend(layer.theme, layer);
  if (key && layer.tiles) parts.push(key);
  return element('li', { 'data-layer': layer.id }, ...parts);
}
