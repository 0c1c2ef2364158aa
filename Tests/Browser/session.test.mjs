// A session of an operator: ten persons with four items each, at two simulated sensors. The environment names
// the browser (CHROMIUM), the address of the page's server (ADDRESS), those of a fingerprint sensor and of
// a camera (FINGER, FACE), the tool (TOOL), the served file (FILE), and a folder to write to (FOLDER).

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser, press } from './browser.mjs';

const { CHROMIUM, ADDRESS, FINGER, FACE, TOOL, FILE, FOLDER } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile'));
after(() => browser.close());

const tool = (...words) => execFileSync(TOOL, words, { encoding: 'utf8' });
const wanted = [
  ['Finger', 'Left Slap'], ['Finger', 'Right Slap'], ['Finger', 'Thumbs Slap'], ['Face', 'Face'],
];

/** What each cell shows: title, state, and the width of its picture. */
const cells = `[...document.querySelectorAll('.cell')].map(c => [c.querySelector('.title').textContent,
  c.dataset.state, c.querySelector('img')?.naturalWidth ?? 0])`;
const isShut = `!document.getElementById('dialog').open`;
const cell = (person, item) => `.person:nth-child(${person}) .cells li:nth-child(${item})`;

test('an operator captures ten persons with four items each', async context => {
  const begun = Date.now();
  const page = await browser.open(`${ADDRESS}sensors`, { width: 1000, height: 2600 });
  await page.until('document.body.dataset.ready');
  await page.press('#add-person');
  await page.type('#dialog [name=lastName]', 'Person 1');
  await press(page, '#dialog', 'Add');
  for (const [modality, type] of wanted) {
    await page.until(isShut);
    await press(page, '.person', 'Add an item');
    await press(page, '#dialog', modality);
    await press(page, '#dialog', type);
    // The first item of a kind names its sensor, the next ones find it.
    const isKnown = type !== 'Left Slap' && modality === 'Finger';
    await press(page, '#dialog', isKnown ? 'desk' : 'Another sensor');
    if (!isKnown) {
      await page.type('#dialog [name=uri]', modality === 'Finger' ? FINGER : FACE);
      await page.type('#dialog [name=name]', modality === 'Finger' ? 'desk' : 'camera');
    }
    await press(page, '#dialog', 'Check again');
    await page.until(`document.getElementById('check').dataset.result === 'found'`);
    await press(page, '#dialog', 'Done');
  }
  await page.until(isShut);
  for (let person = 2; person <= 10; person++) {
    await press(page, '.person', 'Duplicate');
    await page.until(`document.querySelectorAll('.person').length === ${person}`);
    await press(page, `.person:nth-child(${person})`, 'Edit');
    await page.type('#dialog [name=lastName]', `Person ${person}`);
    await press(page, '#dialog', 'Save');
    await page.until(`${isShut}
      && document.querySelector('.person:nth-child(${person}) h2').textContent === 'Person ${person}'`);
  }

  // One click captures.
  for (let person = 1; person <= 10; person++) {
    for (let item = 1; item <= 4; item++) await page.press(`${cell(person, item)} .cell`);
  }
  const captured = Array.from({ length: 40 }, (_, index) => [wanted[index % 4][1], 'inactive', 228]);
  await page.until(`JSON.stringify(${cells}) === ${JSON.stringify(JSON.stringify(captured))}`, 60000);

  // The third person's left ring finger is missing.
  await page.press(`${cell(3, 1)} .more-of`);
  await page.press('#dialog label.flag:nth-of-type(3) input');
  await page.type('#dialog textarea', 'lost in 1999');
  await press(page, '#dialog', 'Save');
  // The fifth person has blinked, and is captured again.
  await page.until(isShut);
  await page.press(`${cell(5, 4)} .more-of`);
  await press(page, '#dialog', 'Clear');
  await press(page, '#dialog', 'Clear');
  await page.until(`document.querySelector('${cell(5, 4)} .cell').dataset.state === 'capture'`);
  await page.press(`${cell(5, 4)} .cell`);
  // The face of the seventh comes before the thumbs.
  await page.press(`${cell(7, 4)} .more-of`);
  await press(page, '#dialog', '←');
  [captured[26], captured[27]] = [captured[27], captured[26]];
  captured[8][0] += ' ✎';
  await page.until(`JSON.stringify(${cells}) === ${JSON.stringify(JSON.stringify(captured))}`);

  // Another program adds a person and deletes it, while the page is open.
  const late = JSON.parse(tool('person', 'add', FILE, '--last-name', 'Late', '--json')).person;
  await page.until(`document.querySelector('.person:nth-child(11) h2')?.textContent === 'Late'`);
  tool('person', 'delete', FILE, late.person);
  await page.until(`document.querySelectorAll('.person').length === 10`);

  // What the tool lists is what the page shows.
  const shown = await page.value(`[...document.querySelectorAll('.cells li[data-item]')].map(li =>
    [li.dataset.item, li.closest('.person').dataset.person])`);
  const { items } = JSON.parse(tool('item', 'list', FILE, '--json'));
  assert.deepEqual(items.map(item => [item.item, item.person]), shown);
  assert.deepEqual(items.map(item => item.index), captured.map((_, index) => index % 4));
  assert.ok(items.every(item => item.content_type === 'image/bmp'));
  const noted = items.filter(item => item.notes || item.marks.length);
  assert.deepEqual(noted.map(item => [item.person, item.type, item.marks, item.notes]),
    [[shown[8][1], 'LeftSlap', ['Ring'], 'lost in 1999']]);
  assert.deepEqual(page.errors, []);
  await page.screenshot(join(FOLDER, 'session.png'));
  context.diagnostic(`the session took ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  await page.close();
});
