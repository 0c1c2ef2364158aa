import FieldpackCore
import FieldpackGeometry

/// A vector tile as any reader sees it, read by the words of the specification
/// (https://github.com/mapbox/vector-tile-spec/tree/master/2.1) and with nothing of what writes tiles.
struct TileDocument: Equatable {
  struct Feature: Equatable {
    var id: UInt64?
    var kind = 0
    var properties: [String: Value] = [:]
    /// Lines, rings with their last position, or points in one part.
    var parts: [[SIMD2<Int>]] = []
  }

  struct Layer: Equatable {
    var name = ""
    var version: UInt64 = 1
    var extent: UInt64 = 4_096
    var features: [Feature] = []
  }

  struct Damage: Error { var what: String }

  var layers: [Layer] = []

  init(_ bytes: [UInt8]) throws {
    for (field, message) in try Message(bytes[...]).fields where field == 3 {
      layers.append(try Self.layer(message.bytes))
    }
  }

  subscript(name: String) -> Layer? { layers.first { $0.name == name } }

  private static func layer(_ bytes: ArraySlice<UInt8>) throws -> Layer {
    var layer = Layer()
    var (keys, values): ([String], [Value]) = ([], [])
    var features: [ArraySlice<UInt8>] = []
    for (field, value) in try Message(bytes).fields {
      switch field {
      case 1: layer.name = try value.text
      case 2: features.append(value.bytes)
      case 3: keys.append(try value.text)
      case 4: values.append(try self.value(value.bytes))
      case 5: layer.extent = value.number
      case 15: layer.version = value.number
      default: throw Damage(what: "field \(field) of a layer")
      }
    }
    guard Set(keys).count == keys.count else { throw Damage(what: "a key twice") }
    guard Set(values).count == values.count else { throw Damage(what: "a value twice") }
    layer.features = try features.map { try feature($0, keys, values) }
    return layer
  }

  private static func value(_ bytes: ArraySlice<UInt8>) throws -> Value {
    guard let (field, value) = try Message(bytes).fields.first else {
      throw Damage(what: "an empty value")
    }
    switch field {
    case 1: return .text(try value.text)
    case 3: return .real(Double(bitPattern: value.number))
    case 5: return .integer(Int64(value.number))
    case 6: return .integer(Int64(zigzag(value.number)))
    case 7: return .boolean(value.number == 1)
    default: throw Damage(what: "field \(field) of a value")
    }
  }

  private static func feature(
    _ bytes: ArraySlice<UInt8>, _ keys: [String], _ values: [Value]
  ) throws -> Feature {
    var feature = Feature()
    for (field, value) in try Message(bytes).fields {
      switch field {
      case 1: feature.id = value.number
      case 2:
        let tags = try Message.numbers(value.bytes)
        for pair in stride(from: 0, to: tags.count, by: 2) {
          feature.properties[keys[Int(tags[pair])]] = values[Int(tags[pair + 1])]
        }
      case 3: feature.kind = Int(value.number)
      case 4: feature.parts = try parts(try Message.numbers(value.bytes))
      default: throw Damage(what: "field \(field) of a feature")
      }
    }
    return feature
  }

  private static func parts(_ words: [UInt64]) throws -> [[SIMD2<Int>]] {
    var (parts, place, index) = ([[SIMD2<Int>]](), SIMD2(0, 0), 0)
    while index < words.count {
      let (command, count) = (words[index] & 7, Int(words[index] >> 3))
      index += 1
      if command == 7 {
        parts[parts.count - 1].append(parts[parts.count - 1][0])
        continue
      }
      guard command == 1 || command == 2 else { throw Damage(what: "command \(command)") }
      if command == 1 { parts.append([]) }
      for _ in 0..<count {
        let step = SIMD2(zigzag(words[index]), zigzag(words[index + 1]))
        guard command == 1 || step != SIMD2(0, 0) else { throw Damage(what: "a step of nothing") }
        place = place &+ step
        parts[parts.count - 1].append(place)
        index += 2
      }
    }
    return parts
  }

  private static func zigzag(_ word: UInt64) -> Int { Int(word >> 1) ^ -Int(word & 1) }
}

extension TileDocument.Feature {
  /// The polygons, where rings of positive area begin one each.
  var polygons: Geometry {
    var polygons: [[CoordinateSequence]] = []
    for ring in parts {
      if Self.area(ring) > 0 { polygons.append([]) }
      polygons[polygons.count - 1].append(Self.sequence(ring))
    }
    return .multiPolygon(polygons, .xy)
  }

  var geometry: Geometry {
    switch kind {
    case 1: .multiPoint(parts.joined().map { Position(x: Double($0.x), y: Double($0.y)) }, .xy)
    case 2: .multiLineString(parts.map(Self.sequence), .xy)
    default: polygons
    }
  }

  private static func sequence(_ part: [SIMD2<Int>]) -> CoordinateSequence {
    CoordinateSequence(
      dimensions: .xy, ordinates: part.flatMap { [Double($0.x), Double($0.y)] })
  }

  /// Twice the area by the surveyor's formula.
  static func area(_ ring: [SIMD2<Int>]) -> Int {
    zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.x * $1.1.y - $1.0.y * $1.1.x }
  }
}

/// The fields of a message of protocol buffers.
private struct Message {
  struct Field {
    var number: UInt64 = 0
    var bytes: ArraySlice<UInt8> = []

    var text: String {
      get throws {
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw TileDocument.Damage(what: "a text that is not UTF-8")
        }
        return text
      }
    }
  }

  private(set) var fields: [(Int, Field)] = []

  init(_ bytes: ArraySlice<UInt8>) throws {
    var rest = bytes
    while !rest.isEmpty {
      let tag = try Self.number(&rest)
      var field = Field()
      switch tag & 7 {
      case 0: field.number = try Self.number(&rest)
      case 1:
        for shift in 0..<8 { field.number |= UInt64(rest.removeFirst()) << (8 * shift) }
      case 2:
        let count = Int(try Self.number(&rest))
        guard count <= rest.count else { throw TileDocument.Damage(what: "a field cut short") }
        field.bytes = rest.prefix(count)
        rest = rest.dropFirst(count)
      default: throw TileDocument.Damage(what: "wire type \(tag & 7)")
      }
      fields.append((Int(tag >> 3), field))
    }
  }

  static func numbers(_ bytes: ArraySlice<UInt8>) throws -> [UInt64] {
    var (rest, numbers) = (bytes, [UInt64]())
    while !rest.isEmpty { numbers.append(try number(&rest)) }
    return numbers
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst() {
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw TileDocument.Damage(what: "a number cut short")
  }
}
