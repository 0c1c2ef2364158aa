package import FieldpackCore
package import FieldpackGeometry

/// Encodes features of one layer as FlatGeobuf, each behind its size.
package struct FlatGeobufEncoder: FeatureEncoder {
  /// A feature that was encoded: its box and its bytes.
  package struct Place: BitwiseCopyable, Sendable {
    package var minX: Double
    package var minY: Double
    package var maxX: Double
    package var maxY: Double
    package var length: Int

    /// A feature without a place touches no box.
    package var isNowhere: Bool { !(minX <= maxX && minY <= maxY) }
  }

  /// What the features are like, of which a header tells.
  package struct Traits: Sendable {
    /// A bit for each geometry type.
    fileprivate(set) var types: UInt32 = 0
    package fileprivate(set) var emptyCount = 0
    package fileprivate(set) var fillsOrdinates = false
    package fileprivate(set) var dropsOrdinates = false

    package init() {}

    package mutating func formUnion(_ other: Traits) {
      types |= other.types
      emptyCount += other.emptyCount
      fillsOrdinates = fillsOrdinates || other.fillsOrdinates
      dropsOrdinates = dropsOrdinates || other.dropsOrdinates
    }
  }

  private let schema: Schema
  private let kinds: [FlatGeobufHeader.Kind]
  private let writesIDs: Bool
  private let skipsErrors: Bool
  private var writer: FlatGeobufGeometryWriter
  package private(set) var places: [Place] = []
  package private(set) var traits = Traits()
  package private(set) var skipped: [SkippedFeature] = []
  /// Why the feature behind those encoded cannot be written.
  package private(set) var failure: FieldpackError?
  package private(set) var layer: LayerID?

  /// - Parameters:
  ///   - schema: the layer, whose columns have types of the standard.
  ///   - writesIDs: whether the feature ids, which are integers, become a first column `FID`.
  package init(_ schema: Schema, writesIDs: Bool, skipsErrors: Bool) {
    self.schema = schema
    self.writesIDs = writesIDs
    self.skipsErrors = skipsErrors
    kinds = schema.columns.map { FlatGeobufHeader.Kind($0.type) }
    writer = FlatGeobufGeometryWriter(schema.fileDimensions)
  }

  package var bytes: [UInt8] { writer.bytes }
  package var count: Int { places.count }
  package var isFull: Bool { writer.bytes.count >= 1 << 18 || failure != nil }

  package mutating func begin(_ schema: Schema) throws(FieldpackError) {
    guard schema.layer == self.schema.layer, schema.columns.count == kinds.count else {
      throw FieldpackError(
        .invalidArgument, "layer '\(schema.layer)' was not announced as it comes",
        location: .init(layer: schema.layer))
    }
    layer = schema.layer
  }

  /// Forgets the features; keeps the memory.
  package mutating func removeAll() {
    writer.bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    skipped = []
    failure = nil
    traits = Traits()
  }

  package mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard failure == nil else { return }
    let start = writer.bytes.count
    do throws(FieldpackError) {
      try encode(row, at: start)
    } catch {
      writer.bytes.removeLast(writer.bytes.count - start)
      let error = error.adding(location: .init(layer: schema.layer, feature: row.id))
      if skipsErrors, error.code == .invalidData {
        skipped.append(SkippedFeature(error))
      } else {
        failure = error
      }
    }
  }

  /// The size, the root's offset, the places of two fields, and the table with them.
  private static let head: [UInt8] = [
    0, 0, 0, 0, 12, 0, 0, 0, 8, 0, 12, 0, 4, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ]

  private mutating func encode(
    _ row: borrowing some FeatureRow & ~Copyable, at start: Int
  ) throws(FieldpackError) {
    writer.bytes.append(contentsOf: Self.head)
    writer.begin(feature: start)
    if schema.geometry != nil { try encodeGeometry(row) }
    if let table = writer.table {
      writer.set(UInt32(table - start - 20), at: start + 20)
    } else {
      writer.bytes[start + 12] = 0
    }
    writer.pad(to: 4)
    let values = writer.bytes.count
    writer.append(UInt32(0))
    if writesIDs, case .integer(let id) = row.id {
      writer.append(UInt16(0))
      writer.append(id)
    }
    for column in kinds.indices { try encodeValue(row, column) }
    let length = writer.bytes.count - values - 4
    if length > 0 {
      writer.set(UInt32(values - start - 24), at: start + 24)
      writer.set(UInt32(length), at: values)
    } else {
      writer.bytes.removeLast(4)
      writer.bytes[start + 14] = 0
    }
    writer.pad(to: 8)
    let size = writer.bytes.count - start
    guard let stated = UInt32(exactly: size - 4), stated <= UInt32(Int32.max) else {
      throw FieldpackError(.invalidData, "the feature takes up more than 2 GiB")
    }
    writer.set(stated, at: start)
    note()
    places.append(
      Place(
        minX: writer.minX, minY: writer.minY, maxX: writer.maxX, maxY: writer.maxY, length: size))
  }

  private mutating func encodeGeometry(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    do throws(GeometryError) {
      try row.withGeometry { span throws(GeometryError) in
        try WKB.visitRuns(span, with: &writer)
      }
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry is damaged: \(error)", underlying: error)
    }
  }

  private mutating func note() {
    guard let type = writer.type else { return }
    guard writer.table != nil else {
      traits.emptyCount += 1
      return
    }
    traits.types |= 1 << type.rawValue
    traits.fillsOrdinates = writer.fillsOrdinates
    traits.dropsOrdinates = writer.dropsOrdinates
  }

  // MARK: Values

  private mutating func encodeValue(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int
  ) throws(FieldpackError) {
    let kind = row.kind(at: column)
    guard kind != .null else { return }
    writer.append(UInt16(column + (writesIDs ? 1 : 0)))
    switch (kinds[column], kind) {
    case (.bool, .integer): writer.bytes.append(row.integer(at: column) == 0 ? 0 : 1)
    case (.byte, .integer): writer.append(try fitting(row, column, Int8.self))
    case (.short, .integer): writer.append(try fitting(row, column, Int16.self))
    case (.int, .integer): writer.append(try fitting(row, column, Int32.self))
    case (.long, .integer): writer.append(row.integer(at: column))
    case (.float, .integer), (.float, .real):
      writer.append(Float(row.real(at: column)).bitPattern)
    case (.double, .integer), (.double, .real):
      writer.append(row.real(at: column).bitPattern)
    case (.string, .text), (.json, .text), (.dateTime, .text), (.binary, .blob):
      let start = writer.bytes.count
      writer.append(UInt32(0))
      row.withBytes(at: column) { span in
        span.withUnsafeBytes { writer.bytes.append(contentsOf: $0) }
      }
      writer.set(UInt32(writer.bytes.count - start - 4), at: start)
    case (.string, .integer): append("\(row.integer(at: column))")
    case (.string, .real): append("\(row.real(at: column))")
    default:
      let column = schema.columns[column]
      throw FieldpackError(
        .invalidData, "column '\(column.name)' is \(column.type.sql) and has a \(kind) in it")
    }
  }

  private func fitting<T: FixedWidthInteger>(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, _ type: T.Type
  ) throws(FieldpackError) -> T {
    let value = row.integer(at: column)
    if let value = T(exactly: value) { return value }
    let column = schema.columns[column]
    throw FieldpackError(
      .invalidData, "\(value) is too large for column '\(column.name)', which is \(column.type.sql)"
    )
  }

  private mutating func append(_ text: String) {
    writer.append(UInt32(text.utf8.count))
    writer.bytes.append(contentsOf: text.utf8)
  }
}

extension Schema {
  /// The dimensions that all positions of a file of this layer have.
  fileprivate var fileDimensions: Dimensions {
    Dimensions(
      hasZ: geometry?.z ?? .prohibited != .prohibited,
      hasM: geometry?.m ?? .prohibited != .prohibited)
  }
}

extension FlatGeobufHeader {
  /// What a file begins with: the magic bytes and the header.
  ///
  /// - Parameters:
  ///   - writesIDs: whether the features have their ids as a first column `FID`.
  ///   - bounds: the box of all features; `nil` where none has a place, and the file has no index.
  ///   - system: name and WKT of the reference system, where they are known.
  package static func bytes(
    of schema: Schema, writesIDs: Bool, _ traits: FlatGeobufEncoder.Traits, count: Int,
    bounds: Envelope?, system: (name: String?, wkt: String?)
  ) -> [UInt8] {
    var fields: [(Int, FlatBufferWriter.Field)] = [
      (0, .text(schema.layer.rawValue)), (8, .long(UInt64(count))),
      (9, .short(bounds == nil ? 0 : UInt16(PackedIndex.usualNodeSize))),
    ]
    if let bounds {
      fields.append((1, .doubles([bounds.minX, bounds.minY, bounds.maxX, bounds.maxY])))
    }
    if let geometry = schema.geometry {
      let dimensions = schema.fileDimensions
      fields.append((2, .byte(UInt8(type(of: geometry, traits).rawValue))))
      if dimensions.hasZ { fields.append((3, .byte(1))) }
      if dimensions.hasM { fields.append((4, .byte(1))) }
      if !geometry.srs.isUndefined { fields.append((10, .table(crs(geometry.srs, system)))) }
    }
    // GDAL makes it the ids of a GeoPackage. GDAL 3.12 fails at a column that is `fid` to the letter,
    // also in its own files: "Inconsistent values of FID and field of same name".
    let ids =
      writesIDs ? [ColumnDefinition("FID", .integer, isNullable: false, isUnique: true)] : []
    let columns = (ids + schema.columns).map(fieldsOf)
    if !columns.isEmpty { fields.append((7, .tables(columns))) }
    return magic + FlatBufferWriter.sized(fields)
  }

  /// The layer's type where each feature is of it, else any.
  private static func type(
    of geometry: GeometryColumn, _ traits: FlatGeobufEncoder.Traits
  ) -> GeometryType {
    guard geometry.type.isConcrete else { return .geometry }
    return traits.types & ~(1 << geometry.type.rawValue) == 0 ? geometry.type : .geometry
  }

  private static func crs(
    _ srs: SRS, _ system: (name: String?, wkt: String?)
  ) -> [(Int, FlatBufferWriter.Field)] {
    var fields: [(Int, FlatBufferWriter.Field)] = [
      (0, .text(srs.organization)), (1, .int(srs.code)),
    ]
    if let name = system.name { fields.append((2, .text(name))) }
    if let wkt = system.wkt { fields.append((4, .text(wkt))) }
    return fields
  }

  private static func fieldsOf(_ column: ColumnDefinition) -> [(Int, FlatBufferWriter.Field)] {
    var fields: [(Int, FlatBufferWriter.Field)] = [
      (0, .text(column.name)), (1, .byte(Kind(column.type).rawValue)),
    ]
    if let title = column.title { fields.append((2, .text(title))) }
    if let description = column.description { fields.append((3, .text(description))) }
    if case .text(let length?) = column.type { fields.append((4, .int(Int32(clamping: length)))) }
    if !column.isNullable { fields.append((7, .byte(0))) }
    if column.isUnique { fields.append((8, .byte(1))) }
    return fields
  }
}

extension FlatGeobufHeader.Kind {
  /// The type of the columns that hold the values of `type`.
  fileprivate init(_ type: ColumnType) {
    self =
      switch type {
      case .boolean: .bool
      case .tinyInt: .byte
      case .smallInt: .short
      case .mediumInt: .int
      case .integer: .long
      case .float: .float
      case .double: .double
      case .text, .other: .string
      case .json: .json
      case .date, .dateTime: .dateTime
      case .blob: .binary
      }
  }
}
