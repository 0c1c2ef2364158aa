// Reads Mapbox Vector Tiles, version 2.1: https://github.com/mapbox/vector-tile-spec

/** A signed number from its zigzag code: 0, -1, 1, -2, … */
const unzigzag = value => value % 2 ? -(value + 1) / 2 : value / 2;

/** Reads the fields of a message of Protocol Buffers. */
class Reader {
  constructor(bytes, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.place = start;
    this.end = end;
    if (end > bytes.length) throw new Error('the tile ends too early');
  }

  /** Calls `take` with the number of each field and the type of its value. */
  each(take) {
    while (this.place < this.end) {
      const key = this.varint();
      take(key >>> 3, key & 7);
    }
  }

  /** Numbers beyond 2^53 lose digits. */
  varint() {
    let value = 0, factor = 1;
    for (let count = 0; count < 10; count++) {
      if (this.place >= this.end) throw new Error('the tile ends too early');
      const byte = this.bytes[this.place++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw new Error('a number of the tile has no end');
  }

  /** A number whose negative values are the upper half of 64 bits. */
  signed() {
    const start = this.place;
    const value = this.varint();
    if (value < 2 ** 63) return value;
    this.place = start;
    let number = 0n, shift = 0n, byte;
    do {
      byte = this.bytes[this.place++];
      number |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte >= 128);
    return Number(BigInt.asIntN(64, number));
  }

  zigzag() { return unzigzag(this.varint()); }

  message() {
    const length = this.varint(), start = this.place;
    this.place += length;
    if (this.place > this.end) throw new Error('the tile ends too early');
    return new Reader(this.bytes, start, this.place);
  }

  text() {
    const part = this.message();
    return new TextDecoder().decode(this.bytes.subarray(part.place, part.end));
  }

  number(width) {
    const start = this.place;
    this.place += width;
    if (this.place > this.end) throw new Error('the tile ends too early');
    return width === 4 ? this.view.getFloat32(start, true) : this.view.getFloat64(start, true);
  }

  skip(type) {
    if (type === 0) this.varint();
    else if (type === 1) this.place += 8;
    else if (type === 2) this.message();
    else if (type === 5) this.place += 4;
    else throw new Error(`a field of the tile has the type ${type}`);
  }

  packed() {
    const part = this.message(), numbers = [];
    while (part.place < part.end) numbers.push(part.varint());
    return numbers;
  }
}

function readValue(reader) {
  let value = null;
  reader.each((field, type) => {
    switch (field) {
      case 1: value = reader.text(); break;
      case 2: value = reader.number(4); break;
      case 3: value = reader.number(8); break;
      case 4: value = reader.signed(); break;
      case 5: value = reader.varint(); break;
      case 6: value = reader.zigzag(); break;
      case 7: value = reader.varint() !== 0; break;
      default: reader.skip(type);
    }
  });
  return value;
}

/** Points, lines or rings, each as a list of x, y, x, y, … */
function readGeometry(commands, type) {
  const parts = [];
  let part = null, x = 0, y = 0, place = 0;
  const step = () => {
    const value = commands[place++];
    if (value === undefined) throw new Error('a geometry of the tile ends too early');
    return unzigzag(value);
  };
  while (place < commands.length) {
    const command = commands[place] & 7, count = commands[place++] >>> 3;
    if (command === 7) {
      if (part) part.push(part[0], part[1]);
      continue;
    }
    if (command !== 1 && command !== 2) throw new Error(`a tile has the command ${command}`);
    for (let index = 0; index < count; index++) {
      x += step();
      y += step();
      if (command === 1) parts.push(part = []);
      if (!part) throw new Error('a line of the tile begins nowhere');
      part.push(x, y);
    }
  }
  return type === 1 ? [parts.flat()] : parts;
}

function readFeature(reader, keys, values) {
  const feature = { id: null, type: 0, properties: {}, parts: [] };
  let tags = [], commands = [];
  reader.each((field, type) => {
    switch (field) {
      case 1: feature.id = reader.varint(); break;
      case 2: tags = reader.packed(); break;
      case 3: feature.type = reader.varint(); break;
      case 4: commands = reader.packed(); break;
      default: reader.skip(type);
    }
  });
  for (let index = 0; index + 1 < tags.length; index += 2) {
    feature.properties[keys[tags[index]]] = values[tags[index + 1]];
  }
  feature.parts = readGeometry(commands, feature.type);
  return feature;
}

function readLayer(reader) {
  const layer = { name: '', extent: 4096, features: [] };
  const keys = [], values = [], features = [];
  reader.each((field, type) => {
    switch (field) {
      case 1: layer.name = reader.text(); break;
      // The keys and values of a feature may stand behind the feature.
      case 2: features.push(reader.message()); break;
      case 3: keys.push(reader.text()); break;
      case 4: values.push(readValue(reader.message())); break;
      case 5: layer.extent = reader.varint(); break;
      default: reader.skip(type);
    }
  });
  layer.features = features.map(feature => readFeature(feature, keys, values));
  return layer;
}

/**
 * Reads a tile.
 *
 * @param bytes a Uint8Array; an empty one is a tile without layers
 * @returns layers with name, extent and features: id (`null` where there is none), type (1 points,
 *   2 lines, 3 polygons), properties, parts
 */
export function readTile(bytes) {
  const layers = [], reader = new Reader(bytes);
  reader.each((field, type) => {
    if (field === 3) layers.push(readLayer(reader.message()));
    else reader.skip(type);
  });
  return layers;
}
