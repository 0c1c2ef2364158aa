// The page of an operator in Chromium, with two simulated sensors. The environment names the browser
// (CHROMIUM), the address of a server with the page (ADDRESS), the addresses of a fingerprint sensor and
// of a camera (FINGER, FACE), and a folder to write to (FOLDER).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser, press } from './browser.mjs';

const { CHROMIUM, ADDRESS, FINGER, FACE, FOLDER } = process.env;
const browser = new Browser(CHROMIUM, join(FOLDER, 'profile'));
after(() => browser.close());

async function open(options = {}) {
  const page = await browser.open(`${ADDRESS}/sensors`, options);
  await page.until('document.body.dataset.ready');
  return page;
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

test('who saves an item keeps what another has written meanwhile', async () => {
  const page = await open();
  await page.press('.cells li:nth-child(2) .more-of');
  const item = await page.value(`document.querySelector('.cells li:nth-child(2)').dataset.item`);
  const answer = await fetch(`${ADDRESS}/sensors/items/${item}`, {
    method: 'PATCH', body: JSON.stringify({ notes: 'written by another' }) });
  assert.equal(answer.status, 200);
  await page.press('#dialog label.flag:nth-of-type(1) input');
  await press(page, '#dialog', 'Save');
  await page.until(`!document.getElementById('dialog').open`);
  const { persons } = await (await fetch(`${ADDRESS}/sensors/state`)).json();
  const now = persons[0].items.find(({ id }) => String(id) === item);
  assert.equal(now.notes, 'written by another');
  assert.deepEqual(now.annotations, [true, true, false, false]);
  await page.close();
});

const panel = `document.querySelector('#dialog`;

test('a setup that is cancelled leaves nothing, and Connect readies the sensors', async () => {
  const page = await open();
  const person = await page.value(`document.querySelector('.person').dataset.person`);
  const choices = `[...document.querySelectorAll('#dialog .choices button')].map(b => b.textContent)`;
  await press(page, `[data-person="${person}"]`, 'Add an item');
  assert.deepEqual(await page.value(choices),
    ['Finger', 'Face', 'Iris', 'Ear', 'Vein', 'Retina', 'Foot', 'Other']);
  await press(page, '#dialog', 'Other');
  assert.equal((await page.value(choices)).includes('Keystroke'), false);
  await press(page, '#dialog', 'Back');
  await press(page, '#dialog', 'Finger');
  const fingers = await page.value(choices);
  assert.equal(fingers.length, 23);
  assert.equal(fingers[0], 'Left Slap');
  await press(page, '#dialog', 'Left Slap');
  await page.until(`(${choices}).at(-1) === 'Another sensor'`);
  assert.equal((await page.value(choices)).length, 2);
  await press(page, '#dialog', 'Another sensor');
  assert.equal(await page.value(`document.getElementById('check').textContent`),
    'Enter a sensor address below.');
  await page.key('Escape');
  await page.until(`!document.getElementById('dialog').open`);
  assert.equal(await page.value(`document.querySelectorAll('.cell').length`), 2);
  await press(page, '.person', 'Connect');
  await page.until(`document.querySelectorAll('.link[data-ready=true]').length === 2`);
  await page.close();
});

test('the panel of an item shows what its sensor sees, and captures', async () => {
  const page = await open();
  await page.press('.cells li:nth-child(2) .more-of');
  await page.until(`${panel} .live figcaption')?.textContent === 'Live'`);
  // The rings of the simulated sensor, and the number of the frame in the lowest corner.
  const pixel = (x, y) => page.value(`[...${panel} canvas').getContext('2d')
    .getImageData(${x}, ${y}, 1, 1).data]`);
  assert.deepEqual(await pixel(64, 63), [0, 0, 0, 255]);
  assert.deepEqual(await pixel(72, 63), [8, 8, 8, 255]);
  const first = await pixel(0, 127);
  await page.until(`${panel} canvas').getContext('2d').getImageData(0, 127, 1, 1).data[0]
    !== ${first[0]}`);
  await page.screenshot(join(FOLDER, 'preview.png'));
  await press(page, '#dialog', 'Capture');
  await page.until(`${panel} img.large')?.naturalWidth === 128`);
  assert.equal(await page.value(`document.querySelectorAll('#dialog .live').length`), 0);
  assert.equal(await page.value(`${panel} .capture').hidden`), true);
  await page.key('Escape');
  await page.until(`!document.getElementById('dialog').open`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('an item without data shows nothing live where its sensor does not answer', async () => {
  const page = await open();
  const person = await page.value(`document.querySelector('.person').dataset.person`);
  await fetch(`${ADDRESS}/sensors/persons/${person}/items`, {
    method: 'POST', body: JSON.stringify({
      modality: 'Ear', submodality: 'LeftEar', device: { uri: 'http://127.0.0.1:1', name: '' } }),
  });
  await page.press('.cells li:nth-child(3) .more-of');
  await page.until(`${panel} .live figcaption')?.textContent
    === 'What answers this is not to be reached now. Ask again later.'`);
  assert.equal(await page.value(`${panel} canvas').hidden`), true);
  await press(page, '#dialog', 'Change the sensor');
  await page.until(`${panel} h2').textContent === 'By what sensor?'`);
  await press(page, '#dialog', 'Cancel');
  await page.press('.cells li:nth-child(3) .more-of');
  await press(page, '#dialog', 'Delete');
  await press(page, '#dialog', 'Delete');
  await page.until(`document.querySelectorAll('.cell').length === 2`);
  await page.close();
});

test('of two who edit a person, the later sees what the first has changed', async () => {
  const [one, two] = [await open(), await open()];
  const edit = async page => {
    await page.front();
    await press(page, '.person', 'Edit');
  };
  const name = (page, name) => page.until(`document.querySelector('.person h2').textContent
    === '${name}'`);
  const field = field => `${panel} [name=${field}]').value`;
  await edit(one);
  await edit(two);
  for (const [page, first, last] of [[two, 'Zofia', 'Kowalski'], [one, null, 'Nowak']]) {
    await page.front();
    if (first) await page.type('#dialog [name=firstName]', first);
    await page.type('#dialog [name=lastName]', last);
    await press(page, '#dialog', 'Save');
  }
  // What the second has not touched is taken over; a list counts as one field.
  await one.until(`${panel} [role=alert]')?.textContent.startsWith(
    'Somebody else has changed this person meanwhile. Those changes are in the form')`);
  assert.equal(await one.value(field('firstName')), 'Zofia');
  await press(one, '#dialog', 'Save');
  await name(one, 'Zofia Nowak');
  await name(two, 'Zofia Nowak');

  await one.until(`!document.getElementById('dialog').open`);
  await two.until(`!document.getElementById('dialog').open`);
  await edit(one);
  await edit(two);
  for (const [page, last] of [[two, 'Novak'], [one, 'Nowakowa']]) {
    await page.front();
    await page.type('#dialog [name=lastName]', last);
    await page.type('#dialog [name=aliases]', `${last}\nZ.`);
    await press(page, '#dialog', 'Save');
  }
  await one.until(`${panel} [role=alert]')`);
  assert.equal(await one.value(`${panel} [role=alert]').innerText.replace(/\\s+/g, ' ')`),
    'Somebody else has changed this person meanwhile. If you save again, what stands in the form '
    + 'counts instead of: Last name is now “Novak” Aliases is now “Novak, Z.”');
  await one.screenshot(join(FOLDER, 'conflict.png'));
  await press(one, '#dialog', 'Save');
  await name(one, 'Zofia Nowakowa');
  await name(two, 'Zofia Nowakowa');
  await one.close();
  await two.close();
});

test('200 events a second reach the page, which stays usable', async context => {
  // Each message that comes in is noted before the page takes it.
  const page = await open({ script: `window.heard = [];
    window.EventSource = class extends EventSource {
      constructor(address) { super(address); window.source = this; }
      addEventListener(kind, action) {
        super.addEventListener(kind, message => {
          heard.push([kind, Date.now(), JSON.parse(message.data)]);
          action(message);
        });
      }
    };` });
  const ask = async (method, path, body) => (await fetch(`${ADDRESS}/sensors/${path}`, {
    method, body: JSON.stringify(body) })).json();
  const person = await ask('POST', 'persons', { lastName: 'Busy' });
  for (let count = 0; count < 40; count++) {
    await ask('POST', `persons/${person.id}/items`, { modality: 'Iris', submodality: 'LeftIris' });
  }
  const row = `[...document.querySelectorAll('[data-person="${person.id}"] li[data-item]')]`;
  await page.until(`${row}.length === 40`);
  const items = await page.value(`${row}.map(cell => Number(cell.dataset.item))`);
  await page.value('heard.length = 0');

  const [seconds, rate] = [3, 200];
  const answers = [];
  let isSending = true;
  const begun = Date.now();
  const sending = (async () => {
    for (let count = 0; count < seconds * rate; count++) {
      const late = begun + count * 1000 / rate - Date.now();
      if (late > 0) await new Promise(resolve => setTimeout(resolve, late));
      // The last round has marks at every second item.
      const notes = count >= seconds * rate - 40 && count % 2 ? '' : `${count} ${Date.now()}`;
      answers.push(ask('PATCH', `items/${items[count % 40]}`, { notes }));
    }
    await Promise.all(answers);
    isSending = false;
  })();
  // The page answers to clicks meanwhile.
  await page.press('#add-person');
  await page.until(`document.getElementById('dialog').open`);
  assert.ok(isSending);
  await press(page, '#dialog', 'Cancel');
  await sending;
  const took = (Date.now() - begun) / 1000;
  const now = (await ask('GET', 'state')).persons.find(({ id }) => id === person.id).items;
  const expected = items.map(id => now.find(item => item.id === id).notes ?? null);
  // What comes in last is what holds, and it is what the page shows.
  await page.until(`(() => { const last = new Map(heard.filter(h => h[0] === 'item')
    .map(h => [h[2].id, h[2].notes ?? null]));
    return JSON.stringify(${JSON.stringify(items)}.map(id => last.get(id)))
      === ${JSON.stringify(JSON.stringify(expected))}; })()`);
  await page.until(`JSON.stringify(${row}.map(cell => cell.innerText.includes('✎')))
    === '${JSON.stringify(expected.map(notes => notes !== null))}'`);
  const heard = await page.value(`heard.filter(h => h[0] === 'item')
    .map(h => [h[1], Number(h[2].notes?.split(' ')[1] ?? h[1])])`);
  const delays = heard.map(([come, sent]) => come - sent).sort((a, b) => a - b);
  context.diagnostic(`${answers.length} changes in ${took.toFixed(1)} s, ${heard.length} events; delays: `
    + `median ${delays[delays.length >> 1]} ms, longest ${delays.at(-1)} ms`);

  // What comes between two drawings is drawn at once, and each item only as it is last.
  await page.value(`(() => {
    window.drawings = ${row}.map(cell => {
      const drawn = { id: Number(cell.dataset.item), count: 0 };
      new MutationObserver(list => { drawn.count += list.length; })
        .observe(cell.querySelector('.title'), { childList: true });
      return drawn;
    });
    const told = new Map(heard.filter(h => h[0] === 'item').map(h => [h[2].id, h[2]]));
    for (let count = 0; count < 600; count++) {
      const data = { ...told.get(drawings[count % 40].id), notes: count < 560 ? undefined : 'last' };
      source.dispatchEvent(new MessageEvent('item', { data: JSON.stringify(data) }));
    }
  })()`);
  await page.until(`${row}.every(cell => cell.innerText.includes('✎'))`);
  assert.deepEqual(await page.value('drawings.map(({ count }) => count)'), items.map(() => 1));

  await ask('DELETE', `persons/${person.id}`);
  await page.until(`document.querySelectorAll('.person').length === 1`);
  await page.close();
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
