// The page of an operator: a row for each person, a cell for each item, and a sensor behind each cell.

import { place } from './act.js';
import { json } from './api.js';
import { at, report } from './dom.js';
import { editPerson, PersonRow } from './persons.js';

class Page {
  constructor() {
    this.rows = new Map();
    this.words = null;
    this.isWritable = false;
  }

  async load() {
    const state = await json(place('state'));
    this.words = state.words;
    this.isWritable = state.isWritable;
    at('add-person').hidden = !state.isWritable;
    const known = new Set(state.persons.map(person => person.id));
    for (const id of [...this.rows.keys()]) if (!known.has(id)) this.removePerson(id);
    state.persons.forEach((person, index) => this.takePerson(person, index));
    this.showEmptiness();
  }

  /** Shows a person as it is now, in the place of its row where that is given. */
  takePerson(person, index = null) {
    let row = this.rows.get(person.id);
    if (!row) {
      row = new PersonRow(this, person);
      this.rows.set(person.id, row);
      at('persons').append(row.node);
    }
    row.take(person);
    if (index !== null && at('persons').children[index] !== row.node) {
      at('persons').insertBefore(row.node, at('persons').children[index]);
    }
    this.showEmptiness();
  }

  removePerson(id) {
    this.rows.get(id)?.node.remove();
    this.rows.delete(id);
    this.showEmptiness();
  }

  takeItem(item) { this.rows.get(item.person)?.takeItem(item); }

  showEmptiness() {
    let words = at('nobody');
    if (this.rows.size > 0) return words?.remove();
    if (words) return undefined;
    words = document.createElement('p');
    words.id = 'nobody';
    words.textContent = this.isWritable ? 'There is nobody yet: add a person.' : 'There is nobody.';
    return at('persons').append(words);
  }

  follow() {
    const source = new EventSource(place('events'));
    const light = at('live');
    const lit = (isOn, words) => {
      light.hidden = false;
      light.classList.toggle('on', isOn);
      light.textContent = words;
    };
    // What happened while there was no connection is in the state.
    source.onopen = () => { lit(true, 'live'); this.load().catch(() => {}); };
    source.onerror = () => lit(false, 'not connected');
    const on = (kind, action) =>
      source.addEventListener(kind, message => action(JSON.parse(message.data)));
    on('person', person => this.takePerson(person));
    on('item', item => this.takeItem(item));
    on('gone', ({ person }) => this.removePerson(person));
    on('told', ({ text, item }) => report(text, { key: `item ${item}`, seconds: 12 }));
    window.addEventListener('pagehide', () => source.close());
  }
}

try {
  const page = new Page();
  at('add-person').addEventListener('click', () => editPerson(page, null));
  await page.load();
  page.follow();
  document.body.dataset.ready = 'true';
} catch (error) {
  report(`The page cannot begin: ${error.message}`, { again: () => location.reload() });
}
