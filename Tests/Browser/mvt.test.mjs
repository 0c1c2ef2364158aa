// The page's reader of vector tiles. The environment may name a tile of the server (TILE), what GDAL
// reads of it (GDAL, GeoJSON in Web Mercator) and its place (PLACE, zoom/column/row).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// A module of the page has the ending .js, which not every Node takes for a module.
const source = readFileSync(
  new URL('../../Sources/FieldpackServer/Page/mvt.js', import.meta.url), 'utf8');
const { readTile } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const field = (number, bytes) => [number << 3 | 2, bytes.length, ...bytes];
const text = (number, value) => field(number, [...Buffer.from(value)]);
const layer = (...parts) => new Uint8Array(field(3, [...text(1, 'a'), ...parts.flat()]));

test('the example of the specification: a line, and a polygon with a hole', () => {
  const line = field(2, [0x08, 7, 0x18, 2, ...field(4, [9, 4, 4, 18, 0, 16, 16, 0])]);
  const area = field(2, [0x18, 3, ...field(4, [
    9, 0, 0, 26, 20, 0, 0, 20, 19, 0, 15, 9, 4, 17, 26, 0, 8, 8, 0, 0, 7, 15])]);
  const [read] = readTile(layer(line, area));
  assert.deepEqual([read.name, read.extent], ['a', 4096]);
  assert.deepEqual(read.features, [
    { id: 7, type: 2, properties: {}, parts: [[2, 2, 2, 10, 10, 10]] },
    { id: null, type: 3, properties: {}, parts: [
      [0, 0, 10, 0, 10, 10, 0, 10, 0, 0], [2, 1, 2, 5, 6, 5, 6, 1, 2, 1]] },
  ]);
});

test('values of all types, with their keys behind the feature', () => {
  const double = Buffer.alloc(8);
  double.writeDoubleLE(1.5);
  const float = Buffer.alloc(4);
  float.writeFloatLE(0.25);
  const values = [
    text(1, 'ä'), [0x15, ...float], [0x19, ...double],
    [0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], [0x28, 0x80, 1], [0x30, 5],
    [0x38, 1],
  ];
  const tags = values.flatMap((_, index) => [index, index]);
  const point = field(2, [...field(2, tags), 0x18, 1, ...field(4, [9, 50, 34])]);
  const [read] = readTile(layer(
    point, ...values.map((_, index) => text(3, 'abcdefg'[index])),
    ...values.map(value => field(4, value))));
  assert.deepEqual(read.features[0].properties,
    { a: 'ä', b: 0.25, c: 1.5, d: -1, e: 128, f: -3, g: true });
  assert.deepEqual(read.features[0].parts, [[25, 17]]);
});

test('what ends too early is refused', () => {
  const whole = layer(field(2, [0x18, 1, ...field(4, [9, 50, 34])]));
  assert.equal(readTile(new Uint8Array(0)).length, 0);
  for (let length = 1; length < whole.length; length++) {
    assert.throws(() => readTile(whole.subarray(0, length)), undefined, `${length} bytes`);
  }
});

test('a tile of the server is read as GDAL reads it', { skip: !process.env.TILE }, () => {
  const { TILE, GDAL, PLACE } = process.env;
  const [zoom, column, row] = PLACE.split('/').map(Number);
  const edge = 20037508.342789244, width = 2 * edge / 2 ** zoom;
  const [own] = readTile(readFileSync(TILE));
  const places = feature => new Set(feature.parts.flatMap(part => part.flatMap((x, index) =>
    index % 2 ? [] : [[
      Math.round(-edge + (column + x / own.extent) * width),
      Math.round(edge - (row + part[index + 1] / own.extent) * width)].join()])));
  const found = JSON.parse(readFileSync(GDAL)).features.map(({ properties, geometry }) => {
    const { mvt_id: id, ...rest } = properties;
    const flat = geometry.coordinates.flat(Infinity);
    const pairs = new Set(flat.flatMap((x, index) =>
      index % 2 ? [] : [[Math.round(x), Math.round(flat[index + 1])].join()]));
    return [id, Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)), pairs];
  });
  assert.ok(found.length > 0);
  assert.deepEqual(own.features.map(feature => [feature.id, feature.properties, places(feature)]),
    found);
});
