// Pyramids of pictures, which lie below all layers.

import * as L from './leaflet/leaflet.esm.min.js';
import { address, ask } from './api.js';
import { button, element, report, retract } from './dom.js';

export const PictureTiles = L.GridLayer.extend({
  options: { maxZoom: 22, keepBuffer: 1, updateWhenZooming: false },

  /** @param picture a member of `pictures` in `/map/layers` */
  initialize(picture, options) {
    const [least, most] = picture.zooms;
    // The server would make tiles of lower zooms out of very many others.
    L.setOptions(this, { minZoom: Math.max(0, least - 2), maxNativeZoom: most, ...options });
    this.picture = picture;
    this.on('tileunload', event => event.tile.request?.abort());
  },

  createTile(coords, done) {
    // Browsers draw a frame around a picture that has no bytes yet.
    const tile = element('img', { class: 'picture-tile', alt: '', hidden: true });
    tile.coords = coords;
    // Leaflet would hide a tile for ever that was reported as an error.
    this.load(tile).then(() => done(null, tile));
    return tile;
  },

  async load(tile) {
    tile.request?.abort();
    const request = tile.request = new AbortController();
    const { x, y, z } = tile.coords;
    const { id, title } = this.picture;
    const key = `pictures ${id}`;
    try {
      const response = await ask(address(
        ['collections', id, 'map', 'tiles', 'WebMercatorQuad', String(z), String(y), String(x)]),
      { signal: request.signal });
      // A status 204 says that the pyramid has no picture there.
      if (response.status !== 204) await show(await response.blob(), tile);
      tile.isMissing = false;
    } catch (error) {
      if (error.name === 'AbortError') return;
      tile.isMissing = true;
      report(`A tile of ${title} is missing. ${error.message}`, {
        key, again: () => this.refresh(),
      });
      return;
    }
    if (!Object.values(this._tiles).some(({ el }) => el.isMissing)) retract(key);
  },

  /** Asks for the tiles again that did not come. */
  async refresh() {
    await Promise.all(Object.values(this._tiles)
      .filter(({ el }) => el.isMissing).map(({ el }) => this.load(el)));
  },
});

async function show(blob, tile) {
  const source = URL.createObjectURL(blob);
  tile.src = source;
  try {
    await tile.decode();
    tile.hidden = false;
  } finally {
    URL.revokeObjectURL(source);
  }
}

/** Puts the pictures on the map: those of large areas lie below those of small ones. */
export function showPictures(page) {
  const size = ({ bbox: [west, south, east, north] }) =>
    ((east - west + 360) % 360 || 360) * (north - south);
  const ordered = [...page.pictures].sort((a, b) => size(b) - size(a));
  ordered.forEach((picture, place) => {
    picture.tiles = new PictureTiles(picture, { zIndex: 1 + place });
    page.map.addLayer(picture.tiles);
  });
  if (!page.pictures.some(picture => picture.description)) return;
  const credits = L.control({ position: 'bottomright' });
  credits.onAdd = () => element('div', { class: 'credits', role: 'note' });
  page.map.addControl(credits);
  const tell = () => {
    credits.getContainer().textContent = page.pictures
      .filter(({ tiles, description }) => description && page.map.hasLayer(tiles))
      .map(({ description }) => plain(description)).join(' · ');
  };
  page.map.on('layeradd layerremove', tell);
  tell();
}

/** The text of a description, which may have markup, as the attribution of MBTiles has. */
function plain(text) {
  return new DOMParser().parseFromString(text, 'text/html').body.textContent.trim();
}

/** A line of the panel of layers: whether the picture is shown, and how much shines through. */
export function pictureRow(page, picture) {
  const box = element('input', { type: 'checkbox', checked: true, onchange: () => {
    if (box.checked) page.map.addLayer(picture.tiles);
    else page.map.removeLayer(picture.tiles);
    slider.disabled = !box.checked;
  } });
  const slider = element('input', {
    type: 'range', min: 0, max: 100, value: 100, step: 5, 'aria-label': `Opacity of ${picture.title}`,
    oninput: () => picture.tiles.setOpacity(slider.value / 100),
  });
  return element('li', { 'data-picture': picture.id },
    element('label', {}, box, element('span', {}, picture.title)),
    element('span', { class: 'tools' }, button('Zoom', () => page.zoomTo(picture), {
      'aria-label': `Zoom to ${picture.title}` })),
    slider);
}
