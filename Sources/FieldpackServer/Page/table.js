// The attribute table of a layer: sorted by columns, filtered by a condition in CQL2, page by page.

import { items, json, pages } from './api.js';
import { at, button, element, report, retract, text, toggle } from './dom.js';
import { schema } from './details.js';
import { plotButton } from './plot.js';

const rowsAtATime = 100;
/** More features than these are not looked up for a filter on the map. */
const mostOnMap = 200_000;

export class Table {
  constructor(page) {
    this.page = page;
    this.layer = null;
    this.sort = '';
    this.rows = [];
    at('show-table').addEventListener('click', () => {
      if (!at('table').hidden) this.close();
      else this.open(this.layer ?? page.layers[0]);
    });
  }

  async open(layer) {
    if (!layer) return;
    toggle('table', true);
    this.page.map.invalidateSize();
    if (this.layer !== layer) {
      this.layer = layer;
      this.sort = '';
    }
    try {
      const about = await schema(layer);
      this.build(about);
    } catch (error) {
      return report(error.message, { key: 'table', again: () => this.open(layer) });
    }
    await this.load();
  }

  close() {
    toggle('table', false);
    this.page.map.invalidateSize();
    at('show-table').focus();
  }

  build(about) {
    const choice = element('select', { 'aria-label': 'Layer', onchange: () => this.open(
      this.page.layers[choice.selectedIndex]) },
      ...this.page.layers.map(layer => element(
        'option', { selected: layer === this.layer }, layer.title)));
    this.condition = element('input', {
      type: 'search', id: 'condition', spellcheck: 'false', autocapitalize: 'off',
      placeholder: 'CQL2, such as depth > 20', 'aria-label': 'Filter', value: this.layer.filter ?? '',
    });
    this.count = element('span', { class: 'faint', role: 'status' });
    const form = element('form', { onsubmit: event => {
      event.preventDefault();
      this.filter(this.condition.value.trim());
    } }, choice, this.condition, element('button', {}, 'Filter'),
    button('Clear', () => { this.condition.value = ''; this.filter(''); }), this.count,
    plotButton(this), button('×', () => this.close(), { 'aria-label': 'Close the table' }));
    this.columns = [
      ...(about.id ? [{ name: about.id, title: about.id, isID: true }] : []), ...about.columns];
    this.head = element('tr', {}, ...this.columns.map(column => this.heading(column)));
    this.body = element('tbody', {});
    this.more = button('More', () => this.take(), { class: 'more', hidden: true });
    this.plot = element('div', { class: 'plot', hidden: true });
    at('table').replaceChildren(form, this.plot, element('div', { class: 'rows', tabindex: '-1' },
      element('table', {}, element('thead', {}, this.head), this.body), this.more));
  }

  heading(column) {
    const state = { [column.name]: 'ascending', [`-${column.name}`]: 'descending' }[this.sort];
    const name = column.title ?? column.name;
    const isSortable = column.isID || !(column.contentEncoding || Array.isArray(column.type));
    const sort = () => {
      this.sort = this.sort === column.name ? `-${column.name}` : column.name;
      this.head.replaceChildren(...this.columns.map(column => this.heading(column)));
      const place = this.columns.indexOf(column);
      this.head.children[place].querySelector('button').focus();
      this.load();
    };
    return element('th', { scope: 'col', 'aria-sort': state ?? 'none' },
      isSortable ? button(name, sort) : name);
  }

  /** Begins the list anew. The old rows stay until there are new ones, so that nothing jumps. */
  async load() {
    this.reading?.abort();
    this.reading = new AbortController();
    this.isNew = true;
    this.pages = pages(items(this.layer, {
      limit: rowsAtATime, sortby: this.sort || null, filter: this.layer.filter || null,
    }), this.reading.signal);
    await this.take();
  }

  /** Appends a page. */
  async take() {
    const list = this.pages;
    try {
      const { value: page } = await list.next();
      if (list !== this.pages) return;
      if (!page) { this.more.hidden = true; return; }
      if (this.isNew) {
        this.body.replaceChildren();
        this.rows = [];
        this.isNew = false;
      }
      if (page.numberMatched !== undefined) this.matched = page.numberMatched;
      this.rows.push(...page.features);
      this.body.append(...page.features.map(feature => this.row(feature)));
      this.more.hidden = !page.links?.some(link => link.rel === 'next');
      const all = this.more.hidden ? this.rows.length : this.matched ?? 'many';
      this.count.textContent = `${this.rows.length} of ${all}`;
      retract('table');
    } catch (error) {
      if (error.name === 'AbortError') return;
      report(error.message, { key: 'table', again: () => this.load() });
    }
  }

  row(feature) {
    const choose = () => {
      this.mark(feature.id);
      this.page.details.show(this.layer, feature.id, { isZoomed: true });
    };
    return element('tr', {
      tabindex: '0', 'data-id': feature.id ?? '', onclick: choose,
      onkeydown: event => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); choose(); }
        const next = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
        if (next && event.currentTarget[next]) {
          event.preventDefault();
          event.currentTarget[next].focus();
        }
      },
    }, ...this.columns.map(column => element(
      'td', { class: typeof feature.properties[column.name] === 'number' ? 'number' : null },
      text(column.isID ? feature.id : feature.properties[column.name]))));
  }

  mark(id) {
    for (const row of this.body?.children ?? []) {
      row.setAttribute('aria-selected', String(row.dataset.id === String(id)));
    }
  }

  /** Filters the table and the map. An empty condition shows all again. */
  async filter(condition) {
    const layer = this.layer;
    const before = layer.filter;
    layer.filter = condition || null;
    this.condition.removeAttribute('aria-invalid');
    try {
      // The server says here what is wrong with a condition.
      if (condition) await json(items(layer, { filter: condition, limit: 1 }));
    } catch (error) {
      layer.filter = before;
      this.condition.setAttribute('aria-invalid', 'true');
      return report(error.message, { key: 'filter' });
    }
    retract('filter');
    await Promise.all([this.load(), filterMap(layer)]);
  }

  /** Reads the list again after a change of the layer. */
  renew(layer) {
    if (at('table').hidden || layer !== this.layer) return;
    // Whoever has gone far down the list is not sent back to its beginning.
    if (this.rows.length <= rowsAtATime) this.load();
  }
}

/** Shows only the features on the map that the filter of a layer holds for. */
export async function filterMap(layer) {
  if (!layer.tiles) return;
  layer.asking?.abort();
  if (!layer.filter) {
    layer.ids = null;
    return layer.tiles.repaint();
  }
  const { signal } = layer.asking = new AbortController();
  const ids = new Set();
  try {
    const url = items(layer, { filter: layer.filter, limit: 10000, properties: '' });
    for await (const page of pages(url, signal)) {
      for (const feature of page.features) ids.add(feature.id);
      if (ids.size > mostOnMap) {
        report(`The map shows the first ${ids.size} features of the filter.`, { key: 'filter' });
        break;
      }
    }
    layer.ids = ids;
    layer.tiles.repaint();
  } catch (error) {
    if (error.name !== 'AbortError') {
      report(error.message, { key: 'filter', again: () => filterMap(layer) });
    }
  }
}
