import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FuzzSupport

/// What a reader gave for a file: all of it, in a form that is the same where the bits are.
struct Reading: Equatable {
  var layers: [FileLayer] = []
  /// The rows of each layer, one after the other.
  var rows: [LayerID: [UInt8]] = [:]
  var counts: [LayerID: Int] = [:]
  var skipped: SkippedFeatures?
  var notes: [Note] = []
  var failure: String?

  /// Reads as an import does: as the head suggests, and again where that was wrong.
  ///
  /// - Parameter byteCount: of the file, in which every position told has to lie.
  init(_ reader: some FileReader, byteCount: Int) {
    var reader = reader
    do throws(FieldpackError) {
      var layers = try reader.assume()
      for _ in 1...3 {
        var log = RowLog()
        let result = try reader.read(as: layers, into: &log)
        for skipped in result.skipped.listed { Self.check(skipped.position, byteCount) }
        guard result.layers != layers else {
          take(result, log)
          return
        }
        layers = result.layers
      }
      fatalError("the shape of the file is not settled after 3 passes: \(layers)")
    } catch {
      Self.check(error.position, byteCount)
      // What libxml2 says of broken XML, and of which position, changes with the pieces it is given.
      let isLibrary = error.message.hasPrefix("the XML is broken")
      failure = isLibrary ? "the XML is broken" : "\(error.code): \(error)"
    }
  }

  private mutating func take(_ result: FileReadResult, _ log: RowLog) {
    layers = result.layers
    rows = log.rows
    counts = result.counts
    skipped = result.skipped
    notes = result.notes
    require(
      log.counts.allSatisfy { counts[$0.key, default: 0] == $0.value },
      "the result counts \(counts), given were \(log.counts)")
  }

  private static func check(_ position: FilePosition?, _ byteCount: Int) {
    guard let position else { return }
    require(
      (0...byteCount).contains(position.byteOffset ?? 0), "a byte beyond the file: \(position)")
    require((0...byteCount + 1).contains(position.line ?? 1), "a line beyond the file: \(position)")
    require(
      (0...byteCount + 1).contains(position.column ?? 1), "a column beyond the file: \(position)")
  }
}

/// Keeps the rows that it is given as bytes.
struct RowLog: FeatureSink {
  private(set) var rows: [LayerID: [UInt8]] = [:]
  private(set) var counts: [LayerID: Int] = [:]
  private var schema: Schema?

  mutating func begin(_ schema: Schema) { self.schema = schema }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    guard let schema else { fatalError("a row before its layer") }
    var bytes: [UInt8] = []
    if case .integer(let id) = row.id { append(id, to: &bytes) }
    for (index, column) in schema.columns.enumerated() where row.kind(at: index) != .null {
      bytes += column.name.utf8
      append(row, index, to: &bytes)
    }
    let box: Envelope?? = row.withGeometry { wkb in
      wkb.withUnsafeBytes { bytes += $0 }
      return requireNoError("the geometry of a row") { () throws(GeometryError) in
        try WKB.envelope(of: wkb)
      }
    }
    if let given = row.envelope {
      require(box?.map { given.hasSameBox(as: $0) } ?? false, "the envelope of a row: \(given)")
    }
    rows[schema.layer, default: []] += bytes
    counts[schema.layer, default: 0] += 1
  }

  private func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, to bytes: inout [UInt8]
  ) {
    let kind = row.kind(at: column)
    bytes.append(kind.rawValue)
    switch kind {
    case .integer: append(row.integer(at: column), to: &bytes)
    case .real: append(Int64(bitPattern: row.real(at: column).bitPattern), to: &bytes)
    default: row.withBytes(at: column) { text in text.withUnsafeBytes { bytes += $0 } }
    }
  }

  private func append(_ value: Int64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value) { bytes += $0 }
  }
}

extension Envelope {
  fileprivate func hasSameBox(as other: Envelope) -> Bool {
    minX == other.minX && minY == other.minY && maxX == other.maxX && maxY == other.maxY
  }
}
