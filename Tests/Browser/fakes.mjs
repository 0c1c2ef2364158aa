// Scripts that stand in for the server in the tests of the page: edits, events and captures.

/** A script that answers edits out of memory, on top of what the server has. */
export const edits = `(() => {
  const real = window.fetch.bind(window);
  const kept = new Map(), tags = new Map();
  let last = 9000;
  const answer = (status, body, headers = {}) => new Response(
    body === null ? null : JSON.stringify(body),
    { status, headers: { 'Content-Type': 'application/geo+json', ...headers } });
  const tag = id => '"' + (tags.get(id) ?? 1) + '"';
  const read = async url => {
    const id = url.pathname.split('/').pop();
    if (kept.has(id)) return kept.get(id);
    const response = await real(url);
    return response.ok ? response.json() : null;
  };
  const write = (id, feature) => { kept.set(id, feature); tags.set(id, (tags.get(id) ?? 1) + 1); };
  window.fake = {
    log: [],
    async change(path, properties) {
      const url = new URL(path, location), id = url.pathname.split('/').pop();
      const feature = structuredClone(await read(url));
      Object.assign(feature.properties, properties);
      write(id, feature);
    },
    async read(path) { return read(new URL(path, location)); },
  };
  window.fetch = async (input, options = {}) => {
    const url = new URL(input, location), method = options.method ?? 'GET';
    const [, items, id] = url.pathname.match(/\\/collections\\/[^/]+\\/(items)(?:\\/([^/]+))?$/) ?? [];
    if (!items) return real(input, options);
    if (method === 'OPTIONS') {
      return answer(200, null, { Allow: id ? 'GET, PUT, PATCH, DELETE, OPTIONS' : 'GET, POST, OPTIONS' });
    }
    if (method === 'GET' && !id) return real(input, options);
    const feature = id ? await read(url) : null;
    if (id && !feature) return answer(404, { detail: 'There is no such feature.' });
    if (method === 'GET') return answer(200, feature, { ETag: tag(id) });
    const body = options.body ? JSON.parse(options.body) : null;
    window.fake.log.push([method, url.pathname, options.headers?.['If-Match'] ?? null, body]);
    if (method === 'POST') {
      const own = String(++last);
      write(own, { ...body, id: last });
      return answer(201, null, { Location: url.pathname + '/' + own });
    }
    if (options.headers?.['If-Match'] && options.headers['If-Match'] !== tag(id)) {
      return answer(412, { detail: 'The feature has changed.' });
    }
    if (method === 'DELETE') { write(id, null); return answer(204, null); }
    const changed = structuredClone(feature);
    Object.assign(changed.properties, body.properties);
    if (body.geometry !== undefined) changed.geometry = body.geometry;
    write(id, changed);
    return answer(204, null, { ETag: tag(id) });
  };
})();`;

/** A script whose events come from `window.emit`. */
export const events = `(() => {
  window.EventSource = class extends EventTarget {
    constructor() {
      super();
      this.readyState = 1;
      window.emit = (kind, data) => this.dispatchEvent(
        new MessageEvent(kind, { data: JSON.stringify(data) }));
      setTimeout(() => this.onopen?.());
    }
    close() {}
  };
})();`;

/** A script that answers for two captures: a picture, and a video along a line. */
export const captures = `(() => {
  const real = window.fetch.bind(window);
  const of = (token, type, points) => ({ token, info: {}, geodata: { points },
    files: [{ role: 'media', content_type: type }] });
  const answers = {
    '/captures': { captures: [{ token: 'a', title: '<b>A</b>' }, { token: 'b', title: 'B' }],
      numberMatched: 2, numberReturned: 2 },
    '/captures/a': of('a', 'image/jpeg', [{ timestamp: 0, coords: [2, 3] }]),
    '/captures/b': of('b', 'video/mp4',
      [{ timestamp: 0, coords: [4, 5] }, { timestamp: 10, coords: [4, 6] }]),
  };
  window.fetch = async (input, options) => {
    const answer = answers[new URL(input, location).pathname];
    return answer ? new Response(JSON.stringify(answer)) : real(input, options);
  };
})();`;
