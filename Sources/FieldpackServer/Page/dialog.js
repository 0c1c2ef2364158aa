// The dialog of the page, of which there is one.

import { at, button, element } from './dom.js';

const dialog = at('dialog');
/** Ends what the dialog shows now. */
let showing = new AbortController();
const leave = () => showing.abort();
// Also comes where the user presses Escape; and late, where the dialog is open again.
dialog.addEventListener('close', () => { if (!dialog.open) leave(); });

/**
 * Opens the dialog with a title and what it holds.
 *
 * @returns a signal of the end of that: the dialog is closed, or shows something else
 */
export function open(title, ...children) {
  leave();
  showing = new AbortController();
  dialog.replaceChildren(element('h2', { id: 'dialog-title' }, title), ...children);
  if (!dialog.open) dialog.showModal();
  return showing.signal;
}

/** A signal of the end of what the dialog shows now. */
export const shown = () => showing.signal;

export function shut() {
  leave();
  dialog.close();
}

/**
 * Sends what a form holds. The dialog stays open, with what was typed, where the server refuses.
 *
 * @param refused gets the problem, and gives what is shown of it
 */
export function submits(form, send, refused = async problem => [problem.message]) {
  form.addEventListener('submit', async event => {
    event.preventDefault();
    try {
      await send();
      // Meanwhile the user may have closed the dialog and opened it for something else.
      if (form.isConnected) shut();
    } catch (problem) {
      const shown = await refused(problem);
      form.querySelector('[role=alert]')?.remove();
      form.append(element('div', { role: 'alert' }, ...shown));
    }
  });
}

/** Asks a question; what is done stands on the button. */
export function ask(question, words, action) {
  open(question, element('div', { class: 'end' },
    button('Cancel', shut), button(words, () => { shut(); action(); })));
}
