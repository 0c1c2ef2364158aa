// The walkthrough that makes an item: what is captured, and by what sensor. Nothing is stored before its
// end.

import { place, send } from './act.js';
import { address, json } from './api.js';
import { open, shown, shut, submits } from './dialog.js';
import { button, element } from './dom.js';

/** Milliseconds from the last keystroke, or from the moment that an address is shown, to its check. */
const typing = 3000;
const again = 50;

/**
 * @param item what is set up anew; `null` for a new item of the person
 * @param start the first step: `modality`, or `device` for an item that only gets another sensor
 */
export function setUp(page, person, item, start = 'modality') {
  const setup = new Setup(page, person, item);
  if (start === 'device' && setup.type) setup.chooseDevice();
  else setup.chooseModality();
}

class Setup {
  constructor(page, person, item) {
    Object.assign(this, { page, person, item });
    this.modality = item?.modality ?? null;
    this.type = item?.submodality ?? null;
    this.device = item?.device ?? null;
  }

  chooseModality() {
    this.step('What part of the person is captured?', this.page.words.modalities.map(modality =>
      button(modality.name, () => {
        if (modality.name !== this.modality) this.type = this.device = null;
        this.modality = modality.name;
        this.chooseType();
      }, { 'aria-pressed': String(modality.name === this.modality) })));
  }

  chooseType() {
    const modality = this.page.words.modalities.find(({ name }) => name === this.modality);
    this.step('What exactly?', modality.types.map(type => button(type.title, () => {
      this.type = type.name;
      this.chooseDevice();
    }, { 'aria-pressed': String(type.name === this.type) })), () => this.chooseModality());
  }

  async chooseDevice() {
    const signal = shown();
    let recent = [];
    try {
      recent = (await json(address(['sensors', 'recent'], { modality: this.modality }))).devices;
    } catch { /* Without the list, an address can still be typed. */ }
    // Meanwhile the user may have closed the dialog.
    if (signal.aborted) return;
    const choices = recent.map(device => button(device.name || device.uri, () => {
      this.device = device;
      this.enterAddress();
    }, { title: device.uri }));
    if (this.item?.device && this.device) {
      choices.unshift(button('Keep the sensor', () => {
        this.device = this.item.device;
        this.enterAddress();
      }));
    }
    choices.push(button('Another sensor', () => { this.device = null; this.enterAddress(); }));
    this.step('By what sensor?', choices, () => this.chooseType());
  }

  enterAddress() {
    const uri = element('input', {
      name: 'uri', value: this.device?.uri ?? '', required: true, inputmode: 'url',
      autocomplete: 'off', spellcheck: false,
    });
    const name = element('input', { name: 'name', value: this.device?.name ?? '' });
    const words = element('p', { role: 'status', id: 'check' });
    const form = element('form', { method: 'dialog' }, words,
      element('label', {}, 'Address', uri), element('label', {}, 'Name', name),
      this.end(() => this.chooseDevice(),
        button('Check again', () => this.check(uri, words, again)),
        element('button', { type: 'submit' }, 'Done')));
    uri.addEventListener('input', () => this.check(uri, words, typing));
    submits(form, () => this.store({ uri: uri.value.trim(), name: name.value.trim() }));
    open('Where is the sensor?', form).addEventListener('abort', () => this.endCheck());
    this.check(uri, words, typing);
    uri.focus();
  }

  /** Asks after a while whether the sensor can capture this; another check ends the one before. */
  check(uri, words, wait) {
    this.endCheck();
    const controller = this.controller = new AbortController();
    words.dataset.result = uri.value.trim() ? 'checking' : 'blank';
    words.textContent = uri.value.trim() ? 'Checking …' : 'Enter a sensor address below.';
    if (!uri.value.trim()) return;
    this.timer = setTimeout(async () => {
      try {
        const result = await json(address(['sensors', 'check'], {
          uri: uri.value.trim(), modality: this.modality, submodality: this.type,
        }), { signal: controller.signal });
        words.dataset.result = result.result;
        words.textContent = result.text;
      } catch (problem) {
        if (problem.name !== 'AbortError') words.textContent = problem.message;
      }
    }, wait);
  }

  endCheck() {
    clearTimeout(this.timer);
    this.controller?.abort();
  }

  store(device) {
    this.endCheck();
    const body = { modality: this.modality, submodality: this.type, device };
    return this.item ? send('PATCH', place('items', this.item.id), body)
      : send('POST', place('persons', this.person.id, 'items'), body);
  }

  leave() {
    this.endCheck();
    shut();
  }

  step(title, choices, back = null) {
    open(title, element('div', { class: 'column' },
      element('div', { class: 'choices' }, ...choices), this.end(back)));
  }

  end(back, ...others) {
    return element('div', { class: 'end' }, back ? button('Back', back) : null,
      button('Cancel', () => this.leave()), ...others);
  }
}
