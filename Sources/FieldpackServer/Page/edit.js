// Edits of features by OGC API Features Part 4: attributes, geometry, undo.

import { address, allowed, base, change, feature as fetchFeature, item, Problem } from './api.js';
import { choose } from './conflict.js';
import { schema } from './details.js';
import { at, button, element, report } from './dom.js';
import { changesIn, fieldsFor } from './form.js';
import { Shape, typeOf } from './shape.js';

/** The entity tag of a feature after a change: from the answer, else from the feature as it is now. */
const tagOf = async (response, layer, id) =>
  response.headers.get('ETag') ?? (await fetchFeature(layer, id)).tag;

export class Edit {
  constructor(page) {
    this.page = page;
    this.done = [];
    at('undo').addEventListener('click', () => this.undo());
    document.addEventListener('keydown', event => {
      const isText = event.target.closest?.('input, textarea, select');
      if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !isText) this.undo();
    });
  }

  get isOpen() { return !at('edit').hidden; }
  get isDrawing() { return Boolean(this.shape?.isDrawing); }

  // What may be done

  mayCreate(layer) {
    layer.mayCreate ??= allowed(address(['collections', layer.id, 'items']))
      .then(methods => {
        const may = methods.has('POST');
        if (may) at('undo').hidden = false;
        return may;
      });
    return layer.mayCreate;
  }

  /** Adds the buttons for the changes of a feature that the user may make. */
  async addTools(tools, layer, found) {
    const methods = await allowed(item(layer, found.feature.id));
    if (methods.has('PATCH') || methods.has('PUT')) {
      const isWhole = !methods.has('PATCH');
      tools.append(button('Edit', () => this.open(layer, found, isWhole), { class: 'edit' }));
    }
    if (methods.has('DELETE')) {
      tools.append(button('Delete', () => this.remove(layer, found), { class: 'delete' }));
    }
    if (methods.has('PATCH') || methods.has('DELETE')) at('undo').hidden = false;
  }

  // The panel

  create(layer) {
    return this.open(layer, {
      feature: { type: 'Feature', id: null, properties: {}, geometry: null }, tag: null });
  }

  async open(layer, found, isWhole = false) {
    this.cancel();
    let about;
    try { about = await schema(layer); } catch (error) {
      return report(error.message, { key: 'edit' });
    }
    const { feature } = found;
    if (feature.id === null) about = { ...about, columns: [...about.given, ...about.columns] };
    this.page.details.close();
    const type = feature.geometry && /^(Multi)?(Point|LineString|Polygon)$/.test(feature.geometry.type)
      ? (typeOf(layer) || layer.geometry === 'GEOMETRY') && feature.geometry.type : typeOf(layer);
    this.now = { layer, about, isWhole, ...found };
    this.problem = element('p', { class: 'problem', role: 'alert' });
    this.place = element('div', {});
    this.form = element('form', { onsubmit: event => { event.preventDefault(); this.save(); } },
      ...fieldsFor(about, feature.properties), this.geometryTools(layer, type, feature),
      this.problem, this.place, element('div', { class: 'tools' },
        element('button', { class: 'save' }, 'Save'), button('Cancel', () => this.cancel())));
    at('edit').replaceChildren(
      element('h2', {}, feature.id === null ? `New: ${layer.title}` : `${layer.title} ${feature.id}`),
      this.form);
    at('edit').hidden = false;
    this.showUndo();
    this.form.querySelector('input, select, textarea, button').focus();
    if (feature.id === null && this.shape) this.shape.begin();
  }

  geometryTools(layer, type, feature) {
    if (!layer.geometry) return null;
    if (layer.geometry === 'GEOMETRY' && !feature.geometry) {
      const choice = ['Point', 'LineString', 'Polygon'].map(type => button(type, event => {
        event.currentTarget.parentNode.replaceWith(this.geometryTools(layer, type, { geometry: {} }));
        this.shape.begin();
      }));
      return element('div', { class: 'tools' }, 'Geometry: ', ...choice);
    }
    if (!type) {
      return element('p', { class: 'faint' }, `A ${layer.geometry} is not changed on the map.`);
    }
    this.isMoved = false;
    this.shape = new Shape(this.page.map, type, feature.geometry, () => {
      this.isMoved = true;
      this.showUndo();
    });
    return element('div', { class: 'tools' },
      button('Draw', () => {
        this.shape.begin();
        this.page.map.getContainer().focus();
      }, { class: 'draw' }),
      button('Finish', () => this.shape.finish()),
      button('No geometry', () => this.shape.alter(() => { this.shape.paths = []; })));
  }

  /** Takes a click on the map. Returns whether the click was for the edit. */
  click(place) {
    if (!this.isOpen) return false;
    if (this.isDrawing) this.shape.add(place);
    return true;
  }

  /** Ends a drawing, else the edit; what is not saved does not go without a question. */
  escape() {
    if (this.isDrawing) return this.shape.finish();
    let isChanged = true;
    try {
      const mine = this.changes();
      isChanged = mine.geometry !== undefined || Object.keys(mine.properties).length > 0;
    } catch { /* A value that cannot be read is a change. */ }
    if (!isChanged || confirm('Give up what you have changed?')) this.cancel();
  }

  cancel() {
    this.shape?.close();
    this.shape = this.now = null;
    if (this.isOpen) {
      at('edit').hidden = true;
      at('edit').replaceChildren();
      this.page.map.getContainer().focus({ preventScroll: true });
    }
    this.showUndo();
  }

  // Saving

  /** What the form and the map have changed. */
  changes() {
    const mine = { properties: changesIn(this.form, this.now.about, this.now.feature.properties) };
    if (this.shape && this.isMoved) mine.geometry = this.shape.geometry;
    return mine;
  }

  async save() {
    const { now } = this;
    // A second click while the first is on its way would make a second feature.
    if (this.isSaving) return;
    this.isSaving = true;
    this.problem.textContent = '';
    try {
      let mine = this.changes();
      if (now.feature.id === null) {
        await this.post(now.layer, {
          type: 'Feature', properties: mine.properties, geometry: mine.geometry ?? null });
      } else {
        let state = now;
        while (mine && !await this.send(now, state, mine)) {
          state = await fetchFeature(now.layer, now.feature.id);
          mine = await choose(this.place, now.feature, mine, state.feature);
        }
      }
      if (this.now === now) this.cancel();
      report('Saved.', { key: 'saved', seconds: 4 });
    } catch (error) {
      this.problem.textContent = error.status === 404
        ? 'The feature is not there any more.' : error.message;
    } finally {
      this.isSaving = false;
    }
  }

  /**
   * Sends a change.
   *
   * @param state the feature that the change is made of, with its tag
   * @returns `false` where somebody else was faster
   */
  async send(now, state, mine) {
    const { layer } = now;
    const isChanged = Object.keys(mine.properties).length || mine.geometry !== undefined;
    if (!isChanged) return true;
    const { id } = now.feature;
    const body = now.isWhole
      ? { type: 'Feature', id, geometry: mine.geometry ?? state.feature.geometry,
        properties: { ...state.feature.properties, ...mine.properties } }
      : mine;
    let response;
    try {
      response = await change(now.isWhole ? 'PUT' : 'PATCH', item(layer, id), body, state.tag);
    } catch (error) {
      if (error instanceof Problem && error.status === 412) return false;
      throw error;
    }
    const before = { properties: {} };
    for (const name of Object.keys(mine.properties)) {
      before.properties[name] = state.feature.properties[name] ?? null;
    }
    if (mine.geometry !== undefined) before.geometry = state.feature.geometry;
    this.remember({ layer, id, tag: await tagOf(response, layer, id), before });
    await this.page.changed(layer, id);
    return true;
  }

  async post(layer, feature) {
    const response = await change('POST', address(['collections', layer.id, 'items']), feature);
    const location = response.headers.get('Location');
    const id = location && decodeURIComponent(new URL(location, base).pathname.split('/').pop());
    if (id) {
      // The feature was created, even if its tag cannot be fetched.
      const { tag } = await fetchFeature(layer, id).catch(() => ({ tag: null }));
      this.remember({ layer, id, tag, isNew: true });
    }
    await this.page.changed(layer);
    return id;
  }

  async remove(layer, found) {
    const { id } = found.feature;
    if (!confirm(`Delete feature ${id} of ${layer.title}?`)) return;
    try {
      await change('DELETE', item(layer, id), null, found.tag);
      this.page.details.close();
      this.remember({ layer, id, deleted: found.feature });
      report('Deleted.', { key: 'saved', seconds: 4 });
      await this.page.changed(layer);
    } catch (error) {
      report(error.status === 412
        ? 'Somebody else has changed the feature meanwhile: look at it again.' : error.message,
      { key: 'edit' });
      this.page.details.renew(layer, id);
    }
  }

  // Undo

  remember(step) {
    this.done.push({ ...step, id: String(step.id) });
    this.showUndo();
  }

  showUndo() {
    at('undo').disabled = !(this.shape?.steps.length || (!this.isOpen && this.done.length));
  }

  /** Takes the last step of a drawing back, else the last change that was saved. */
  async undo() {
    if (this.shape?.undo()) return this.showUndo();
    if (this.isOpen || !this.done.length) return;
    const step = this.done.pop();
    this.showUndo();
    const { layer, id } = step;
    try {
      if (step.isNew) {
        await change('DELETE', item(layer, id), null, step.tag);
      } else if (step.deleted) {
        const { properties, geometry } = step.deleted;
        const again = await this.post(layer, { type: 'Feature', id, properties, geometry });
        // Where the server gives ids, the feature has another one now, also for what was done before.
        this.done.pop();
        for (const other of this.done) if (other.layer === layer && other.id === id) other.id = again;
      } else {
        const response = await change('PATCH', item(layer, id), step.before, step.tag);
        const tag = await tagOf(response, layer, id);
        const earlier = this.done.findLast(other => other.layer === layer && other.id === id);
        if (earlier) earlier.tag = tag;
      }
      report('Undone.', { key: 'saved', seconds: 4 });
      await this.page.changed(layer, id);
    } catch (error) {
      const isPast = error.status === 412 || error.status === 404;
      // A step that failed for the network can be undone later.
      if (!isPast) this.done.push(step);
      report(isPast
        ? 'Somebody else has changed the feature since: that is not undone.' : error.message,
      { key: 'edit' });
    }
    this.showUndo();
  }
}
