// The page of an operator in Chromium, with two simulated sensors. The environment names the browser
// (CHROMIUM), the address of a server with the page (ADDRESS), the addresses of a fingerprint sensor and
// of a camera (FINGER, FACE), and a folder to write to (FOLDER).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser } from './browser.mjs';

const { CHROMIUM, ADDRESS, FINGER, FACE, FOLDER } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile'));
after(() => browser.close());

async function open(options = {}) {
  const page = await browser.open(`${ADDRESS}/sensors`, options);
  await page.until('document.body.dataset.ready');
  return page;
}

/** Clicks on the button with that text in the part of the page that a selector names. */
async function press(page, within, text) {
  const mark = `wanted${Math.random().toString(36).slice(2)}`;
  await page.until(`(() => { const b = [...document.querySelectorAll(${JSON.stringify(within)} + ' button')]
    .find(b => b.textContent.trim() === ${JSON.stringify(text)}); b?.classList.add('${mark}');
    return b !== undefined; })()`);
  await page.press(`.${mark}`);
  await page.value(`document.querySelector('.${mark}')?.classList.remove('${mark}')`);
}

/** Walks through the setup of a new item, up to the address. */
async function setUp(page, person, modality, type, address) {
  await page.until(`!document.getElementById('dialog').open`);
  await press(page, `[data-person="${person}"]`, 'Add an item');
  await press(page, '#dialog', modality);
  await press(page, '#dialog', type);
  await press(page, '#dialog', 'Another sensor');
  await page.type('#dialog [name=uri]', address);
  await press(page, '#dialog', 'Check again');
}

const cells = `[...document.querySelectorAll('.cell')].map(c => [c.querySelector('.title').textContent,
  c.dataset.state])`;

test('an operator adds a person, sets two sensors up, and captures with one click each', async () => {
  const page = await open();
  assert.equal(await page.value(`document.getElementById('nobody').textContent`),
    'There is nobody yet: add a person.');
  await page.press('#add-person');
  await page.type('#dialog [name=firstName]', '<img src=x onerror=alert(1)>');
  await page.type('#dialog [name=lastName]', 'Kowalski');
  await press(page, '#dialog', 'Add');
  await page.until(`document.querySelector('.person h2')?.textContent
    === '<img src=x onerror=alert(1)> Kowalski'`);
  const person = await page.value(`document.querySelector('.person').dataset.person`);

  await setUp(page, person, 'Finger', 'Left Slap', FINGER);
  await page.until(`document.getElementById('check').dataset.result === 'found'`);
  assert.equal(await page.value(`document.getElementById('check').textContent`),
    'Found a sensor at this address.');
  await press(page, '#dialog', 'Done');
  await setUp(page, person, 'Face', 'Face', FINGER);
  await page.until(`document.getElementById('check').dataset.result === 'bad_modality'`);
  assert.equal(await page.value(`document.getElementById('check').textContent`),
    'The sensor at this address can\'t capture face data.');
  await page.type('#dialog [name=uri]', FACE);
  await press(page, '#dialog', 'Check again');
  await page.until(`document.getElementById('check').dataset.result === 'found'`);
  await press(page, '#dialog', 'Done');
  await page.until(`document.querySelectorAll('.cell').length === 2`);
  assert.deepEqual(await page.value(cells), [['Left Slap', 'capture'], ['Face', 'capture']]);

  await page.until(`!document.getElementById('dialog').open`);
  for (const number of [1, 2]) await page.press(`.cells li:nth-child(${number}) .cell`);
  await page.until(`[...document.querySelectorAll('.cell img')].filter(i => i.naturalWidth === 228).length
    === 2`);
  assert.deepEqual(await page.value(cells), [['Left Slap', 'inactive'], ['Face', 'inactive']]);
  await page.screenshot(join(FOLDER, 'sensors.png'));
  assert.deepEqual(page.errors, []);
  assert.deepEqual(page.asked.filter(url => !url.startsWith(ADDRESS) && !url.startsWith('data:')), []);
  await page.close();
});

test('an item is marked, moved and cleared, and others see it at once', async () => {
  const page = await open();
  const other = await open();
  await page.front();
  await page.press('.cells li:nth-child(1) .more-of');
  await page.until(`document.querySelector('#dialog img.large')?.naturalWidth > 0`);
  await page.press('#dialog label.flag:nth-of-type(2) input');
  await page.type('#dialog textarea', 'thumb in plaster');
  await press(page, '#dialog', 'Save');
  const item = await page.value(`document.querySelector('.cells li').dataset.item`);
  await page.until(`!document.getElementById('dialog').open`);
  await other.front();
  await other.until(`document.querySelector('.cells .title').textContent === 'Left Slap ✎'`);
  await other.press('.cells li:nth-child(1) .more-of');
  await other.until(`document.querySelector('#dialog textarea')?.value === 'thumb in plaster'`);
  assert.deepEqual(await other.value(
    `[...document.querySelectorAll('#dialog label.flag')].map(l => [l.textContent, l.firstChild.checked])`),
  [['Index missing', false], ['Middle missing', true], ['Ring missing', false],
    ['Little missing', false]]);
  await press(other, '#dialog', '→');
  await page.until(`document.querySelector('.cells li:nth-child(2)')?.dataset.item === '${item}'`);
  await page.front();
  await page.press('.cells li:nth-child(2) .more-of');
  await press(page, '#dialog', 'Clear');
  await press(page, '#dialog', 'Clear');
  await other.until(`document.querySelector('[data-item="${item}"] .cell').dataset.state === 'capture'`);
  assert.equal(await other.value(`document.querySelectorAll('[data-item="${item}"] img').length`), 0);
  await page.close();
  await other.close();
});

test('a sensor that is not there is told, and can be tried again', async () => {
  const page = await open();
  const person = await page.value(`document.querySelector('.person').dataset.person`);
  await setUp(page, person, 'Iris', 'Left Iris', 'http://127.0.0.1:1/none');
  await page.until(`document.getElementById('check').dataset.result === 'not_found'`);
  await press(page, '#dialog', 'Done');
  await page.until(`!document.getElementById('dialog').open`);
  const cell = `document.querySelector('.cells li:nth-child(3) .cell')`;
  await page.until(cell);
  await page.press('.cells li:nth-child(3) .cell');
  await page.until(`${cell}.dataset.state === 'warning'`);
  await page.until(`document.querySelector('.message')?.textContent.startsWith('Sensor problem: ')`);
  await page.press('.cells li:nth-child(3) .cell');
  await page.until(`${cell}.dataset.state === 'warning'`);
  await page.close();
});

test('a duplicate has the sensors and no captures; a person goes with a second click', async () => {
  const page = await open({ width: 320, height: 640, isPhone: true });
  await press(page, '.person', 'Duplicate');
  await page.until(`document.querySelectorAll('.person').length === 2`);
  assert.equal(await page.value(`document.querySelectorAll('.person:nth-child(2) .cell').length`), 3);
  assert.equal(await page.value(`document.querySelectorAll('.person:nth-child(2) img').length`), 0);
  assert.ok(await page.value('document.documentElement.scrollWidth <= 320'));
  await page.screenshot(join(FOLDER, 'sensors-phone.png'));
  await press(page, '.person:nth-child(2)', 'Delete');
  await press(page, '#dialog', 'Delete');
  await page.until(`document.querySelectorAll('.person').length === 1`);
  await page.close();
});
