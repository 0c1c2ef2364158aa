// The page of an operator: a row for each person, a cell for each item, and a sensor behind each cell.

import { place } from './act.js';
import { json } from './api.js';
import { at, gather, report } from './dom.js';
import { editPerson, PersonRow } from './persons.js';

/** Milliseconds between two drawings: what happens between them is drawn together. */
const pause = 16;
/** Milliseconds to the next try where the state could not be read. */
const retry = 1000;

const sensorKey = ({ uri, name }) => `${uri}\n${name}`;

class Page {
  constructor() {
    this.rows = new Map();
    this.words = null;
    this.isWritable = false;
    /** The sensors that are ready, by address and name. */
    this.ready = new Set();
    /** The panel of an item, while it is open. */
    this.panel = null;
    /** What has happened since the last drawing, by what it has happened to. */
    this.waiting = new Map();
    this.draw = gather(pause, () => {
      // What is drawn while the state is on its way would be drawn over by it.
      if (this.isLoading) return;
      const actions = [...this.waiting.values()];
      this.waiting.clear();
      for (const action of actions) action();
    });
    this.renew = gather(pause, () => this.load().catch(() => setTimeout(this.renew, retry)));
    this.isLoading = this.isStale = false;
  }

  /** Draws something soon. Of two states of the same thing only the later is drawn. */
  soon(key, action) {
    // What was told last comes last: a person's items may have changed since the person was told.
    this.waiting.delete(key);
    this.waiting.set(key, action);
    this.draw();
  }

  async load() {
    this.isStale = true;
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      while (this.isStale) {
        this.isStale = false;
        this.take(await json(place('state')));
      }
    } finally {
      this.isLoading = false;
      this.draw();
    }
  }

  take(state) {
    this.words = state.words;
    this.isWritable = state.isWritable;
    this.ready = new Set(state.ready.map(sensorKey));
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

  takeSensor({ device, isReady }) {
    if (isReady) this.ready.add(sensorKey(device));
    else this.ready.delete(sensorKey(device));
    for (const row of this.rows.values()) row.showLinks();
  }

  isReady(item) { return item.device !== undefined && this.ready.has(sensorKey(item.device)); }

  /** Shows an item in the panel, where that is the item's. */
  renewPanel(item) { if (this.panel?.item.id === item.id) this.panel.take(item); }

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
    source.onopen = () => { lit(true, 'live'); this.renew(); };
    source.onerror = () => lit(false, 'not connected');
    const on = (kind, action) =>
      source.addEventListener(kind, message => action(JSON.parse(message.data)));
    on('person', person => this.soon(`person ${person.id}`, () => this.takePerson(person)));
    on('item', item => this.soon(`item ${item.id}`, () => this.takeItem(item)));
    on('gone', ({ person }) => this.soon(`person ${person}`, () => this.removePerson(person)));
    on('sensor', event => this.soon(`sensor ${sensorKey(event.device)}`, () => this.takeSensor(event)));
    on('everything', () => this.renew());
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
