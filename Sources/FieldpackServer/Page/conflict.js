// What to do where somebody else has changed a feature meanwhile: a choice for each column.

import { button, element, text } from './dom.js';

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/**
 * The columns that both have changed, and to different values. The geometry has the name `null`.
 *
 * @param before the feature as it was when the edit began
 * @param mine what the edit changes: properties, and the geometry where it is one of the changes
 * @param theirs the feature as it is now
 */
export function conflicts(before, mine, theirs) {
  const found = Object.keys(mine.properties ?? {}).filter(name => {
    const now = theirs.properties[name];
    return !same(now, before.properties[name]) && !same(now, mine.properties[name]);
  });
  const isMoved = mine.geometry !== undefined && !same(theirs.geometry, before.geometry)
    && !same(theirs.geometry, mine.geometry);
  return isMoved ? [...found, null] : found;
}

/** What is left of `mine` without the columns for which `theirs` was chosen. */
export function resolved(mine, isMine) {
  const properties = Object.fromEntries(
    Object.entries(mine.properties ?? {}).filter(([name]) => isMine.get(name) ?? true));
  const rest = { properties };
  if (mine.geometry !== undefined && (isMine.get(null) ?? true)) rest.geometry = mine.geometry;
  return rest;
}

/**
 * Asks for each column whose value counts.
 *
 * @returns what is to be sent, or `null` where the edit is given up
 */
export function choose(place, before, mine, theirs) {
  const names = conflicts(before, mine, theirs);
  return new Promise(resolve => {
    const isMine = new Map();
    const shown = (value, name) => name === null ? value?.type ?? 'none' : text(value) || 'none';
    const rows = names.map((name, index) => {
      isMine.set(name, true);
      const option = (label, value, mineCounts) => element('label', {},
        element('span', {},
          element('input', {
            type: 'radio', name: `conflict-${index}`, checked: mineCounts,
            onchange: () => isMine.set(name, mineCounts),
          }), ` ${label}: ${shown(value, name)}`));
      const [was, own, now] = name === null
        ? [before.geometry, mine.geometry, theirs.geometry]
        : [before.properties[name], mine.properties[name], theirs.properties[name]];
      return element('fieldset', { 'data-column': name ?? '' },
        element('legend', {}, name ?? 'Geometry'),
        element('p', { class: 'faint' }, `was: ${shown(was, name)}`),
        option('mine', own, true), option('theirs', now, false));
    });
    const finish = result => {
      place.replaceChildren();
      resolve(result);
    };
    place.replaceChildren(element('div', { class: 'conflict', role: 'alertdialog',
      'aria-label': 'Changed by somebody else' },
    element('p', {}, names.length
      ? 'Somebody else has changed the same columns. Which values count?'
      : 'Somebody else has changed other columns. Those changes stay.'),
    ...rows, element('div', { class: 'tools' },
      button('Save', () => finish(resolved(mine, isMine)), { class: 'resolve' }),
      button('Give up', () => finish(null)))));
    place.querySelector('input, button').focus();
  });
}
