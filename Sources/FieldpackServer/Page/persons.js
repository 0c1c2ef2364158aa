// Rows of persons, and the form of what is known of them.

import { act, place, send } from './act.js';
import { json } from './api.js';
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
    this.page.renewPanel(item);
  }

  showLinks() { for (const cell of this.cells.values()) cell.showLink(); }
}

class Cell {
  constructor(page) {
    this.page = page;
    this.picture = element('span', { class: 'picture' });
    this.words = element('span', { class: 'words' });
    this.title = element('span', { class: 'title' });
    this.button = button('', () => this.tap(), { class: 'cell' });
    this.link = element('span', { class: 'link', role: 'img' }, '●');
    this.button.append(this.link, this.picture, this.title, this.words);
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
    this.showLink();
    const source = item.isPicture ? `${place('items', item.id, 'thumbnail')}?${item.captureId}` : '';
    const shown = `${source} ${item.contentType}`;
    if (this.shown === shown) return;
    this.shown = shown;
    const words = item.hasData ? item.contentType : tapPicture();
    // A thumbnail cannot be made of every picture.
    const onerror = () => this.picture.replaceChildren(words);
    this.picture.replaceChildren(source ? element('img', { src: source, alt: '', onerror }) : words);
  }

  /** Shows whether the sensor is ready to capture. */
  showLink() {
    const isReady = this.page.isReady(this.item);
    this.link.hidden = !this.item.device;
    this.link.dataset.ready = isReady;
    this.link.setAttribute('aria-label', isReady ? 'connected' : 'not connected');
    this.link.title = isReady ? 'The sensor is connected' : 'The sensor is not connected';
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
export function editPerson(page, person) { new PersonForm(page, person).open(); }

class PersonForm {
  constructor(page, person) {
    Object.assign(this, { page, person });
    /** What the form began with, and the entity tag of that. */
    this.before = person?.details ?? {};
    this.tag = person?.tag ?? null;
    this.form = element('form', { method: 'dialog', autocomplete: 'off' });
    this.titles = new Map();
    for (const [name, title] of texts) this.add(name, title, element('input', { name }));
    for (const { name, title, values } of page.words.pickLists) {
      this.add(name, title, element('select', { name },
        ...values.map(value => element('option', { value }, value || '–'))));
    }
    for (const [name, title] of lists) {
      this.add(name, title, element('textarea', { name, rows: 2 }));
    }
    this.form.append(element('div', { class: 'end' },
      button('Cancel', shut), element('button', { type: 'submit' }, person ? 'Save' : 'Add')));
  }

  add(name, title, field) {
    this.titles.set(name, title);
    field.value = this.text(this.before, name);
    this.form.append(element('label', {}, title, field));
  }

  /** What a field shows of the details of a person. */
  text(details, name) {
    const value = details[name] ?? '';
    return Array.isArray(value) ? value.join('\n') : value;
  }

  open() {
    submits(this.form, () => this.send(), problem => this.refused(problem));
    open(this.person ? 'Edit a person' : 'Add a person', this.form);
  }

  send() {
    const body = {};
    for (const name of this.titles.keys()) body[name] = this.form.elements[name].value;
    for (const [name] of lists) {
      body[name] = body[name].split('\n').map(line => line.trim()).filter(line => line);
    }
    return this.person ? send('PUT', place('persons', this.person.id), body, this.tag)
      : send('POST', place('persons'), body);
  }

  /**
   * Where somebody else has changed the person meanwhile, takes over what the user has not changed, and
   * tells the rest. The user saves again, and then what stands in the form counts.
   */
  async refused(problem) {
    if (problem.status !== 412) return [problem.message];
    let now;
    try {
      now = await json(place('persons', this.person.id));
    } catch (other) {
      return [other.message];
    }
    const both = [];
    for (const [name, title] of this.titles) {
      const field = this.form.elements[name];
      const [was, is] = [this.text(this.before, name), this.text(now.details, name)];
      if (is === was || field.value === is) continue;
      if (field.value === was) field.value = is;
      else both.push(element('li', {}, `${title} is now “${is.replaceAll('\n', ', ') || 'empty'}”`));
    }
    this.before = now.details;
    this.tag = now.tag;
    const words = 'Somebody else has changed this person meanwhile.';
    return both.length === 0 ? [`${words} Those changes are in the form: look at them, and save again.`]
      : [`${words} If you save again, what stands in the form counts instead of:`,
        element('ul', {}, ...both)];
  }
}
