// Edits on the page with the map; see page.test.mjs. Against a server that takes none they go to a fake.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser } from './browser.mjs';
import * as fakes from './fakes.mjs';

const { CHROMIUM, ADDRESS, FOLDER, CHANGE } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile-edit'));
after(() => browser.close());

const isReal = (await fetch(`${ADDRESS}/collections/wells/items`, { method: 'OPTIONS' }))
  .headers.get('Allow').includes('POST');

async function open(hash) {
  const page = await browser.open(`${ADDRESS}/map${hash}`, { script: isReal ? null : fakes.edits });
  await page.until('document.body.dataset.ready');
  await page.until(`fieldpack.layers.filter(l => l.tiles).every(l => !l.tiles.isLoading())`);
  return page;
}

/** A feature as the server has it. */
const stored = (page, layer, id) => page.value(isReal
  ? `fetch('/collections/${layer}/items/${id}').then(r => r.ok ? r.json() : null)`
  : `fake.read('/collections/${layer}/items/${id}')`);

/** What another client does. */
const changeElsewhere = (page, layer, id, properties) => page.value(isReal
  ? `fetch('/collections/${layer}/items/${id}', { method: 'PATCH',
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: JSON.stringify({ properties: ${JSON.stringify(properties)} }) }).then(r => r.status)`
  : `fake.change('/collections/${layer}/items/${id}', ${JSON.stringify(properties)})`);

async function openForm(page, latitude, longitude) {
  await page.click(...await page.pointOf(latitude, longitude));
  await page.press('.details .edit');
  await page.until(`document.querySelector('#edit form')`);
}

const saved = page => page.until(
  `document.getElementById('edit').hidden && document.getElementById('messages').innerText
    .includes('Saved')`);

test('attributes are changed by their types, and undone', async () => {
  const page = await open('#12/1.50000/3.00000');
  await openForm(page, 1.5, 3);
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('#edit [name]')].map(e => [e.name, e.type, e.value])`),
  [['name', 'text', 'well 3'], ['depth', 'number', '3'],
    // A database does not list the values that a column may have.
    CHANGE ? ['use', 'text', 'drinking'] : ['use', 'select-one', '"drinking"']]);
  await page.type('#edit [name=depth]', '4.5');
  await page.value(`document.querySelector('#edit [name=name]').value = ''`);
  await page.press('#edit .save');
  await saved(page);
  const { properties } = await stored(page, 'wells', 4);
  assert.deepEqual(properties, { name: null, depth: 4.5, use: 'drinking' });
  await page.press('#undo');
  await page.until(`document.getElementById('messages').innerText.includes('Undone')`);
  assert.deepEqual((await stored(page, 'wells', 4)).properties,
    { name: 'well 3', depth: 3, use: 'drinking' });
  await page.close();
});

test('a point is drawn, moved and deleted', async () => {
  const page = await open('#12/2.60000/5.00000');
  await page.press('li[data-layer=wells] button[aria-label^=Add]');
  await page.until(`fieldpack.edit.isDrawing`);
  await page.type('#edit [name=name]', 'new');
  await page.click(...await page.pointOf(2.6, 5.01));
  await page.until(`document.querySelectorAll('.handle').length === 1`);
  await page.drag(await page.pointOf(2.6, 5.01), await page.pointOf(2.6, 5.03));
  await page.press('#edit .save');
  await saved(page);
  const id = await page.value('fieldpack.edit.done.at(-1).id');
  const made = await stored(page, 'wells', id);
  assert.equal(made.properties.name, 'new');
  // Leaflet ignores the first pixels of a drag, so that the corner moves a little less.
  assert.ok(Math.abs(made.geometry.coordinates[0] - 5.03) < 0.004);
  await page.value(`fieldpack.details.show(fieldpack.layerNamed('wells'), ${id})`);
  await page.press('.details .delete');
  await page.until(`document.getElementById('messages').innerText.includes('Deleted')`);
  assert.equal(await stored(page, 'wells', id), null);
  await page.press('#undo');
  await page.until(`document.getElementById('messages').innerText.includes('Undone')`);
  const again = await page.value('fieldpack.edit.done.at(-1).id');
  assert.deepEqual((await stored(page, 'wells', again)).geometry, made.geometry);
  await page.close();
});

const keyed = { skip: CHANGE ? false : 'a GeoPackage gives all ids' };
test('a feature brings its id where the server gives none, and keeps it', keyed, async () => {
  const page = await open('#12/2.60000/5.00000');
  await page.press('button[aria-label="Add a feature to sites"]');
  await page.until(`document.querySelector('#edit [name=code]')`);
  await page.type('#edit [name=code]', 'S 1');
  await page.press('#edit .save');
  await saved(page);
  await page.value(`fieldpack.details.show(fieldpack.layerNamed('sites'), 'S 1')`);
  await page.press('.details .delete');
  await page.until(`document.getElementById('messages').innerText.includes('Deleted')`);
  assert.equal(await stored(page, 'sites', 'S%201'), null);
  await page.press('#undo');
  await page.until(`document.getElementById('messages').innerText.includes('Undone')`);
  assert.equal((await stored(page, 'sites', 'S%201')).id, 'S 1');
  await page.close();
});

test('a corner of a polygon is moved, and the step is undone before it is saved', async () => {
  const page = await open('#9/1.00000/1.00000');
  await page.value(`fieldpack.details.show(fieldpack.layerNamed('zones'), 1)`);
  await page.press('.details .edit');
  await page.until(`document.querySelectorAll('.handle:not(.between)').length === 4`);
  await page.drag(await page.pointOf(0.5, 0.5), await page.pointOf(0.4, 0.4));
  await page.until('fieldpack.edit.shape.steps.length === 1');
  await page.press('#undo');
  assert.deepEqual(await page.value('fieldpack.edit.shape.geometry.coordinates[0][0]'), [0.5, 0.5]);
  await page.drag(await page.pointOf(0.5, 0.5), await page.pointOf(0.4, 0.4));
  await page.press('#edit .draw');
  await page.until('fieldpack.edit.isDrawing');
  await page.key('Escape');
  await page.until('!fieldpack.edit.isDrawing && fieldpack.edit.isOpen');
  await page.press('#edit .save');
  await saved(page);
  const ring = (await stored(page, 'zones', 1)).geometry.coordinates[0];
  assert.equal(ring.length, 5);
  assert.ok(Math.abs(ring[0][0] - 0.4) < 0.03 && Math.abs(ring[0][1] - 0.4) < 0.03, `${ring}`);
  assert.deepEqual(ring[0], ring[4]);
  await page.close();
});

test('what somebody else has changed is chosen column by column', async () => {
  const page = await open('#12/3.00000/6.00000');
  await openForm(page, 3, 6);
  await page.type('#edit [name=name]', 'mine');
  await page.type('#edit [name=depth]', '60');
  await changeElsewhere(page, 'wells', 7, { name: 'theirs', depth: 70, use: 'drinking' });
  await page.press('#edit .save');
  await page.until(`document.querySelectorAll('.conflict fieldset').length === 2`);
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('.conflict fieldset')].map(e => e.innerText.split(/\\n+/).map(t => t.trim()))`),
  [['name', 'was: well 6', 'mine: mine', 'theirs: theirs'],
    ['depth', 'was: 6', 'mine: 60', 'theirs: 70']]);
  await page.press('fieldset[data-column=name] label:last-of-type input');
  await page.press('.conflict .resolve');
  await saved(page);
  assert.deepEqual((await stored(page, 'wells', 7)).properties,
    { name: 'theirs', depth: 60, use: 'drinking' });
  await page.close();
});
