// The attributes of a feature, in a popup on the map or beside it.

import * as L from './leaflet/leaflet.esm.min.js';
import { feature as fetchFeature, json, address } from './api.js';
import { button, element, report, text } from './dom.js';

/** The schema of a layer, fetched once: its columns in their order. */
export function schema(layer) {
  layer.schema ??= json(address(['collections', layer.id, 'schema'])).then(document => {
    const columns = Object.entries(document.properties).map(([name, value]) => ({ name, ...value }));
    const key = columns.find(column => column['x-ogc-role'] === 'id');
    return {
      id: key?.name ?? null,
      // Where the server gives no ids, a new feature brings its own.
      given: key && !key.readOnly ? [key] : [],
      geometry: columns.find(column => column['x-ogc-role'] === 'primary-geometry')?.name ?? null,
      required: new Set(document.required ?? []),
      columns: columns.filter(column => !['id', 'primary-geometry'].includes(column['x-ogc-role'])),
    };
  }).catch(error => {
    layer.schema = null;
    throw error;
  });
  return layer.schema;
}

/** What a feature is called. */
export const nameOf = (layer, id, properties) =>
  text(properties?.[layer.label]) || `${layer.title} ${id ?? ''}`;

export class Details {
  constructor(page) {
    this.page = page;
    this.popup = L.popup({ maxWidth: 320, minWidth: 180, autoPanPadding: [10, 10] });
    this.outline = null;
    this.shown = null;
    page.map.on('popupclose', event => { if (event.popup === this.popup) this.clear(); });
  }

  /**
   * Fetches a feature and shows it.
   *
   * @param place where the popup points to; `null` for the feature's own place
   * @param isZoomed whether the map moves to the feature
   */
  async show(layer, id, { place = null, isZoomed = false } = {}) {
    this.asking?.abort();
    const asking = this.asking = new AbortController();
    try {
      const [found, about] = await Promise.all([
        fetchFeature(layer, id, asking.signal), schema(layer)]);
      this.highlight(found.feature.geometry);
      if (isZoomed) this.zoom(false);
      this.shown = { layer, id, ...found };
      const bounds = this.outline?.getBounds();
      const where = place ?? (bounds?.isValid() ? this.middle(found.feature.geometry) : null)
        ?? this.page.map.getCenter();
      this.popup.setLatLng(where).setContent(this.content(layer, found, about))
        .openOn(this.page.map);
      this.popup.getElement().setAttribute('role', 'dialog');
      this.popup.getElement().setAttribute('aria-label', nameOf(layer, id, found.feature.properties));
    } catch (error) {
      if (error.name !== 'AbortError') report(error.message, { key: 'details' });
    }
  }

  content(layer, found, about) {
    const { id, properties } = found.feature;
    const list = element('dl', {});
    for (const column of about.columns) {
      const value = properties[column.name];
      list.append(
        element('dt', {}, column.title ?? column.name),
        element('dd', { class: value === null || value === undefined ? 'none' : null },
          value === null || value === undefined ? 'none' : text(value)));
    }
    const tools = element('div', { class: 'tools' },
      button('Zoom', () => this.zoom()));
    this.page.edit.addTools(tools, layer, found);
    return element('div', { class: 'details' },
      element('h2', {}, nameOf(layer, id, properties)),
      element('p', { class: 'faint' }, `${layer.title} · ${text(id)}`), list, tools);
  }

  highlight(geometry) {
    this.outline?.remove();
    this.outline = geometry && L.geoJSON(geometry, {
      interactive: false,
      style: { color: '#e6007a', weight: 4, fillOpacity: 0.1 },
      pointToLayer: (_, place) => L.circleMarker(place, {
        radius: 10, color: '#e6007a', weight: 4, fill: false, interactive: false,
      }),
    }).addTo(this.page.map);
  }

  zoom(animate = true) {
    const bounds = this.outline?.getBounds();
    if (!bounds?.isValid()) return;
    this.page.map.fitBounds(bounds, { maxZoom: 17, padding: [40, 40], animate });
  }

  /** A place on the feature that a popup can point to. */
  middle(geometry) {
    let positions = geometry?.coordinates ?? geometry?.geometries?.[0]?.coordinates;
    while (Array.isArray(positions?.[0]?.[0])) [positions] = positions;
    const position = Array.isArray(positions?.[0])
      ? positions[Math.floor(positions.length / 2)] : positions;
    return position?.length ? L.latLng(position[1], position[0]) : null;
  }

  /** Shows the feature anew that is shown, where it is the one that has changed. */
  async renew(layer, id) {
    if (this.shown?.layer !== layer || String(this.shown.id) !== String(id)) return;
    await this.show(layer, this.shown.id, { place: this.popup.getLatLng() });
  }

  clear() {
    this.asking?.abort();
    this.outline?.remove();
    this.outline = this.shown = null;
  }

  close() { this.page.map.closePopup(this.popup); }
}
