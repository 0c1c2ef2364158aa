// Rows of persons, and the form of what is known of them.

import { act, place, send } from './act.js';
import { ask, open, shut, submits } from './dialog.js';
import { button, drawing, element } from './dom.js';
import { showItem } from './item.js';
import { setUp } from './setup.js';

export class PersonRow {
  constructor(page, person) {
    this.page = page;
    this.cells = new Map();
    this.name = element('h2');
    const tools = element('span', { class: 'tools' },
      button('Connect', () => act('POST', place('persons', this.person.id, 'select'))),
      button('Edit', () => editPerson(page, this.person)),
      button('Duplicate', () => act('POST', place('persons', this.person.id, 'duplicate'))),
      button('Delete', () => ask(
        `Delete ${this.title} with all that was captured?`, 'Delete',
        () => act('DELETE', place('persons', this.person.id)))));
    this.list = element('ul', { class: 'cells' });
    this.add = element('li', {}, button('Add an item', () => setUp(page, this.person, null),
      { class: 'add-item' }));
    this.list.append(this.add);
    this.node = element('section', { class: 'person', 'data-person': person.id },
      element('header', {}, this.name, tools), this.list);
    tools.hidden = this.add.hidden = !page.isWritable;
  }

  get title() { return this.person.name || `Person ${this.person.id}`; }

  take(person) {
    this.person = person;
    this.name.textContent = this.title;
    const known = new Set(person.items.map(item => item.id));
    for (const [id, cell] of this.cells) {
      if (known.has(id)) continue;
      cell.node.remove();
      this.cells.delete(id);
    }
    for (const item of person.items) this.takeItem(item);
    for (const item of person.items) this.list.insertBefore(this.cells.get(item.id).node, this.add);
  }

  takeItem(item) {
    let cell = this.cells.get(item.id);
    if (!cell) {
      cell = new Cell(this.page);
      this.cells.set(item.id, cell);
      this.list.insertBefore(cell.node, this.add);
    }
    const old = this.person.items.findIndex(other => other.id === item.id);
    if (old >= 0) this.person.items[old] = item;
    else this.person.items.push(item);
    cell.take(item);
  }
}

class Cell {
  constructor(page) {
    this.page = page;
    this.picture = element('span', { class: 'picture' });
    this.words = element('span', { class: 'words' });
    this.title = element('span', { class: 'title' });
    this.button = button('', () => this.tap(), { class: 'cell' });
    this.button.append(this.picture, this.title, this.words);
    this.more = button('More', () => showItem(page, this.item), { class: 'more-of' });
    this.node = element('li', {}, this.button, this.more);
  }

  take(item) {
    this.item = item;
    this.node.dataset.item = item.id;
    this.button.dataset.state = item.state;
    this.title.textContent = item.notes ? `${item.title} ✎` : item.title;
    this.words.textContent = item.words;
    this.more.setAttribute('aria-label', `More of ${item.title}`);
    const source = item.isPicture ? `${place('items', item.id, 'thumbnail')}?${item.captureId}` : '';
    const shown = `${source} ${item.contentType}`;
    if (this.shown === shown) return;
    this.shown = shown;
    const words = item.hasData ? item.contentType : tapPicture();
    // A thumbnail cannot be made of every picture.
    const onerror = () => this.picture.replaceChildren(words);
    this.picture.replaceChildren(source ? element('img', { src: source, alt: '', onerror }) : words);
  }

  /** One click captures, stops, or connects again; an item that has its data is shown. */
  tap() {
    if (this.item.state === 'inactive' || !this.page.isWritable) showItem(this.page, this.item);
    else act('POST', place('items', this.item.id, 'tap'));
  }
}

function tapPicture() {
  const pen = { fill: 'none', stroke: 'currentColor', 'stroke-width': 2 };
  return drawing('svg', { viewBox: '0 0 24 24', class: 'tap', 'aria-hidden': 'true' },
    drawing('circle', { cx: 12, cy: 12, r: 10, ...pen }),
    drawing('circle', { cx: 12, cy: 12, r: 4, fill: 'currentColor' }));
}

const texts = [
  ['firstName', 'First name'], ['middleName', 'Middle name'], ['lastName', 'Last name'],
  ['otherName', 'Other name'], ['height', 'Height'], ['weight', 'Weight'], ['notes', 'Notes'],
];
const lists = [
  ['aliases', 'Aliases'], ['datesOfBirth', 'Dates of birth'], ['placesOfBirth', 'Places of birth'],
];

/** The form of a person; `null` for a new one. Lists have a line for each of their texts. */
export function editPerson(page, person) {
  const details = person?.details ?? {};
  const form = element('form', { method: 'dialog', autocomplete: 'off' });
  for (const [name, title] of texts) {
    form.append(element('label', {}, title,
      element('input', { name, value: details[name] ?? '' })));
  }
  for (const list of page.words.pickLists) {
    const choice = element('select', { name: list.name },
      ...list.values.map(value => element('option',
        { value, selected: value === (details[list.name] ?? '') }, value || '–')));
    form.append(element('label', {}, list.title, choice));
  }
  for (const [name, title] of lists) {
    form.append(element('label', {}, title,
      element('textarea', { name, rows: 2 }, (details[name] ?? []).join('\n'))));
  }
  form.append(element('div', { class: 'end' },
    button('Cancel', shut), element('button', { type: 'submit' }, person ? 'Save' : 'Add')));
  submits(form, () => {
    const body = {};
    for (const [name] of texts) body[name] = form.elements[name].value;
    for (const list of page.words.pickLists) body[list.name] = form.elements[list.name].value;
    for (const [name] of lists) {
      body[name] = form.elements[name].value.split('\n').map(line => line.trim()).filter(line => line);
    }
    return person ? send('PUT', place('persons', person.id), body)
      : send('POST', place('persons'), body);
  });
  open(person ? 'Edit a person' : 'Add a person', form);
}
