// Vector tiles of a layer, drawn on a canvas each.

import * as L from './leaflet/leaflet.esm.min.js';
import { address, ask } from './api.js';
import { report, retract } from './dom.js';
import { readTile } from './mvt.js';
import { draw } from './symbols.js';

const size = 256;
/** Metres of a pixel at the equator at zoom 0. */
const equator = 40075016.68557849 / size;

export const VectorTiles = L.GridLayer.extend({
  options: { maxNativeZoom: 22, maxZoom: 22, keepBuffer: 1, updateWhenZooming: false },

  /** @param layer of the page, with its theme */
  initialize(layer, options) {
    L.setOptions(this, options);
    this.layer = layer;
    this.on('tileunload', event => event.tile.loading?.abort());
  },

  createTile(coords, done) {
    const tile = L.DomUtil.create('canvas', 'vector-tile');
    const dot = window.devicePixelRatio || 1;
    tile.width = tile.height = size * dot;
    tile.coords = coords;
    tile.features = [];
    // Leaflet would hide a tile for ever that was reported as an error.
    this.load(tile).then(() => done(null, tile));
    return tile;
  },

  /** Fetches what a tile holds, and draws it. */
  async load(tile) {
    tile.loading?.abort();
    const loading = tile.loading = new AbortController();
    const { x, y, z } = tile.coords;
    const url = address(
      ['collections', this.layer.id, 'tiles', 'WebMercatorQuad', String(z), String(y), String(x)],
      { properties: this.layer.theme.columns.join(',') });
    const key = `tiles ${this.layer.id}`;
    try {
      const response = await ask(url, { signal: loading.signal });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const found = readTile(bytes)[0];
      tile.features = found?.features ?? [];
      tile.extent = found?.extent ?? 4096;
      tile.isMissing = false;
    } catch (error) {
      // The tile is wanted no more, or another request stands for this one.
      if (error.name === 'AbortError') return;
      // What is drawn stays until there is something newer.
      tile.isMissing = tile.features.length === 0;
      this.paint(tile);
      report(`A tile of ${this.layer.title} is missing. ${error.message}`, {
        key, again: () => this.refresh(),
      });
      return;
    }
    this.paint(tile);
    if (!Object.values(this._tiles).some(({ el }) => el.isMissing)) retract(key);
  },

  paint(tile) {
    const context = tile.getContext('2d');
    const dot = tile.width / size;
    context.clearRect(0, 0, tile.width, tile.height);
    if (tile.isMissing) return this.paintMissing(context, tile.width, dot);
    const scale = tile.width / tile.extent;
    for (const feature of tile.features) {
      if (this.layer.ids && !this.layer.ids.has(feature.id)) continue;
      draw(
        context, feature, this.layer.theme.pick(feature.properties), scale, dot,
        this.radius(tile, feature, scale));
    }
  },

  /** Pixels of a circle that stands for metres; `null` for other features. */
  radius(tile, feature, scale) {
    const metres = this.layer.radius ? feature.properties[this.layer.radius] : null;
    if (feature.type !== 1 || !(metres > 0)) return null;
    const { y, z } = tile.coords;
    const row = (y + feature.parts[0][1] / tile.extent) / 2 ** z;
    const latitude = Math.atan(Math.sinh(Math.PI * (1 - 2 * row)));
    return metres / (equator * Math.cos(latitude) / 2 ** z) * tile.width / size;
  },

  /** Stripes that look like no map. */
  paintMissing(context, width, dot) {
    context.strokeStyle = '#8888';
    context.lineWidth = dot;
    context.beginPath();
    for (let start = -width; start < width; start += 16 * dot) {
      context.moveTo(start, 0);
      context.lineTo(start + width, width);
    }
    context.stroke();
  },

  /** Draws all tiles again, as they are. */
  repaint() {
    for (const { el } of Object.values(this._tiles)) if (el.extent || el.isMissing) this.paint(el);
  },

  /** Asks for all tiles that are shown again; they stay until there are newer ones. */
  async refresh() {
    await Promise.all(Object.values(this._tiles).map(({ el }) => this.load(el)));
  },

  /** The features near a place, the topmost first: points before lines before areas. */
  hits(place) {
    const zoom = this._tileZoom;
    if (zoom === undefined || !this._map) return [];
    const point = this._map.project(place, zoom);
    const [x, y] = [Math.floor(point.x / size), Math.floor(point.y / size)];
    const tile = this._tiles[`${x}:${y}:${zoom}`]?.el;
    if (!tile?.extent) return [];
    const unit = tile.extent / size;
    const [px, py] = [(point.x - x * size) * unit, (point.y - y * size) * unit];
    return tile.features.filter(feature => (!this.layer.ids || this.layer.ids.has(feature.id))
      && isHit(feature, px, py, 7 * unit)).reverse().sort((a, b) => a.type - b.type);
  },
});

function isHit(feature, x, y, near) {
  if (feature.type === 1) {
    const part = feature.parts[0];
    for (let index = 0; index < part.length; index += 2) {
      if (Math.hypot(part[index] - x, part[index + 1] - y) <= near) return true;
    }
    return false;
  }
  let isInside = false;
  for (const part of feature.parts) {
    for (let index = 2; index < part.length; index += 2) {
      const [ax, ay, bx, by] = part.slice(index - 2, index + 2);
      if (feature.type === 2 && distance(x, y, ax, ay, bx, by) <= near) return true;
      if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) isInside = !isInside;
    }
  }
  return feature.type === 3 && isInside;
}

/** From a point to a segment. */
function distance(x, y, ax, ay, bx, by) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  return Math.hypot(ax + share * dx - x, ay + share * dy - y);
}
