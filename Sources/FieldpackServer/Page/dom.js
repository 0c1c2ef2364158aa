// Elements, and messages to whoever looks at the page. Texts go in as texts, never as markup.

export const at = id => document.getElementById(id);

/**
 * Makes an element. Properties that begin with `on` are listeners, others are attributes; `true` is an
 * attribute without a value, and `false`, `null` and `undefined` are left out.
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

export const button = (text, onclick, properties = {}) =>
  element('button', { type: 'button', onclick, ...properties }, text);

/** A picture of an SVG, made of tags, attributes and children. */
export function drawing(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const most = 4;

/**
 * Shows a message.
 *
 * @param key messages of the same key replace each other
 * @param again what a button "Try again" does
 * @param seconds after which the message goes; 0 for one that stays until it is closed
 */
export function report(text, { key = text, again = null, seconds = 0 } = {}) {
  const list = at('messages');
  retract(key);
  while (list.children.length >= most) list.firstChild.remove();
  const message = element('div', { class: 'message', 'data-key': key }, element('p', {}, text));
  if (again) message.append(button('Try again', () => { message.remove(); again(); }));
  message.append(button('×', () => message.remove(), { 'aria-label': 'Close the message' }));
  list.append(message);
  if (seconds) setTimeout(() => message.remove(), seconds * 1000);
}

/** Removes the messages of a key, which are no longer true. */
export function retract(key) {
  for (const old of [...at('messages').children]) if (old.dataset.key === key) old.remove();
}

/** Shows or hides a part of the page that a button of the bar opens. */
export function toggle(part, isShown) {
  at(part).hidden = !isShown;
  at(`show-${part}`)?.setAttribute('aria-expanded', String(isShown));
}

/** A value of a feature as a text. */
export function text(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number' && !Number.isInteger(value)) return String(+value.toPrecision(12));
  return String(value);
}

/** Gathers calls: `action` is called once, `milliseconds` after the first of them. */
export function gather(milliseconds, action) {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => { timer = null; action(); }, milliseconds);
  };
}
