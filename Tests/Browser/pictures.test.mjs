// Pyramids of pictures on the map in Chromium. The environment names the browser (CHROMIUM), the address of
// a served survey whose eastern half is orange (ADDRESS), and a folder to write to (FOLDER).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser } from './browser.mjs';

const { CHROMIUM, ADDRESS, FOLDER } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile'));
after(() => browser.close());

const orange = [240, 140, 20];
const tiles = 'fieldpack.pictures[0].tiles';

async function open(view, options = {}) {
  const page = await browser.open(`${ADDRESS}/map#${view}`, options);
  await page.until('document.body.dataset.ready');
  await page.until(`[...fieldpack.layers, ...fieldpack.pictures].filter(l => l.tiles)
    .every(l => !l.tiles.isLoading())`);
  return page;
}

/** Waits until a place of the map has a color. */
async function becomes(page, [latitude, longitude], color) {
  const place = await page.pointOf(latitude, longitude);
  let seen;
  for (let count = 0; count < 100; count++) {
    [seen] = await page.colors(place);
    if (seen.every((part, index) => Math.abs(part - color[index]) <= 3)) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  assert.deepEqual(seen, color);
}

test('a picture lies below the layers, and only where it is', async () => {
  const page = await open('6/4.00000/0.00000', { width: 1000, height: 800 });
  const ground = await page.value(
    `getComputedStyle(document.getElementById('map')).backgroundColor.match(/\\d+/g).map(Number)`);
  await becomes(page, [6, 3], orange);
  // No frame is drawn around a tile without a picture.
  for (const longitude of [-3, -0.1]) await becomes(page, [6, longitude], ground);
  // A well of fire water.
  await becomes(page, [1, 2], [227, 26, 28]);
  assert.equal(await page.value(`document.querySelector('.credits').innerHTML`), '© Survey');
  assert.deepEqual(page.errors, []);
  await page.screenshot(join(FOLDER, 'pictures-1000.png'));
  await page.close();
});

test('the panel of layers switches a picture off, and lets the ground shine through', async () => {
  const page = await open('6/4.00000/0.00000');
  const ground = await page.value(
    `getComputedStyle(document.getElementById('map')).backgroundColor.match(/\\d+/g).map(Number)`);
  await page.value(`(slider => { slider.value = 40;
    slider.dispatchEvent(new Event('input', { bubbles: true })); })(
    document.querySelector('li[data-picture=ortho] input[type=range]'))`);
  await becomes(page, [6, 3], ground.map((part, index) => Math.round(part * 0.6 + orange[index] * 0.4)));
  await page.press('li[data-picture=ortho] input[type=checkbox]');
  await becomes(page, [6, 3], ground);
  assert.equal(await page.value(`document.querySelector('.credits').textContent`), '');
  await page.press('li[data-picture=ortho] input[type=checkbox]');
  await becomes(page, [6, 3], ground.map((part, index) => Math.round(part * 0.6 + orange[index] * 0.4)));
  await page.close();
});

test('deep zooms show the tiles that there are, larger', async () => {
  const page = await open('12/6.00000/3.00000');
  await becomes(page, [6, 3], orange);
  const levels = page.asked.map(url => url.match(/map\/tiles\/WebMercatorQuad\/(\d+)/)?.[1])
    .filter(Boolean);
  assert.deepEqual([...new Set(levels)], ['2']);
  await page.close();
});

test('a tile that does not come is told, and comes when the network is back', async () => {
  const page = await open('6/4.00000/-60.00000');
  await page.offline(true);
  await page.value(`void fieldpack.map.setView([6, 60], 6, { animate: false })`);
  await page.until(`[...document.querySelectorAll('.message')]
    .some(message => message.innerText.includes('A tile of Orange is missing'))`);
  await page.offline(false);
  await becomes(page, [6, 60], orange);
  await page.until(`!document.querySelector('.message')`);
  await page.close();
});

test('at 320 pixels the panel and the credits fit', async () => {
  const page = await open('5/4.00000/2.00000', { width: 320, height: 640, isPhone: true });
  await page.press('#show-layers');
  const ends = await page.value(`[...document.querySelectorAll(
    'li[data-picture] label, li[data-picture] button, li[data-picture] input, .credits')]
    .map(e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])`);
  assert.equal(ends.length, 5);
  assert.ok(ends.every(([left, right]) => left >= 0 && right <= 320), `${ends}`);
  assert.equal(await page.value('document.documentElement.scrollWidth'), 320);
  await page.value(`document.querySelector('li[data-picture]').scrollIntoView()`);
  await page.screenshot(join(FOLDER, 'pictures-320.png'));
  await page.close();
});
