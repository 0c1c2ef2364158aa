// What an item holds: its picture, marks of its parts, notes, and what can be done with it.

import { act, place, send } from './act.js';
import { ask, open, shut, submits } from './dialog.js';
import { button, element } from './dom.js';
import { setUp } from './setup.js';

export function showItem(page, item) {
  const person = page.rows.get(item.person)?.person;
  const form = element('form', { method: 'dialog', class: 'column' });
  if (item.hasData) {
    const source = `${place('items', item.id, 'data')}?${item.captureId}`;
    form.append(item.isPicture
      ? element('img', { src: source, alt: `What was captured: ${item.title}`, class: 'large' })
      : element('p', {}, element('a', { href: source, download: true }, `Download (${item.contentType})`)));
  }
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
  form.append(element('div', { class: 'end' }, ...actions(page, person, item),
    button('Close', shut), page.isWritable ? element('button', { type: 'submit' }, 'Save') : null)
  );
  submits(form, () => send('PATCH', place('items', item.id),
    { annotations: flags.map(box => box.checked), notes: notes.value }));
  open(item.title, form);
}

function actions(page, person, item) {
  if (!page.isWritable) return [];
  const move = step => () => {
    shut();
    act('PATCH', place('items', item.id), { index: item.index + step });
  };
  return [
    button('←', move(-1), { disabled: item.index === 0, 'aria-label': 'Move to the left' }),
    button('→', move(1), {
      disabled: item.index + 1 >= (person?.items.length ?? 0), 'aria-label': 'Move to the right',
    }),
    button('Set up', () => { shut(); setUp(page, person, item); }),
    button('Clear', () => ask('Clear this image?', 'Clear',
      () => act('POST', place('items', item.id, 'clear'))), { disabled: !item.hasData }),
    button('Delete', () => ask(`Delete ${item.title}?`, 'Delete',
      () => act('DELETE', place('items', item.id)))),
  ];
}
