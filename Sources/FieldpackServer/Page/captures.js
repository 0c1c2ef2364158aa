// Captures: pictures and videos with their places, to look at and to play.

import * as L from './leaflet/leaflet.esm.min.js';
import { address, json } from './api.js';
import { at, button, element, report, text, toggle } from './dom.js';

const atATime = 50;

/** Shows a button for the captures, where the file has any. */
export async function openCaptures(page) {
  let first;
  try { first = await list(0); } catch { return; }
  if (!first.captures?.length) return;
  const open = at('show-captures');
  open.hidden = false;
  const captures = new Captures(page, first);
  open.addEventListener('click', () => {
    toggle('captures', at('captures').hidden);
    captures.fill();
  });
}

const list = offset => json(address(['captures'], { limit: atATime, offset }));

const titleOf = info => text(info.title) || text(info.token);

class Captures {
  constructor(page, first) {
    this.page = page;
    this.list = element('ul', {});
    this.player = element('div', {});
    this.more = button('More', () => this.take(), { hidden: !first.next });
    this.count = first.captures.length;
    this.list.append(...first.captures.map(info => this.row(info)));
  }

  fill() {
    at('captures').replaceChildren(
      element('h2', {}, 'Captures'),
      button('Close', () => { this.stop(); toggle('captures', false); }),
      this.player, this.list, this.more);
  }

  async take() {
    try {
      const page = await list(this.count);
      this.count += page.captures.length;
      this.list.append(...page.captures.map(info => this.row(info)));
      this.more.hidden = !page.next;
    } catch (error) {
      report(error.message, { key: 'captures' });
    }
  }

  row(info) {
    const picture = element('img', {
      src: address(['captures', info.token, 'thumbnail']), alt: '', loading: 'lazy', width: 120,
      onerror: event => event.currentTarget.remove(),
    });
    return element('li', {},
      button(titleOf(info), () => this.play(info)), picture);
  }

  /** Shows the picture or the video, and where it was made; while a video plays, where the device was. */
  async play(info) {
    this.stop();
    const url = address(['captures', info.token, 'media']);
    try {
      const whole = await json(address(['captures', info.token]));
      const file = whole.files?.find(file => file.role === 'media');
      const medium = file?.content_type?.startsWith('video/')
        ? element('video', { src: url, controls: true, preload: 'metadata' })
        : element('img', { src: url, alt: titleOf(info) });
      this.player.replaceChildren(medium, element('p', {}, titleOf(info)));
      const points = placesOf(whole.geodata);
      if (!points.length) return;
      this.track = L.polyline(points.map(point => point.place), {
        color: '#e6007a', weight: 3, interactive: false }).addTo(this.page.map);
      this.marker = L.circleMarker(points[0].place, {
        radius: 9, color: '#e6007a', interactive: false }).addTo(this.page.map);
      if (points.length > 1) this.page.map.fitBounds(this.track.getBounds(), { maxZoom: 18 });
      else this.page.map.setView(points[0].place, Math.max(this.page.map.getZoom(), 16));
      medium.addEventListener('timeupdate', () => this.follow(points, medium.currentTime));
    } catch (error) {
      report(error.message, { key: 'captures' });
    }
  }

  /** @param seconds of the video */
  follow(points, seconds) {
    const now = points.findLast(point => point.time <= seconds) ?? points[0];
    this.marker?.setLatLng(now.place);
  }

  stop() {
    this.track?.remove();
    this.marker?.remove();
    this.track = this.marker = null;
    this.player.replaceChildren();
  }
}

/** The places of a capture with their seconds since the medium begins. */
function placesOf(geodata) {
  return (geodata?.points ?? []).map(({ coords, timestamp }) => ({
    place: coords.map(Number), time: Number(timestamp),
  })).filter(({ place }) => place.length === 2 && place.every(Number.isFinite));
}
