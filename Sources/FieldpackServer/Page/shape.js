// A geometry that is drawn and changed on the map: a handle at each corner.

import * as L from './leaflet/leaflet.esm.min.js';

/** The most handles on the map, which more of them would hide; after a zoom the others are shown. */
const mostHandles = 300;

/** The corners of a geometry as lists; rings without their last position, which is the first again. */
export function pathsOf(geometry) {
  const open = (points, part = 0) => ({ points, part, isRing: false });
  const ring = (points, part) => ({ points: points.slice(0, -1), part, isRing: true });
  const { type, coordinates } = geometry ?? {};
  switch (type) {
    case 'Point': return [open([coordinates])];
    case 'MultiPoint': return coordinates.map((point, part) => open([point], part));
    case 'LineString': return [open(coordinates)];
    case 'MultiLineString': return coordinates.map(open);
    case 'Polygon': return coordinates.map(points => ring(points, 0));
    case 'MultiPolygon':
      return coordinates.flatMap((rings, part) => rings.map(points => ring(points, part)));
    default: return null;
  }
}

/** The geometry of a type that has these corners; `null` where they are too few. */
export function geometryOf(type, paths) {
  const least = /Point/.test(type) ? 1 : /Line/.test(type) ? 2 : 3;
  const whole = paths.filter(path => path.points.length >= least);
  if (!whole.length) return null;
  const parts = new Map();
  for (const { points, part, isRing } of whole) {
    if (!parts.has(part)) parts.set(part, []);
    parts.get(part).push(isRing ? [...points, points[0]] : points);
  }
  const lists = [...parts.values()];
  switch (type) {
    case 'Point': return { type, coordinates: lists[0][0][0] };
    case 'MultiPoint': return { type, coordinates: lists.map(list => list[0][0]) };
    case 'LineString': return { type, coordinates: lists[0][0] };
    case 'MultiLineString': return { type, coordinates: lists.map(list => list[0]) };
    case 'Polygon': return { type, coordinates: lists[0] };
    default: return { type, coordinates: lists };
  }
}

/** The type of GeoJSON that a layer takes; `null` for those that are not drawn here, such as curves. */
export function typeOf(layer) {
  return {
    POINT: 'Point', MULTIPOINT: 'MultiPoint', LINESTRING: 'LineString',
    MULTILINESTRING: 'MultiLineString', POLYGON: 'Polygon', MULTIPOLYGON: 'MultiPolygon',
  }[layer.geometry] ?? null;
}

/** The position of a place on the map, in GeoJSON. */
function positionOf(place) {
  const { lat, lng } = place.wrap();
  return [+lng.toFixed(8), +lat.toFixed(8)];
}

export class Shape {
  /** @param changed called after each change */
  constructor(map, type, geometry, changed) {
    Object.assign(this, { map, type, changed, steps: [], isDrawing: false });
    this.paths = pathsOf(geometry) ?? [];
    this.group = L.layerGroup().addTo(map);
    this.show = this.show.bind(this);
    map.on('moveend', this.show);
    this.show();
  }

  get geometry() { return geometryOf(this.type, this.paths); }

  close() {
    this.finish();
    this.map.off('moveend', this.show);
    this.group.remove();
  }

  // Changes

  /** Does something with the corners that can be undone. */
  alter(action) {
    this.steps.push(structuredClone(this.paths));
    action();
    this.show();
    this.changed();
  }

  undo() {
    if (!this.steps.length) return false;
    this.paths = this.steps.pop();
    this.show();
    this.changed();
    return true;
  }

  /** Begins a new geometry, or another part of one with several. */
  begin() {
    this.isDrawing = true;
    this.drawn = null;
    this.map.doubleClickZoom.disable();
    this.map.getContainer().classList.add('drawing');
  }

  finish() {
    this.isDrawing = false;
    this.map.doubleClickZoom.enable();
    this.map.getContainer().classList.remove('drawing');
  }

  /** Adds a corner where somebody clicks while drawing. */
  add(place) {
    const point = positionOf(place);
    const last = this.drawn?.points.at(-1);
    // The second click of a double click.
    if (last && last[0] === point[0] && last[1] === point[1]) return this.finish();
    this.alter(() => {
      const isNew = !this.drawn || !this.paths.includes(this.drawn);
      if (isNew && !this.type.startsWith('Multi')) this.paths = [];
      if (isNew || /Point/.test(this.type)) {
        const part = this.paths.reduce((most, path) => Math.max(most, path.part), -1) + 1;
        this.drawn = { points: [], part, isRing: /Polygon/.test(this.type) };
        this.paths.push(this.drawn);
      }
      this.drawn.points.push(point);
    });
    if (this.type === 'Point') this.finish();
  }

  // Handles

  show() {
    this.group.clearLayers();
    const style = { color: '#e6007a', weight: 3, dashArray: '6 4', interactive: false };
    for (const path of this.paths) {
      const places = path.points.map(([x, y]) => [y, x]);
      if (places.length < 2) continue;
      this.group.addLayer(path.isRing ? L.polygon(places, style) : L.polyline(places, style));
    }
    const bounds = this.map.getBounds().pad(0.1);
    let left = mostHandles;
    for (const path of this.paths) {
      for (let index = 0; index < path.points.length; index++) {
        const [x, y] = path.points[index];
        if (!bounds.contains([y, x]) || left-- <= 0) continue;
        this.group.addLayer(this.handle(path, index));
        const next = path.points[index + 1] ?? (path.isRing ? path.points[0] : null);
        if (next && !/Point/.test(this.type) && path.points.length > 1 && !this.isDrawing) {
          this.group.addLayer(this.between(path, index, next));
        }
      }
    }
  }

  handle(path, index) {
    const [x, y] = path.points[index];
    const marker = L.marker([y, x], {
      draggable: true, zIndexOffset: 1000,
      icon: L.divIcon({ className: 'handle', iconSize: [16, 16] }),
      title: `Corner ${index + 1}: arrow keys move it, Delete removes it`,
    });
    const move = place => this.alter(() => {
      // Height and measure of the corner stay.
      path.points[index] = [...positionOf(place), ...path.points[index].slice(2)];
    });
    marker.on('dragend', () => move(marker.getLatLng()));
    marker.on('contextmenu', () => this.remove(path, index));
    marker.on('add', () => marker.getElement().addEventListener('keydown', event => {
      const step = event.shiftKey ? 10 : 1;
      const way = {
        ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
      }[event.key];
      if (way) {
        event.preventDefault();
        event.stopPropagation();
        move(this.map.unproject(this.map.project(marker.getLatLng()).add(way)));
        this.focus(index, path);
      } else if (event.key === 'Delete') {
        event.stopPropagation();
        this.remove(path, index);
      }
    }));
    marker.corner = { path, index };
    return marker;
  }

  focus(index, path) {
    this.group.eachLayer(layer => {
      if (layer.corner?.index === index && layer.corner.path === path) layer.getElement()?.focus();
    });
  }

  /** A handle in the middle of two corners that makes a new one. */
  between(path, index, next) {
    const [x, y] = path.points[index];
    const marker = L.marker([(y + next[1]) / 2, (x + next[0]) / 2], {
      draggable: true, keyboard: false,
      icon: L.divIcon({ className: 'handle between', iconSize: [12, 12] }),
    });
    const insert = () => this.alter(() => {
      const rest = path.points[index].slice(2).map((value, at) => (value + next[at + 2]) / 2);
      path.points.splice(index + 1, 0, [...positionOf(marker.getLatLng()), ...rest]);
    });
    marker.on('dragend click', insert);
    return marker;
  }

  remove(path, index) {
    this.alter(() => {
      path.points.splice(index, 1);
      this.paths = this.paths.filter(path => path.points.length);
    });
  }
}
