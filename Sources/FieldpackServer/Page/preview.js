// What a sensor sees now: pictures that the server sends one after the other, each with its length.

import { ask } from './api.js';
import { element } from './dom.js';

/**
 * Shows what the sensor of an item sees, until `signal` ends it.
 *
 * @param url where the server sends the pictures, as multipart/x-mixed-replace
 * @param name what people call the item
 */
export function preview(url, name, signal) {
  const canvas = element('canvas', {
    class: 'large', role: 'img', 'aria-label': `What the sensor sees: ${name}`, hidden: true,
  });
  const words = element('figcaption', { role: 'status' }, 'Waiting for the picture of the sensor …');
  show(canvas, words, url, signal).catch(problem => {
    if (signal.aborted) return;
    canvas.hidden = true;
    words.textContent = problem.message;
  });
  return element('figure', { class: 'live' }, canvas, words);
}

async function show(canvas, words, url, signal) {
  const parts = new Parts((await ask(url, { signal })).body.getReader());
  for (let blob; (blob = await parts.next());) {
    let picture;
    try { picture = await createImageBitmap(blob); } catch { continue; }
    if (signal.aborted) return;
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.getContext('2d').drawImage(picture, 0, 0);
    picture.close();
    canvas.hidden = false;
    words.textContent = 'Live';
  }
  // The last picture is no longer what the sensor sees.
  canvas.hidden = true;
  words.textContent = 'The sensor shows no more.';
}

/** The parts of an answer: fields, an empty line, and as many bytes as the fields say. */
class Parts {
  constructor(reader) {
    this.reader = reader;
    this.rest = new Uint8Array(0);
  }

  /** @returns whether there was more */
  async read() {
    const { done, value } = await this.reader.read();
    if (done) return false;
    const joined = new Uint8Array(this.rest.length + value.length);
    joined.set(this.rest);
    joined.set(value, this.rest.length);
    this.rest = joined;
    return true;
  }

  /** @returns the next part; `null` at the end */
  async next() {
    let end;
    while ((end = this.headEnd()) < 0) if (!await this.read()) return null;
    const head = new TextDecoder().decode(this.rest.subarray(0, end));
    const field = name => new RegExp(`^${name}: *(.*?)\\s*$`, 'im').exec(head)?.[1];
    const content = new Uint8Array(Number(field('Content-Length')) || 0);
    let piece = this.rest.subarray(end);
    this.rest = new Uint8Array(0);
    for (let count = 0; ;) {
      const taken = piece.subarray(0, content.length - count);
      content.set(taken, count);
      count += taken.length;
      if (count === content.length) {
        this.rest = piece.slice(taken.length);
        return new Blob([content], { type: field('Content-Type') });
      }
      const { done, value } = await this.reader.read();
      if (done) return null;
      piece = value;
    }
  }

  /** Where the bytes behind the next empty line begin; -1 where it has not come yet. */
  headEnd() {
    for (let index = 3; index < this.rest.length; index++) {
      const [a, b, c, d] = this.rest.subarray(index - 3, index + 1);
      if (a === 13 && b === 10 && c === 13 && d === 10) return index + 1;
    }
    return -1;
  }
}
