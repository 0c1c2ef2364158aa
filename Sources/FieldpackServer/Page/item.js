// What an item holds: its picture or what its sensor sees, marks of its parts, notes, and what can be done
// with it.

import { act, place, send } from './act.js';
import { ask, open, shut, submits } from './dialog.js';
import { button, element } from './dom.js';
import { preview } from './preview.js';
import { setUp } from './setup.js';

export function showItem(page, item) {
  const panel = new Panel(page, item);
  page.panel = panel;
  panel.signal.addEventListener('abort', () => {
    if (page.panel === panel) page.panel = null;
  });
}

class Panel {
  constructor(page, item) {
    Object.assign(this, { page, item });
    const form = element('form', { method: 'dialog', class: 'column' });
    this.picture = element('div', { class: 'column' });
    this.words = element('p', { class: 'words', role: 'status' });
    this.capture = button('', () => act('POST', place('items', item.id, 'tap')),
      { class: 'capture' });
    form.append(this.picture, this.words);
    form.append(element('p', { class: 'faint' }, item.device
      ? `Sensor: ${[item.device.name, item.device.uri].filter(text => text).join(', ')}`
      : 'There is no sensor behind this item.'));
    const flags = item.parts.map((part, index) => {
      const box = element('input', { type: 'checkbox', checked: item.annotations[index] });
      form.append(element('label', { class: 'flag' }, box, part ? `${part} missing` : 'Missing'));
      return box;
    });
    const notes = element('textarea', { rows: 3 }, item.notes ?? '');
    form.append(element('label', {}, 'Notes', notes));
    this.clear = button('Clear', () => ask('Clear this image?', 'Clear',
      () => act('POST', place('items', item.id, 'clear'))));
    form.append(element('div', { class: 'end' }, ...this.actions(), button('Close', shut),
      page.isWritable ? element('button', { type: 'submit' }, 'Save') : null));
    const before = { marks: flags.map(box => box.checked), notes: notes.value };
    submits(form, () => this.save(before, flags.map(box => box.checked), notes.value));
    this.signal = open(item.title, form);
    this.take(item);
  }

  /** Sends what the user has changed. The rest may be what others have written meanwhile. */
  async save(before, marks, notes) {
    const body = {};
    if (marks.some((mark, index) => mark !== before.marks[index])) {
      const { annotations } = this.item;
      body.annotations = marks.map((mark, index) =>
        (mark !== before.marks[index] ? mark : Boolean(annotations[index])));
    }
    if (notes !== before.notes) body.notes = notes;
    if (Object.keys(body).length > 0) await send('PATCH', place('items', this.item.id), body);
  }

  /** Shows the item as it is now. What the user has typed stays. */
  take(item) {
    this.item = item;
    this.words.textContent = item.words;
    this.clear.disabled = !item.hasData;
    this.capture.hidden = !item.device || !this.page.isWritable || item.state === 'inactive';
    this.capture.disabled = item.state.startsWith('waiting');
    this.capture.textContent = item.state === 'stop' ? 'Stop'
      : item.state === 'warning' ? 'Connect again' : 'Capture';
    const isLive = !item.hasData && item.device && this.page.isWritable;
    const shown = item.hasData ? `${item.captureId} ${item.contentType}`
      : isLive ? `live ${item.device.uri} ${item.device.name}` : '';
    if (this.shown === shown) return;
    this.shown = shown;
    this.live?.abort();
    this.live = null;
    this.picture.replaceChildren();
    if (item.hasData) this.picture.append(this.data());
    if (isLive) this.look();
  }

  data() {
    const { item } = this;
    const source = `${place('items', item.id, 'data')}?${item.captureId}`;
    return item.isPicture
      ? element('img', { src: source, alt: `What was captured: ${item.title}`, class: 'large' })
      : element('p', {},
        element('a', { href: source, download: true }, `Download (${item.contentType})`));
  }

  /** Shows what the sensor sees for as long as the panel is open and the item has no data. */
  look() {
    const live = this.live = new AbortController();
    this.signal.addEventListener('abort', () => live.abort(), { once: true });
    this.picture.append(
      preview(place('items', this.item.id, 'preview'), this.item.title, live.signal));
  }

  actions() {
    const { page, item } = this;
    if (!page.isWritable) return [];
    const count = page.rows.get(item.person)?.person.items.length ?? 0;
    const move = step => () => {
      shut();
      act('PATCH', place('items', item.id), { index: this.item.index + step });
    };
    const setting = start => () => setUp(page, page.rows.get(item.person)?.person, this.item, start);
    return [
      this.capture,
      button('←', move(-1), { disabled: item.index === 0, 'aria-label': 'Move to the left' }),
      button('→', move(1), {
        disabled: item.index + 1 >= count, 'aria-label': 'Move to the right',
      }),
      button('Set up', setting('modality')), button('Change the sensor', setting('device')),
      this.clear,
      button('Delete', () => ask(`Delete ${item.title}?`, 'Delete',
        () => act('DELETE', place('items', item.id)))),
    ];
  }
}
