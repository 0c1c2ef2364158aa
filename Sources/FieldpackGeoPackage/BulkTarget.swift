import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// One layer that is being loaded: encodes its rows and gathers what its index and extent need.
final class BulkTarget {
  let file: GeoPackageFile
  let table: LayerTable
  let isNew: Bool
  let hashes: Bool
  private let ids: LoadedIDs
  private let inserter: BulkInserter
  private let skipsErrors: Bool
  private let srsID: Int32
  /// Takes geometries from the source's SRS to the layer's.
  var transformation: CoordinateTransformation?
  private var source: Schema
  private var insertion: Insertion
  private var refusedBefore = 0
  private var rows: EncodedRows
  private var transformed: [UInt8] = []
  private(set) var tree = PackedRTree()
  private(set) var extent = Envelope.empty
  private(set) var count = 0
  private var lowest = Int64.max
  private var highest = Int64.min
  private var areConsecutive = true
  private var firstIDs: [Int64] = []
  private var nextID: Int64 = 1

  init(
    file: GeoPackageFile, table: LayerTable, source: Schema, ids: LoadedIDs, isNew: Bool,
    inserter: BulkInserter, skipsErrors: Bool
  ) throws(FieldpackError) {
    self.file = file
    self.table = table
    self.isNew = isNew
    self.ids = ids
    self.inserter = inserter
    self.skipsErrors = skipsErrors
    srsID = Int32(clamping: table.srsID ?? 0)
    hashes = ids == .hashed
    self.source = source
    rows = inserter.emptyRows()
    try Self.turnOffTriggers(file, table)
    insertion = try Insertion(
      of: source, into: table, hashes: hashes, isUnconstrained: isNew && ids != .given,
      skipsErrors: skipsErrors, file: file)
    if !isNew { nextID = try Self.highestID(file, table) &+ 1 }
  }

  private static func turnOffTriggers(
    _ file: GeoPackageFile, _ table: LayerTable
  ) throws(FieldpackError) {
    if table.rtree != nil {
      for name in RTreeSQL(table).triggerNames {
        try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
      }
    }
    if table.hasFeatureCount {
      try FeatureCount(file: file, table: table.table).dropTriggers()
    }
  }

  /// The highest id in use or used before.
  private static func highestID(
    _ file: GeoPackageFile, _ table: LayerTable
  ) throws(FieldpackError) -> Int64 {
    let used = try file.integer("SELECT max(\(table.idExpression)) FROM \(quoted(table.table))")
    guard try file.hasTable("sqlite_sequence") else { return used ?? 0 }
    let sequence = try file.integer(
      "SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(table.table)])
    return max(used ?? 0, sequence ?? 0)
  }

  var lastID: Int64 { max(nextID &- 1, count == 0 ? 0 : highest) }

  /// Makes ready for rows of `schema`, whose columns may differ from those before.
  func adopt(_ schema: Schema) throws(FieldpackError) {
    guard schema != source else { return }
    try submit()
    // The connection is the inserter's until it has nothing to do.
    try inserter.drain()
    refusedBefore += insertion.skippedCount
    insertion = try Insertion(
      of: schema, into: table, hashes: hashes, isUnconstrained: isNew && ids != .given,
      skipsErrors: skipsErrors, file: file)
    source = schema
  }

  // MARK: Rows

  func insert(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    let start = rows.bytes.count
    let id: Int64
    if ids == .given, case .integer(let number) = row.id { id = number } else { id = nextID }
    rows.begin(id)
    let envelope: Envelope?
    do throws(FieldpackError) {
      envelope = insertion.hasGeometry ? try encodeGeometry(row, start) : nil
    } catch {
      rows.undo(parameters: insertion.parameters, bytesFrom: start)
      throw error
    }
    for column in insertion.columns { rows.append(row, column) }
    if hashes { appendContentID(row, start) }
    if ids != .given { nextID &+= 1 }
    if let envelope {
      extent.formUnion(envelope)
      if table.rtree != nil { tree.add(id, envelope) }
    }
    note(id)
    if rows.isFull { try submit() }
  }

  /// Hands the rows encoded so far to the inserter.
  func submit() throws(FieldpackError) {
    guard rows.count > 0 else { return }
    let full = rows
    rows = inserter.emptyRows()
    try inserter.submit(full, insertion)
  }

  private func note(_ id: Int64) {
    if count > 0, id != highest &+ 1 { areConsecutive = false }
    count += 1
    if firstIDs.count < LoadedLayer.firstIDLimit { firstIDs.append(id) }
    lowest = min(lowest, id)
    highest = max(highest, id)
  }

  private func encodeGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, _ start: Int
  ) throws(FieldpackError) -> Envelope? {
    let known = row.envelope
    let encoded: Envelope?? = try row.withGeometry { wkb throws(FieldpackError) in
      try encode(wkb, known: known, id: row.id)
    }
    if rows.bytes.count == start {
      rows.appendNull()
    } else {
      rows.append(.blob, bytesFrom: start)
    }
    return encoded ?? nil
  }

  private func encode(
    _ wkb: RawSpan, known: Envelope?, id: FeatureID
  ) throws(FieldpackError) -> Envelope? {
    guard let transformation else { return try append(wkb, known: known, id: id) }
    transformed.removeAll(keepingCapacity: true)
    wkb.withUnsafeBytes { transformed.append(contentsOf: $0) }
    let envelope: Envelope
    do throws(ProjectionError) {
      envelope = try transformation.transform(wkb: &transformed)
    } catch {
      throw refused(id, "cannot be transformed: \(error.message)", error)
    }
    let moved = transformed
    return try append(moved.span.bytes, known: envelope, id: id)
  }

  private func append(
    _ wkb: RawSpan, known: Envelope?, id: FeatureID
  ) throws(FieldpackError) -> Envelope? {
    do throws(GeometryError) {
      guard let known else {
        return try GeoPackageBinary.append(wkb: wkb, srsID: srsID, to: &rows.bytes)
      }
      let envelope = known.isEmpty ? nil : known
      GeoPackageBinary.appendHeader(
        for: try WKB.header(of: wkb).type, srsID: srsID, isEmpty: known.isEmpty,
        envelope: envelope, to: &rows.bytes)
      wkb.withUnsafeBytes { rows.bytes.append(contentsOf: $0) }
      return envelope
    } catch {
      throw refused(id, "cannot be stored: \(error)", error)
    }
  }

  private func refused(
    _ id: FeatureID, _ why: String, _ underlying: any Error
  ) -> FieldpackError {
    FieldpackError(
      .invalidData, "the geometry of feature \(id) in layer '\(table.layer.id)' \(why)",
      location: .init(store: file.store, layer: table.layer.id, feature: id),
      underlying: underlying)
  }

  /// FNV-1a over kinds, numbers, texts and the geometry, in hexadecimal.
  private func appendContentID(_ row: borrowing some FeatureRow & ~Copyable, _ start: Int) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for byte in rows.bytes[start...] { mix(byte) }
    for column in insertion.columns {
      let kind = row.kind(at: column)
      mix(kind.rawValue)
      let number: UInt64 =
        switch kind {
        case .integer: UInt64(bitPattern: row.integer(at: column))
        case .real: row.real(at: column).bitPattern
        default: 0
        }
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        mix(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    let place = rows.bytes.count
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      rows.bytes.append(Self.digits[Int(hash >> shift & 15)])
    }
    rows.append(.text, bytesFrom: place)
  }

  private static let digits = Array("0123456789abcdef".utf8)

  /// Rows that a constraint of the file refused; known when everything is inserted.
  var refusedCount: Int { refusedBefore + insertion.skippedCount }

  var loaded: LoadedLayer {
    let isRange = areConsecutive && refusedCount == 0
    return LoadedLayer(
      layer: table.layer.id, count: count - refusedCount, ids: count == 0 ? nil : lowest...highest,
      areConsecutive: isRange, firstIDs: isRange ? [] : firstIDs,
      srs: table.schema.geometry?.srs)
  }

  // MARK: Index

  /// Gathers the tree anew from the table, because rows that are in it were refused.
  func regather() throws(FieldpackError) {
    guard let geometry = table.schema.geometry else { return }
    let g = quoted(geometry.name)
    tree = PackedRTree()
    extent = .empty
    try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      let all = try file.connection.prepare(
        "SELECT \(table.idExpression), ST_MinX(\(g)), ST_MinY(\(g)), ST_MaxX(\(g)), "
          + "ST_MaxY(\(g)) FROM \(quoted(table.table)) WHERE ST_MinX(\(g)) IS NOT NULL")
      defer { all.reset() }
      while try all.step() {
        let envelope = Envelope(
          minX: all.real(1), minY: all.real(2), maxX: all.real(3), maxY: all.real(4))
        tree.add(all.integer(0), envelope)
        extent.formUnion(envelope)
      }
    }
  }

  /// Puts the tree of what is in the index already together with the rows loaded.
  func addIndexed(_ rtree: String) throws(FieldpackError) {
    try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      let all = try file.connection.prepare(
        "SELECT id, minx, maxx, miny, maxy FROM \(quoted(rtree))")
      defer { all.reset() }
      // An index that was not true may name a row that is there only now.
      let new = Set(tree.ids)
      while try all.step() {
        if new.contains(all.integer(0)) { continue }
        tree.add(
          all.integer(0),
          SIMD4(Float(all.real(1)), Float(all.real(2)), Float(all.real(3)), Float(all.real(4))))
      }
    }
  }
}
