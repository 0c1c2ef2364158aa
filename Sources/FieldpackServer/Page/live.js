// Follows what happens in the file: features that others change, devices that move, detections.

import * as L from './leaflet/leaflet.esm.min.js';
import { address } from './api.js';
import { at, element, report, text } from './dom.js';

const edits = ['created', 'updated', 'deleted', 'changed'];
const detections = ['entered', 'left', 'crossed', 'dwelled', 'started', 'moved'];
/** Words of detections in messages. */
const told = ['entered', 'left', 'crossed', 'dwelled'];
/** Milliseconds between two drawings of a layer. */
const pause = 120;
/** A device that has sent nothing for so long is drawn pale. */
const old = 15 * 60 * 1000;

export function follow(page) {
  const devices = new Devices(page);
  const waiting = new Map();
  const source = new EventSource(address(['events'], { last: 1 }));
  const light = at('live');
  const lit = (isOn, words) => {
    light.hidden = false;
    light.classList.toggle('on', isOn);
    light.textContent = words;
  };
  source.onopen = () => lit(true, 'live');
  source.onerror = () => {
    // A browser connects again by itself, unless the server has no events.
    if (source.readyState === EventSource.CLOSED) light.hidden = true;
    else lit(false, 'not connected');
  };
  const take = (kind, message) => {
    let event;
    try { event = JSON.parse(message.data); } catch { return; }
    const id = decodeURIComponent(event.source?.split('/').pop() ?? '');
    const layer = page.layers.find(layer => layer.id === id);
    if (!layer) return;
    if (edits.includes(kind)) {
      if (!waiting.has(layer)) waiting.set(layer, new Redraw(page, layer));
      waiting.get(layer).add(event.data?.id ?? null);
    }
    if (kind !== 'deleted') devices.take(kind, event);
  };
  for (const kind of [...edits, ...detections, 'inside', 'outside', 'position']) {
    source.addEventListener(kind, message => take(kind, message));
  }
  window.addEventListener('pagehide', () => source.close());
}

/** Draws a layer anew at once; what changes meanwhile is drawn together by the next drawing. */
class Redraw {
  constructor(page, layer) {
    this.page = page;
    this.layer = layer;
    this.ids = new Set();
    this.isAsked = this.isBusy = false;
  }

  add(id) {
    if (id !== null) this.ids.add(id);
    this.isAsked = true;
    if (!this.isBusy) this.draw();
  }

  async draw() {
    this.isBusy = true;
    while (this.isAsked) {
      const ids = this.ids;
      this.ids = new Set();
      this.isAsked = false;
      for (const id of ids) this.page.details.renew(this.layer, id);
      await this.page.changed(this.layer);
      await new Promise(resolve => setTimeout(resolve, pause));
    }
    this.isBusy = false;
  }
}

/** The newest position of each device, as a marker that moves. */
class Devices {
  constructor(page) {
    this.page = page;
    this.markers = new Map();
    setInterval(() => this.fade(), 30000);
  }

  take(kind, event) {
    const feature = event.data;
    const { properties, geometry } = feature ?? {};
    const device = properties?.device;
    if (device === undefined || device === null || geometry?.type !== 'Point') return;
    const time = Date.parse(event.time ?? '') || Date.now();
    if (told.includes(kind)) {
      const region = text(properties.region ?? properties.region_name ?? properties.region_id);
      report(`${text(device)} ${kind} ${region}`.trim(), { key: `device ${device}`, seconds: 8 });
    }
    const known = this.markers.get(device);
    if (known && known.time > time) return;
    const place = [geometry.coordinates[1], geometry.coordinates[0]];
    if (known) {
      known.marker.setLatLng(place);
      known.time = time;
    } else {
      const box = element('div', { class: 'device' }, element('span', {}, text(device)));
      const icon = L.divIcon({ html: box, className: '', iconSize: null, iconAnchor: [9, 9] });
      const marker = L.marker(place, { icon, alt: text(device), zIndexOffset: 500 })
        .addTo(this.page.map);
      this.markers.set(device, { marker, box, time });
    }
    this.fade();
  }

  fade() {
    for (const { box, time } of this.markers.values()) {
      box.classList.toggle('old', Date.now() - time > old);
    }
  }
}
