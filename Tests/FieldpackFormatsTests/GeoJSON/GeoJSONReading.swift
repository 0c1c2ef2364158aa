import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// Keeps the rows it is given.
struct RowRecorder: FeatureSink {
  struct Row: Equatable {
    var id: FeatureID
    var values: [Value]
    var geometry: Geometry?
    var envelope: Envelope?
  }

  var schemas: [Schema] = []
  var rows: [Row] = []

  mutating func begin(_ schema: Schema) { schemas.append(schema) }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    let columns = schemas.last?.columns ?? []
    let key = KeyTuple(store: "test", layer: "test", feature: row.id)
    rows.append(
      Row(
        id: row.id, values: columns.indices.map { row.stored(at: $0) },
        geometry: try row.geometry(key: key), envelope: row.envelope))
  }

  /// The stored values of one column.
  func column(_ name: String) -> [Value] {
    guard let index = schemas.last?.columnIndex(name) else { return [] }
    return rows.map { $0.values[index] }
  }
}

/// Reads as an import does: as the head suggests, and again where that was wrong.
struct GeoJSONReading {
  var result: FileReadResult
  var recorder: RowRecorder
  var passes: Int

  init(_ input: ByteInput, _ options: ReadOptions) throws(FieldpackError) {
    var reader = GeoJSONReader(input, options: options)
    var layers = try reader.assume()
    passes = 0
    repeat {
      passes += 1
      recorder = RowRecorder()
      result = try reader.read(as: layers, into: &recorder)
      if result.layers == layers { break }
      layers = result.layers
    } while passes < 3
  }

  init(_ text: String, _ change: (inout ReadOptions) -> Void = { _ in }) throws {
    let (input, _) = try Self.input(text)
    var options = ReadOptions(layer: "x")
    change(&options)
    do throws(FieldpackError) {
      try self.init(input, options)
    } catch {
      // The folder's name says nothing.
      var position = error.position
      if position?.file != nil { position?.file = "x.geojson" }
      throw FieldpackError(error.code, error.message, location: error.location, position: position)
    }
  }

  /// A file with this text, in a folder that goes when the second value does.
  static func input(_ text: String) throws -> (ByteInput, TemporaryFolder) {
    let folder = try TemporaryFolder()
    return (try ByteInput(path: try folder.write(text, to: "x.geojson").path), folder)
  }

  var schema: Schema { result.layers[0].schema }
  var rows: [RowRecorder.Row] { recorder.rows }

  /// `name TYPE` for each column.
  var columns: [String] { schema.columns.map { "\($0.name) \(name(of: $0.type))" } }

  private func name(of type: ColumnType) -> String { type == .json ? "JSON" : type.sql }

  /// Such as `POINT Z`, with a question mark where only some have a z.
  var geometryType: String {
    let column = schema.geometry ?? GeometryColumn()
    return column.type.name + ["", " Z", " Z?"][Int(column.z.rawValue)]
  }

  var envelope: Envelope? {
    var union = Envelope.empty
    for row in rows { row.envelope.map { union.formUnion($0) } }
    return union.isEmpty ? nil : union
  }
}

/// Sums over the geometries of a file, as a check on every coordinate.
struct GeometrySums: GeometryVisitor {
  var positions = 0
  var area = 0.0
  var length = 0.0
  private var last: (x: Double, y: Double)?
  private var ring = 0.0
  private var isShell = true
  private var type = GeometryType.point

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    self.type = type
    last = nil
    isShell = true
  }

  mutating func beginRing(count: Int?) {
    last = nil
    ring = 0
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    positions += 1
    if let last {
      length += ((x - last.x) * (x - last.x) + (y - last.y) * (y - last.y)).squareRoot()
      ring += last.x * y - x * last.y
    }
    if type != .point { last = (x, y) }
  }

  mutating func endRing() {
    area += isShell ? abs(ring) / 2 : -abs(ring) / 2
    isShell = false
  }

  mutating func end(_ type: GeometryType) {}
}
