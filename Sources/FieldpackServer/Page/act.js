// What the page of an operator asks of the server.

import { address, json } from './api.js';
import { report } from './dom.js';

/** The address of something that the page shows. */
export const place = (...path) => address(['sensors', ...path.map(String)]);

/**
 * Asks the server to do something.
 *
 * @param tag the entity tag that what is changed must still have; `null` for any
 */
export function send(method, url, body = null, tag = null) {
  const headers = { Accept: 'application/json' };
  if (tag) headers['If-Match'] = tag;
  if (body !== null) headers['Content-Type'] = 'application/json';
  return json(url, { method, headers, body: body === null ? undefined : JSON.stringify(body) });
}

/** Asks the server to do something, and tells the user where it refuses. */
export async function act(method, url, body = null) {
  try {
    await send(method, url, body);
  } catch (problem) {
    report(problem.message, { key: 'action', seconds: 12 });
  }
}
