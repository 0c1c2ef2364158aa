// The page: the map with its layers, and what opens what.

import * as L from './leaflet/leaflet.esm.min.js';
import { address, json } from './api.js';
import { openCaptures } from './captures.js';
import { Details, nameOf } from './details.js';
import { at, element, gather } from './dom.js';
import { Edit } from './edit.js';
import { fillLayers } from './layers.js';
import { follow } from './live.js';
import { showPictures } from './pictures.js';
import { themeOf } from './symbols.js';
import { Table } from './table.js';
import { VectorTiles } from './tiles.js';

export async function begin() {
  const document_ = await json(address(['map', 'layers']));
  document.title = at('title').textContent = document_.title;
  const page = new Page(document_.layers, document_.pictures ?? []);
  // Tests and the console of a browser reach the page by this name.
  window.fieldpack = page;
  fillLayers(page);
  follow(page);
  openCaptures(page);
}

class Page {
  constructor(layers, pictures) {
    this.layers = layers;
    this.pictures = pictures;
    this.map = L.map('map', {
      attributionControl: false, maxZoom: 22, worldCopyJump: true,
      fadeAnimation: false, zoomAnimation: !matchMedia('(prefers-reduced-motion)').matches,
    });
    L.control.scale().addTo(this.map);
    this.details = new Details(this);
    this.table = new Table(this);
    this.edit = new Edit(this);
    layers.forEach((layer, place) => {
      layer.theme = themeOf(layer, place);
      layer.ids = layer.filter = null;
      if (layer.hasTiles) layer.tiles = new VectorTiles(layer, { zIndex: depth(layer) + place });
    });
    this.begin();
    showPictures(this);
    for (const layer of layers) layer.tiles?.addTo(this.map);
    this.listen();
  }

  /** The view of the address, else all layers, else all pictures. */
  begin() {
    const [zoom, latitude, longitude] = location.hash.slice(1).split('/').map(Number);
    if ([zoom, latitude, longitude].every(Number.isFinite)) {
      this.map.setView([latitude, longitude], zoom);
      return;
    }
    const bounds = L.latLngBounds([]);
    for (const layer of this.layers) if (layer.bbox) bounds.extend(boundsOf(layer));
    if (!bounds.isValid()) for (const picture of this.pictures) bounds.extend(boundsOf(picture));
    if (bounds.isValid()) this.map.fitBounds(bounds, { maxZoom: 18, padding: [20, 20] });
    else this.map.setView([0, 0], 1);
  }

  listen() {
    const { map } = this;
    map.on('moveend', () => {
      const { lat, lng } = map.getCenter();
      history.replaceState(
        null, '', `#${map.getZoom()}/${lat.toFixed(5)}/${lng.toFixed(5)}`);
    });
    map.on('click', event => { if (!this.edit.click(event.latlng)) this.identify(event.latlng); });
    let pointer = null;
    const hover = gather(40, () => this.hover(pointer));
    map.on('mousemove', event => { pointer = event.latlng; hover(); });
    map.on('mouseout', () => { pointer = null; hover(); });
    const box = map.getContainer();
    // The middle is marked for whoever moves the map with keys.
    for (const type of ['blur', 'pointerdown']) {
      box.addEventListener(type, () => { at('cross').hidden = true; });
    }
    box.addEventListener('keydown', event => {
      if (event.target !== box) return;
      at('cross').hidden = false;
      if (event.key !== 'Enter') return;
      if (!this.edit.click(map.getCenter())) this.identify(map.getCenter());
    });
    box.addEventListener('keyup', event => {
      if (event.target === box && event.key === 'Tab') at('cross').hidden = false;
    });
    document.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (this.edit.isOpen) this.edit.escape();
      else if (this.details.shown) this.details.close();
      else if (!at('table').hidden) this.table.close();
    });
    window.addEventListener('online', () => {
      for (const layer of [...this.layers, ...this.pictures]) {
        if (this.isShown(layer)) layer.tiles.refresh();
      }
    });
  }

  isShown(layer) { return Boolean(layer.tiles && this.map.hasLayer(layer.tiles)); }

  /** The features at a place, the topmost first. */
  hits(place) {
    return this.layers.filter(layer => this.isShown(layer)).reverse()
      .flatMap(layer => layer.tiles.hits(place).map(feature => ({ layer, feature })))
      .sort((a, b) => a.feature.type - b.feature.type);
  }

  identify(place) {
    const hit = this.hits(place).find(({ feature }) => feature.id !== null);
    if (!hit) return this.details.close();
    this.table.mark(hit.feature.id);
    this.details.show(hit.layer, hit.feature.id, { place });
  }

  hover(place) {
    const [hit] = place && !this.edit.isDrawing ? this.hits(place) : [];
    this.map.getContainer().classList.toggle('on-feature', Boolean(hit));
    if (!hit) {
      this.tip?.remove();
      this.tip = null;
      return;
    }
    this.tip ??= L.tooltip({ direction: 'top', offset: [0, -8], className: 'tip' });
    // Leaflet reads a text as markup, and takes an element as it is.
    this.tip.setLatLng(place).setContent(element(
      'span', {}, nameOf(hit.layer, hit.feature.id, hit.feature.properties)));
    this.map.addLayer(this.tip);
  }

  zoomTo(layer) {
    this.map.fitBounds(boundsOf(layer), { maxZoom: 18, padding: [20, 20] });
  }

  openTable(layer) { return this.table.open(layer); }

  layerNamed(name) { return this.layers.find(layer => layer.name === name || layer.id === name); }

  /** Shows a layer as it is now, after somebody has changed it. */
  async changed(layer, id = null) {
    this.table.renew(layer);
    if (id !== null) this.details.renew(layer, id);
    if (this.isShown(layer)) await layer.tiles.refresh();
  }
}

/** Areas lie below lines, and lines below points. */
function depth(layer) {
  const places = { POLYGON: 100, LINE: 200, CURVE: 200, POINT: 300 };
  return Object.entries(places).find(([name]) => layer.geometry?.includes(name))?.[1] ?? 100;
}

function boundsOf(layer) {
  const [west, south, east, north] = layer.bbox;
  return L.latLngBounds([south, west], [north, east < west ? east + 360 : east]);
}
