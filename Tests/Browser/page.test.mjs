// The page with the map in Chromium. The environment names the browser (CHROMIUM), the address of a
// served survey of wells and zones (ADDRESS), its file (FILE), and a folder to write to (FOLDER). Where the
// survey is in a database, CHANGE is the command, as JSON, that changes a feature there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser } from './browser.mjs';
import * as fakes from './fakes.mjs';

const { CHROMIUM, ADDRESS, FILE, FOLDER, CHANGE } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile'));
after(() => browser.close());

const map = `${ADDRESS}/map`;
const asking = new AbortController();
const hasEvents = (await fetch(`${ADDRESS}/events`, { signal: asking.signal })).status === 200;
asking.abort();

/** Opens the page and waits until all that is shown of it is drawn. */
async function open({ address = map, ...options } = {}) {
  const page = await browser.open(address, options);
  await page.until('document.body.dataset.ready');
  await page.until(`fieldpack.layers.filter(l => l.tiles).every(l => !l.tiles.isLoading())`);
  return page;
}

/** A feature of the tiles that are shown. */
const shown = id => `Object.values(fieldpack.layerNamed('wells').tiles._tiles)
  .flatMap(t => t.el.features).find(f => f.id === ${id})`;

/** Changes a feature as another program. The triggers of the file need functions. */
const program = `
import sqlite3, sys, time
file = sqlite3.connect(sys.argv[1], timeout=10)
for name in ("ST_IsEmpty", "ST_MinX", "ST_MinY", "ST_MaxX", "ST_MaxY"):
    file.create_function(name, 1, lambda geometry: 0)
file.execute("UPDATE wells SET name = 'changed' WHERE fid = 2")
file.commit()
print(time.time() * 1000)
`;

/** What the page does by itself is tried beside a file alone. */
const itself = { skip: CHANGE ? 'the page does it by itself, whatever is served' : false };

/** Addresses that a server without events or captures does not have. */
const faults = page => page.errors.filter(text => !/\/(events|captures)\?/.test(text));

test('the page opens, asks nobody else, and breaks no rule of its policy', async () => {
  const page = await open();
  assert.equal(await page.value('document.title'), 'field');
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('#layers li[data-layer] label')].map(e => e.innerText.trim())`),
  ['wells', 'zones', 'motion']);
  assert.equal(await page.value(`${shown(1)}.properties.name`), 'well 0');
  assert.deepEqual(page.asked.filter(url => !url.startsWith(ADDRESS) && !url.startsWith('data:')), []);
  assert.deepEqual(faults(page), []);
  await page.close();
});

test('a drag moves the map, and the address keeps the view', itself, async () => {
  const page = await open({ address: `${map}#10/0.30000/0.60000` });
  const before = await page.value('fieldpack.map.getCenter()');
  await page.drag([500, 500], [300, 400]);
  await page.until(`fieldpack.map.getCenter().lng > ${before.lng + 0.1}`);
  assert.ok(await page.value('fieldpack.map.getCenter().lat') < before.lat);
  await page.until(`location.hash === (c => '#10/' + c.lat.toFixed(5) + '/' + c.lng.toFixed(5))(
    fieldpack.map.getCenter())`);
  await page.close();
});

test('a click shows the attributes as texts', async () => {
  const page = await open({ address: `${map}#12/0.50000/1.00000` });
  await page.click(...await page.pointOf(0.5, 1));
  await page.until(`document.querySelector('.details dt')`);
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('.details dt, .details dd')].map(e => e.innerText)`),
  ['name', '<img src=x onerror=alert(1)>', 'depth', '1', 'use', 'drinking']);
  assert.equal(await page.value(`document.querySelectorAll('.details img').length`), 0);
  await page.key('Escape');
  await page.until(`!document.querySelector('.details')`);
  assert.deepEqual(faults(page), []);
  await page.close();
});

const styles = { skip: CHANGE ? 'a database has no styles of QGIS' : false };
test('styles of the file colour the map and its legend', styles, async () => {
  const page = await open();
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('li[data-layer=wells] .legend li')].map(e => [e.innerText,
      e.querySelector('circle').getAttribute('fill')])`),
  [['Drinking water', '#1f78b4'], ['Fire water', '#e31a1c']]);
  const color = async id => page.value(
    `fieldpack.layerNamed('wells').theme.pick(${shown(id)}.properties).point`);
  assert.deepEqual([await color(2), await color(3)], ['#1f78b4', '#e31a1c']);
  await page.close();
});

test('the table sorts, filters with the map, and a row moves the map to its feature', async () => {
  const page = await open();
  await page.press('li[data-layer=wells] button[aria-label^=Table]');
  const names = `[...document.querySelectorAll('tbody tr')].map(row => row.cells[0].innerText)`;
  await page.until(`${names}.length === 20`);
  await page.press('thead th:nth-child(3) button');
  await page.until(`document.querySelector('th[aria-sort=ascending]')?.innerText === 'depth'`);
  await page.press('thead th:nth-child(3) button');
  await page.until(`${names}[0] === '20'`);
  await page.type('#condition', 'depth > 12 AND use = \'fire\'');
  await page.key('Enter');
  await page.until(`${names}.join() === '19,17,15'`);
  await page.until(`fieldpack.layerNamed('wells').ids?.size === 3`);
  assert.deepEqual(await page.value(`[...fieldpack.layerNamed('wells').ids].sort()`), [15, 17, 19]);
  await page.press('tbody tr:nth-child(2) td');
  await page.until(`document.querySelector('.details h2')?.innerText === 'well 16'`);
  const { lat, lng } = await page.value('fieldpack.map.getCenter()');
  assert.ok(Math.abs(lat - 8) < 0.1 && Math.abs(lng - 16) < 0.1);
  await page.type('#condition', 'deep > 12');
  await page.key('Enter');
  await page.until(`document.querySelector('.message')?.innerText.includes('deep')`);
  assert.equal(await page.value(`document.getElementById('condition').ariaInvalid`), 'true');
  await page.close();
});

test('keys alone find a feature, and every control can be reached', itself, async () => {
  const page = await open({ address: `${map}#12/0.50000/0.95000` });
  await page.value(`document.getElementById('map').focus()`);
  const before = await page.value('fieldpack.map.getCenter().lng');
  await page.key('ArrowRight');
  await page.until(`fieldpack.map.getCenter().lng > ${before}`);
  await page.value(`void fieldpack.map.setView([0.5, 1], 12, { animate: false })`);
  await page.until(`!fieldpack.layerNamed('wells').tiles.isLoading()`);
  await page.key('Enter');
  await page.until(`document.querySelector('.details dt')`);
  assert.equal(await page.value(`document.getElementById('cross').hidden`), false);
  await page.value('document.body.focus()');
  const reached = new Set();
  for (let count = 0; count < 60; count++) {
    await page.key('Tab');
    reached.add(await page.value(`(e => e.getAttribute('aria-label') ?? e.innerText)(
      document.activeElement)`));
  }
  for (const name of ['Layers', 'Table', 'Zoom to wells', 'Table of zones', 'Zoom in']) {
    assert.ok(reached.has(name), `${name} is not among ${[...reached]}`);
  }
  await page.close();
});

test('a tile that does not come is told, and comes when the network is back', itself, async () => {
  const page = await open({ address: `${map}#9/0.50000/1.00000` });
  await page.offline(true);
  await page.value(`void fieldpack.map.setView([4, 8], 11, { animate: false })`);
  await page.until(`document.querySelector('.message')?.innerText.includes('offline')`);
  await page.until(`Object.values(fieldpack.layerNamed('wells').tiles._tiles)
    .some(t => t.el.isMissing && getComputedStyle(t.el).visibility === 'visible')`);
  await page.offline(false);
  await page.until(`${shown(9)}?.properties.name === 'well 8'`);
  await page.until(`Object.values(fieldpack.layerNamed('wells').tiles._tiles)
    .every(t => getComputedStyle(t.el).visibility === 'visible')`);
  await page.until(`!document.querySelector('.message')`);
  await page.close();
});

test('what another client changes is drawn within half a second', async () => {
  const page = await open({ address: `${map}#9/0.50000/1.00000`,
    script: hasEvents ? null : fakes.events });
  await page.until(`document.getElementById('live').className === 'on'`);
  const [command, ...words] = CHANGE ? JSON.parse(CHANGE) : ['python3', '-c', program, FILE];
  const begin = Number(execFileSync(command, words));
  if (!hasEvents) {
    await page.value(`emit('updated', { source: '/collections/wells', data: { id: 2 } })`);
  }
  await page.until(`${shown(2)}?.properties.name === 'changed'`);
  const waited = Math.round(Date.now() - begin);
  console.log(`drawn ${waited} ms after the commit`);
  // The clock decides only where somebody asks for it, on a machine that is free.
  assert.ok(waited < Number(process.env.FIELDPACK_LIVE_LIMIT ?? Infinity));
  await page.close();
});

test('devices move as their positions come', itself, async () => {
  const page = await open({ script: fakes.events });
  const at = (x, seconds) => `emit('entered', { source: '/collections/wells',
    time: new Date(1e12 + ${seconds} * 1000).toISOString(), data: { id: 1,
    properties: { device: '<b>van</b>', region: 'depot' },
    geometry: { type: 'Point', coordinates: [${x}, 1] } } })`;
  await page.value(at(1, 0));
  await page.until(`document.querySelector('.device')?.innerText === '<b>van</b>'`);
  const left = `document.querySelector('.device').getBoundingClientRect().left`;
  const before = await page.value(left);
  await page.value(at(2, 10));
  await page.value(at(0, 5));
  assert.ok(await page.value(left) > before);
  assert.equal(await page.value(`document.querySelectorAll('.device').length`), 1);
  assert.match(await page.value(`document.getElementById('messages').innerText`), /entered depot/);
  await page.close();
});

test('numbers over time are plotted, and the pointer shows where they are', async () => {
  const page = await open();
  await page.press('li[data-layer=motion] button[aria-label^=Table]');
  await page.until(`document.querySelectorAll('tbody tr').length === 5`);
  await page.press('#plot');
  await page.until(`document.querySelectorAll('.plot figure').length === 2`);
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('.plot figcaption')].map(e => e.innerText)`),
  ['yaw: 0 to 1', 'radius_m: 5000 to 5000']);
  const [x, y] = await page.value(`(b => [b.left + b.width * 0.74, b.top + 20])(
    document.querySelector('.plot svg').getBoundingClientRect())`);
  await page.mouse('mouseMoved', x, y, { button: 'none', buttons: 0 });
  await page.until(`document.querySelector('.plot figcaption').innerText
    === 'yaw: 0.75 at 1970-01-01T00:00:03.000Z'`);
  assert.equal(await page.value(`fieldpack.table.pointer.getLatLng().lng`), 6.3);
  await page.close();
});

test('points with a radius are circles of so many metres', async () => {
  const page = await open({ address: `${map}#10/0.00000/6.20000` });
  const pixels = await page.value(`(({ tiles }) => { const { el } = Object.values(tiles._tiles)
    .find(t => t.el.features.length); return tiles.radius(el, el.features[0], 1); })(
    fieldpack.layerNamed('motion'))`);
  assert.ok(Math.abs(pixels - 5000 / (40075016.7 / 256 / 1024)) < 0.1, `${pixels}`);
  await page.close();
});

test('captures are shown with the place where the device was', itself, async () => {
  const page = await open({ script: fakes.captures });
  await page.press('#show-captures');
  assert.deepEqual(await page.value(
    `[...document.querySelectorAll('#captures li')].map(e => e.innerText.trim())`), ['<b>A</b>', 'B']);
  await page.press('#captures li:first-child button');
  await page.until(`document.querySelector('.leaflet-interactive, path')
    && fieldpack.map.getCenter().distanceTo([2, 3]) < 10`);
  assert.equal(await page.value(`document.querySelector('#captures div img').src`),
    `${ADDRESS}/captures/a/media`);
  // The button moves when the picture, which the server does not have, gives way to its text.
  await page.until(`document.querySelector('#captures div img').complete`);
  await page.press('#captures li:nth-child(2) button');
  await page.until(`document.querySelector('#captures video')`);
  await page.until(`fieldpack.map.getBounds().contains([[4, 5], [4, 6]])`);
  await page.close();
});

test('on paper there are the map and its legend alone', itself, async () => {
  const page = await open();
  await page.send('Emulation.setEmulatedMedia', { media: 'print' });
  const isShown = selector => page.value(
    `document.querySelector(${JSON.stringify(selector)}).getClientRects().length > 0`);
  for (const selector of ['#map', '.legend']) assert.ok(await isShown(selector), selector);
  for (const selector of ['#tools', '.leaflet-control-zoom', '#layers .tools']) {
    assert.ok(!await isShown(selector), selector);
  }
  await page.close();
});

test('what lies on dark ground is light', itself, async () => {
  const page = await open();
  await page.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  const light = color => color.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0);
  for (const selector of ['body', '#layers', '.leaflet-control-zoom-in']) {
    const [ink, ground] = await page.value(`(s => [s.color, s.backgroundColor])(
      getComputedStyle(document.querySelector('${selector}')))`);
    assert.ok(light(ink) > light(ground) + 300, `${selector}: ${ink} on ${ground}`);
  }
  await page.close();
});

for (const [width, height, isPhone] of [[320, 640, true], [1600, 900, false]]) {
  test(`at ${width} pixels nothing runs out of the window`, itself, async () => {
    const page = await open({ width, height, isPhone });
    assert.equal(await page.value('document.documentElement.scrollWidth'), width);
    assert.equal(
      await page.value(`document.getElementById('layers').hidden`), isPhone);
    const bar = await page.value(`[...document.querySelectorAll('#tools button')]
      .filter(b => b.getClientRects().length).map(b => b.getBoundingClientRect().right)`);
    assert.ok(bar.every(right => right <= width), `${bar}`);
    await page.press('#show-table');
    await page.until(`document.querySelectorAll('tbody tr').length > 0`);
    assert.ok(await page.value(`document.getElementById('map').clientHeight`) > 100);
    await page.screenshot(join(FOLDER, `page-${width}.png`));
    await page.close();
  });
}
