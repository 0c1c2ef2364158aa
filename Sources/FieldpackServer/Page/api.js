// Requests to the server that the page comes from.

/** The address of the server, with a slash at its end: this file is in the folder `map` of it. */
export const base = new URL('..', import.meta.url);

/** A request that the server refused, or that did not reach the server (status 0). */
export class Problem extends Error {
  constructor(status, message, document = {}) {
    super(message);
    this.status = status;
    this.document = document;
  }
}

/** An address below that of the server; a `null` parameter is left out. */
export function address(path, parameters = {}) {
  const url = new URL(path.map(encodeURIComponent).join('/'), base);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

export const items = (layer, parameters) =>
  address(['collections', layer.id, 'items'], { f: 'json', ...parameters });

export const item = (layer, id) => address(['collections', layer.id, 'items', String(id)]);

/** Sends a request, and throws a {@link Problem} unless the answer is a good one. */
export async function ask(url, options = {}) {
  let response;
  try {
    response = await fetch(url, { cache: 'no-cache', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, navigator.onLine
      ? 'The server cannot be reached.' : 'This device is offline.');
  }
  if (response.ok) return response;
  if (response.status === 401) {
    throw new Problem(401, 'You are not signed in any more: load the page again to sign in.');
  }
  let document = {};
  try { document = await response.json(); } catch { /* The answer has no details. */ }
  throw new Problem(
    response.status, document.detail ?? document.title ?? `The server answered ${response.status}.`,
    document);
}

export async function json(url, options = {}) {
  return (await ask(url, { headers: { Accept: 'application/json' }, ...options })).json();
}

/** A feature as the server has it now, with its entity tag; positions in longitude and latitude. */
export async function feature(layer, id, signal) {
  const response = await ask(
    item(layer, id), { headers: { Accept: 'application/geo+json' }, signal });
  return { feature: await response.json(), tag: response.headers.get('ETag') };
}

/** The methods that the user may use on an address now, such as `PATCH`. */
export async function allowed(url) {
  try {
    const response = await ask(url, { method: 'OPTIONS' });
    return new Set((response.headers.get('Allow') ?? '').split(/\s*,\s*/));
  } catch {
    return new Set();
  }
}

/**
 * Changes something.
 *
 * @param tag the entity tag that the feature must still have; `null` for any
 */
export async function change(method, url, body, tag = null) {
  const headers = {};
  if (body !== null) {
    headers['Content-Type'] =
      method === 'PATCH' ? 'application/merge-patch+json' : 'application/geo+json';
  }
  if (tag) headers['If-Match'] = tag;
  return ask(url, { method, headers, body: body === null ? undefined : JSON.stringify(body) });
}

/**
 * The pages of a list, one after the other. The links of the server name it as it was asked, which a
 * proxy may have changed: only their parameters count.
 */
export async function* pages(url, signal) {
  for (let next = url; next;) {
    const page = await json(next, { signal });
    yield page;
    const link = page.links?.find(link => link.rel === 'next');
    if (!link) return;
    const following = new URL(next);
    following.search = new URL(link.href, next).search;
    next = following;
  }
}
