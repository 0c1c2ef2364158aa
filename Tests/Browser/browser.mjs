// Drives Chromium over its DevTools protocol, through pipes: nothing but Node is needed.
// https://chromedevtools.github.io/devtools-protocol/

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** The most milliseconds that a test waits for something. */
const patience = 20000;

export class Browser {
  /**
   * @param program the browser
   * @param profile a folder for the files of the browser
   */
  constructor(program, profile) {
    this.process = spawn(program, [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
      '--disable-background-networking', '--disable-component-update', '--hide-scrollbars',
      '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.last = 0;
    this.waiting = new Map();
    this.listeners = [];
    let rest = Buffer.alloc(0);
    this.process.stdio[4].on('data', data => {
      rest = Buffer.concat([rest, data]);
      for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
        this.take(JSON.parse(rest.subarray(0, end).toString()));
      }
    });
  }

  take(message) {
    if (message.id) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(JSON.stringify(message.error)));
      else resolve(message.result);
    } else {
      for (const listener of this.listeners) listener(message);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /** @param script what runs in the page before its own scripts; `null` for none */
  async open(url, { width = 1000, height = 800, isPhone = false, script = null } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.begin(width, height, isPhone);
    if (script) await page.send('Page.addScriptToEvaluateOnNewDocument', { source: script });
    await page.go(url);
    return page;
  }

  async close() {
    const ended = new Promise(resolve => this.process.on('exit', resolve));
    this.send('Browser.close').catch(() => {});
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
    /** The errors in the console of the page, and exceptions that no script caught. */
    this.errors = [];
    /** The addresses that the page asked for. */
    this.asked = [];
    browser.listeners.push(message => {
      if (message.sessionId !== session) return;
      const { method, params } = message;
      if (method === 'Runtime.exceptionThrown') {
        this.errors.push(params.exceptionDetails.exception?.description
          ?? params.exceptionDetails.text);
      } else if (method === 'Log.entryAdded' && params.entry.level === 'error') {
        this.errors.push(`${params.entry.text} ${params.entry.url ?? ''}`);
      } else if (method === 'Network.requestWillBeSent') {
        this.asked.push(params.request.url);
      } else if (method === 'Page.javascriptDialogOpening') {
        this.send('Page.handleJavaScriptDialog', { accept: true });
      }
    });
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  async begin(width, height, mobile) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    await this.send('Emulation.setDeviceMetricsOverride', {
      width, height, deviceScaleFactor: 1, mobile });
  }

  async go(url) { await this.send('Page.navigate', { url }); }

  /** A page behind others takes clicks only now and then. */
  front() { return this.send('Page.bringToFront'); }

  close() { return this.browser.send('Target.closeTarget', { targetId: this.target }); }

  /** The value of an expression in the page; promises are waited for. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Waits until an expression is true, and gives its value. */
  async until(expression, milliseconds = patience) {
    const end = Date.now() + milliseconds;
    for (;;) {
      const value = await this.value(expression).catch(error => {
        if (Date.now() > end) throw error;
      });
      if (value) return value;
      if (Date.now() > end) {
        throw new Error(`this never became true: ${expression}\n${this.errors.join('\n')}\n`
          + await this.value('document.body.innerText'));
      }
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  }

  // Hands

  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', {
      type, x, y, button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1, ...more });
  }

  async click(x, y) {
    await this.mouse('mouseMoved', x, y, { button: 'none', buttons: 0 });
    await this.mouse('mousePressed', x, y);
    await this.mouse('mouseReleased', x, y);
  }

  async drag(from, to) {
    await this.mouse('mouseMoved', ...from, { button: 'none', buttons: 0 });
    await this.mouse('mousePressed', ...from);
    for (let step = 1; step <= 8; step++) {
      await this.mouse('mouseMoved', ...from.map((start, axis) =>
        start + (to[axis] - start) * step / 8));
    }
    // Leaflet moves what is dragged with the next frame.
    await this.value('new Promise(requestAnimationFrame)');
    await this.mouse('mouseReleased', ...to);
  }

  /** Clicks on the element of a selector. */
  async press(selector) {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    await this.until(`${found}?.getClientRects().length > 0`);
    // A click would miss an element that still moves.
    const [x, y] = await this.until(`(async () => { const e = ${found};
      e.scrollIntoView({ block: 'nearest' });
      const place = () => (b => [b.left + b.width / 2, b.top + b.height / 2])(
        e.getBoundingClientRect());
      const before = place();
      await new Promise(resolve => setTimeout(resolve, 50));
      return String(place()) === String(before) && before; })()`);
    await this.click(x, y);
  }

  /** Types a text in place of what is in a field. */
  async type(selector, text) {
    await this.value(`(() => { const e = document.querySelector(${JSON.stringify(selector)});
      e.focus(); e.select?.(); })()`);
    await this.send('Input.insertText', { text });
  }

  async key(key, modifiers = 0) {
    const codes = { Enter: 13, Escape: 27, Tab: 9, Delete: 46, ArrowLeft: 37, ArrowUp: 38,
      ArrowRight: 39, ArrowDown: 40 };
    const event = {
      key, code: key, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0), modifiers,
      text: key === 'Enter' ? '\r' : undefined };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** Where a place of the map is in the window. */
  async pointOf(latitude, longitude) {
    return this.value(`(() => { const { map } = fieldpack;
      const p = map.latLngToContainerPoint([${latitude}, ${longitude}]);
      const b = map.getContainer().getBoundingClientRect(); return [b.left + p.x, b.top + p.y]; })()`);
  }

  async offline(offline) {
    await this.send('Network.emulateNetworkConditions', {
      offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  }

  async screenshot(file) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  /** The red, green and blue of places in the window, as they are drawn now. */
  async colors(...places) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    return this.value(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${data}';
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return ${JSON.stringify(places)}.map(([x, y]) =>
        [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3));
    })()`);
  }
}

/** Clicks on the button with that text in the part of the page that a selector names. */
export async function press(page, within, text) {
  const mark = `wanted${Math.random().toString(36).slice(2)}`;
  await page.until(`(() => { const b = [...document.querySelectorAll(${JSON.stringify(within)} + ' button')]
    .find(b => b.textContent.trim() === ${JSON.stringify(text)}); b?.classList.add('${mark}');
    return b !== undefined; })()`);
  await page.press(`.${mark}`);
  await page.value(`document.querySelector('.${mark}')?.classList.remove('${mark}')`);
}
