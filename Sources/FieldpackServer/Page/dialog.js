// The dialog of the page, of which there is one.

import { at, button, element } from './dom.js';

/** Opens the dialog with a title and what it holds. */
export function open(title, ...children) {
  const dialog = at('dialog');
  dialog.replaceChildren(element('h2', { id: 'dialog-title' }, title), ...children);
  if (!dialog.open) dialog.showModal();
}

export const shut = () => at('dialog').close();

/** Sends what a form holds. The dialog stays open, with what was typed, where the server refuses. */
export function submits(form, send) {
  form.addEventListener('submit', async event => {
    event.preventDefault();
    try {
      await send();
      // Meanwhile the user may have closed the dialog and opened it for something else.
      if (form.isConnected) shut();
    } catch (problem) {
      form.querySelector('[role=alert]')?.remove();
      form.append(element('p', { role: 'alert' }, problem.message));
    }
  });
}

/** Asks a question; what is done stands on the button. */
export function ask(question, words, action) {
  open(question, element('div', { class: 'end' },
    button('Cancel', shut), button(words, () => { shut(); action(); })));
}
