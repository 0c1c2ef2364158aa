// Opens the map of a served survey, changes a well where the server takes edits, and takes a picture:
// node demo.mjs CHROMIUM ADDRESS PICTURE

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from './browser.mjs';

const [chromium, address, picture] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'fieldpack-browser-'));
const browser = new Browser(chromium, profile);
try {
  const page = await browser.open(`${address}map`, { width: 1200, height: 800 });
  const drawn = `fieldpack.layers.filter(l => l.tiles).every(l => !l.tiles.isLoading())`;
  await page.until('document.body.dataset.ready');
  await page.until(drawn);
  const count = await page.value('fieldpack.layers.length');
  console.log(`The browser shows ${count} layers.`);
  await page.value(`fieldpack.openTable(fieldpack.layerNamed('wells'))`);
  await page.until(`document.querySelectorAll('tbody tr').length > 0`);
  await page.value(`void fieldpack.zoomTo(fieldpack.layerNamed('zones'))`);
  await page.type('#condition', 'depth > 50');
  await page.key('Enter');
  await page.until(`fieldpack.layerNamed('wells').ids?.size > 0`);
  const rows = await page.value(`document.querySelectorAll('tbody tr').length`);
  console.log(`${rows} wells are deeper than 50 m.`);
  const first = await page.value(`document.querySelector('tbody tr').dataset.id`);
  const show = () => page.value(
    `fieldpack.details.show(fieldpack.layerNamed('wells'), ${JSON.stringify(first)})`);
  await show();
  const mayEdit = await page.value(`fetch('collections/wells/items/${first}', { method: 'OPTIONS' })
    .then(r => r.headers.get('Allow').includes('PATCH'))`);
  if (mayEdit) {
    await page.press('.details .edit');
    const visits = await page.value(`Number(document.querySelector('#edit [name=visits]').value)`);
    await page.type('#edit [name=visits]', String(visits + 1));
    await page.press('#edit .save');
    await page.until(`document.getElementById('messages').innerText.includes('Saved')`);
    console.log(`Well ${first} had ${visits} visits, and has ${visits + 1} now.`);
    await show();
  } else {
    console.log('This server takes no edits.');
  }
  await page.value('document.activeElement.blur()');
  await page.until(drawn);
  await page.value(`document.getElementById('messages').replaceChildren()`);
  await page.screenshot(picture);
  console.log(`${picture}: ${statSync(picture).size} bytes`);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
