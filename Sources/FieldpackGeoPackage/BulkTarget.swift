import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

extension BulkLoader {
  /// One layer that is being loaded.
  final class Target {
    private let file: GeoPackageFile
    private let table: LayerTable
    private let isNew: Bool
    private let ids: LoadedIDs
    private var source: Schema
    private var statement: Statement
    private var sourceColumns: [Int]
    private let srsID: Int32
    private var hasGeometry: Bool
    private let hashes: Bool
    /// Takes geometries from the source's SRS to the layer's.
    var transformation: CoordinateTransformation?
    private var transformed: [UInt8] = []
    private var tree = PackedRTree()
    private var extent = Envelope.empty
    private var count = 0
    private var lowest = Int64.max
    private var highest = Int64.min
    private var areConsecutive = true
    private var firstIDs: [Int64] = []
    private var nextID: Int64
    /// Geometry blob and texts of the row, which must lie still until the statement has run.
    private var bytes: [UInt8] = []
    private var places: [(parameter: Int, range: Range<Int>, isText: Bool)] = []

    init(
      file: GeoPackageFile, table: LayerTable, source: Schema, ids: LoadedIDs, isNew: Bool
    ) throws(FieldpackError) {
      self.file = file
      self.table = table
      self.isNew = isNew
      self.ids = ids
      srsID = Int32(clamping: table.srsID ?? 0)
      hashes = ids == .hashed
      self.source = source
      try Self.turnOffTriggers(file, table, isNew: isNew)
      (statement, sourceColumns, hasGeometry) = try Self.insertion(
        of: source, into: table, hashes: hashes, file)
      nextID = 1
      if !isNew {
        let used = try file.integer("SELECT max(\(table.idExpression)) FROM \(quoted(table.table))")
        let sequence =
          try file.hasTable("sqlite_sequence")
          ? try file.integer(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(table.table)]) : nil
        nextID = max(used ?? 0, sequence ?? 0) &+ 1
      }
    }

    /// Makes ready for rows of `schema`, whose columns may differ from those before.
    func adopt(_ schema: Schema) throws(FieldpackError) {
      guard schema != source else { return }
      statement.reset()
      (statement, sourceColumns, hasGeometry) = try Self.insertion(
        of: schema, into: table, hashes: hashes, file)
      source = schema
    }

    private static func insertion(
      of source: Schema, into table: LayerTable, hashes: Bool, _ file: GeoPackageFile
    ) throws(FieldpackError) -> (Statement, [Int], Bool) {
      var columns = [table.idExpression]
      var hasGeometry = false
      if source.geometry != nil, let geometry = table.schema.geometry {
        columns.append(quoted(geometry.name))
        hasGeometry = true
      }
      var sourceColumns: [Int] = []
      for (index, column) in source.columns.enumerated() {
        guard let place = table.schema.columnIndex(column.name) else { continue }
        columns.append(quoted(table.schema.columns[place].name))
        sourceColumns.append(index)
      }
      if hashes { columns.append(quoted(LoadedIDs.contentIDColumn)) }
      let marks = columns.map { _ in "?" }.joined(separator: ", ")
      let sql =
        "INSERT INTO \(quoted(table.table)) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
      let statement = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
        try file.connection.prepare(sql, caching: false)
      }
      return (statement, sourceColumns, hasGeometry)
    }

    private static func turnOffTriggers(
      _ file: GeoPackageFile, _ table: LayerTable, isNew: Bool
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

    var lastID: Int64 { max(nextID &- 1, count == 0 ? 0 : highest) }

    // MARK: Rows

    func insert(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
      bytes.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      let id = try nextID(for: row.id)
      let envelope = try gather(row)
      do throws(SQLiteError) {
        try bind(row, id: id)
        try statement.run()
      } catch {
        throw FieldpackError(
          error, path: file.path,
          location: .init(store: file.store, layer: table.layer.id, feature: .integer(id)))
      }
      if let envelope {
        extent.formUnion(envelope)
        if table.rtree != nil { tree.add(id, envelope) }
      }
      note(id)
    }

    private func nextID(for id: FeatureID) throws(FieldpackError) -> Int64 {
      if ids == .given, case .integer(let number) = id { return number }
      defer { nextID &+= 1 }
      return nextID
    }

    private func note(_ id: Int64) {
      if count > 0, id != highest &+ 1 { areConsecutive = false }
      count += 1
      if firstIDs.count < LoadedLayer.firstIDLimit { firstIDs.append(id) }
      lowest = min(lowest, id)
      highest = max(highest, id)
    }

    /// Copies what has bytes; gives the envelope of the geometry.
    private func gather(
      _ row: borrowing some FeatureRow & ~Copyable
    ) throws(FieldpackError) -> Envelope? {
      var envelope: Envelope?
      if hasGeometry {
        let known = row.envelope
        envelope =
          try row.withGeometry { wkb throws(FieldpackError) in
            try self.appendGeometry(wkb, known: known, id: row.id)
          } ?? nil
        if !bytes.isEmpty { places.append((2, 0..<bytes.count, false)) }
      }
      for (place, column) in sourceColumns.enumerated() {
        let kind = row.kind(at: column)
        guard kind == .text || kind == .blob else { continue }
        let start = bytes.count
        row.withBytes(at: column) { span in
          span.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
        }
        places.append((firstParameter + place, start..<bytes.count, kind == .text))
      }
      return envelope
    }

    private var firstParameter: Int { hasGeometry ? 3 : 2 }

    private func appendGeometry(
      _ wkb: RawSpan, known: Envelope?, id: FeatureID
    ) throws(FieldpackError) -> Envelope? {
      guard let transformation else { return try appendBlob(wkb, known: known, id: id) }
      transformed.removeAll(keepingCapacity: true)
      wkb.withUnsafeBytes { transformed.append(contentsOf: $0) }
      let envelope: Envelope
      do throws(ProjectionError) {
        envelope = try transformation.transform(wkb: &transformed)
      } catch {
        throw FieldpackError(
          .invalidData, "feature \(id) of layer '\(table.layer.id)': \(error.message)",
          location: .init(store: file.store, layer: table.layer.id, feature: id),
          underlying: error)
      }
      let moved = transformed
      return try appendBlob(moved.span.bytes, known: envelope, id: id)
    }

    private func appendBlob(
      _ wkb: RawSpan, known: Envelope?, id: FeatureID
    ) throws(FieldpackError) -> Envelope? {
      do throws(GeometryError) {
        guard let known else {
          return try GeoPackageBinary.append(wkb: wkb, srsID: srsID, to: &bytes)
        }
        let type = try WKB.header(of: wkb).type
        GeoPackageBinary.appendHeader(
          for: type, srsID: srsID, isEmpty: known.isEmpty,
          envelope: known.isEmpty ? nil : known, to: &bytes)
        wkb.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return known.isEmpty ? nil : known
      } catch {
        throw FieldpackError(
          .invalidData, "the geometry of feature \(id) cannot be stored: \(error)",
          location: .init(store: file.store, layer: table.layer.id, feature: id),
          underlying: error)
      }
    }

    private func bind(
      _ row: borrowing some FeatureRow & ~Copyable, id: Int64
    ) throws(SQLiteError) {
      try statement.bind(id, at: 1)
      if hasGeometry, places.first?.parameter != 2 { try statement.bindNull(at: 2) }
      for (place, column) in sourceColumns.enumerated() {
        let parameter = firstParameter + place
        switch row.kind(at: column) {
        case .null: try statement.bindNull(at: parameter)
        case .integer: try statement.bind(row.integer(at: column), at: parameter)
        case .real: try statement.bind(row.real(at: column), at: parameter)
        case .text, .blob: break
        }
      }
      try bindPlaces()
      if hashes {
        try statement.bind(contentID(row), at: firstParameter + sourceColumns.count)
      }
    }

    /// FNV-1a over kinds, numbers, texts and the geometry, in hexadecimal.
    private func contentID(_ row: borrowing some FeatureRow & ~Copyable) -> String {
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      for byte in bytes { mix(byte) }
      for column in sourceColumns {
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
      let digits = String(hash, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func bindPlaces() throws(SQLiteError) {
      var failure: SQLiteError?
      bytes.withUnsafeBytes { buffer in
        do throws(SQLiteError) {
          for place in places {
            let slice = UnsafeRawBufferPointer(rebasing: buffer[place.range])
            if place.isText {
              try statement.bind(utf8: slice.bytes, at: place.parameter)
            } else {
              try statement.bind(slice, at: place.parameter)
            }
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
    }

    // MARK: Finish

    func finish() throws(FieldpackError) -> LoadedLayer {
      statement.reset()
      let catalogue = try file.catalogue()
      if let rtree = table.rtree {
        try writeIndex(rtree)
        for trigger in RTreeSQL(table).triggers(catalogue.triggerSet) { try file.execute(trigger) }
      }
      if hashes { try numberEqualContents() }
      if table.hasFeatureCount {
        let count = FeatureCount(file: file, table: table.table)
        try count.recount()
        try count.createTriggers()
      }
      try Contents(file: file).update(table, extent: try wholeExtent())
      return LoadedLayer(
        layer: table.layer.id, count: count, ids: count == 0 ? nil : lowest...highest,
        areConsecutive: areConsecutive, firstIDs: areConsecutive ? [] : firstIDs,
        srs: table.schema.geometry?.srs)
    }

    /// What was there and what was loaded; found anew where the file did not know.
    private func wholeExtent() throws(FieldpackError) -> Envelope? {
      if isNew { return extent.isEmpty ? nil : extent }
      let layer = LayerExtent(file: file, table: table)
      guard var whole = table.layer.envelope else { return try layer.computed() }
      whole.formUnion(extent)
      return try layer.indexAgrees(whole) == false ? layer.computed() : whole
    }

    /// Gives the second of equal rows the id with `-2`, and so on, in the order of the file.
    private func numberEqualContents() throws(FieldpackError) {
      let (t, c) = (quoted(table.table), quoted(LoadedIDs.contentIDColumn))
      try file.execute(
        "CREATE INDEX \(quoted("fieldpack_content_\(table.table)")) ON \(t) (\(c))")
      try file.execute(
        "UPDATE \(t) SET \(c) = \(c) || '-' || n FROM (SELECT rowid AS r, row_number() OVER "
          + "(PARTITION BY \(c) ORDER BY rowid) AS n FROM \(t) WHERE \(c) IN "
          + "(SELECT \(c) FROM \(t) GROUP BY \(c) HAVING count(*) > 1)) "
          + "WHERE \(t).rowid = r AND n > 1")
    }

    /// A new index, and one that grows by more than a fifth, is packed anew; into a larger one
    /// the entries are inserted.
    private func writeIndex(_ rtree: String) throws(FieldpackError) {
      guard tree.count > 0 else { return }
      let old =
        isNew ? 0 : try file.integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))") ?? 0
      if Int64(tree.count) * 5 >= old {
        if old > 0 { try readEntries(rtree) }
        try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
          try tree.write(to: file.connection, rtree: rtree)
        }
      } else {
        try insertEntries(rtree)
      }
    }

    private func readEntries(_ rtree: String) throws(FieldpackError) {
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
            SIMD4(
              Float(all.real(1)), Float(all.real(2)), Float(all.real(3)), Float(all.real(4))))
        }
      }
    }

    private func insertEntries(_ rtree: String) throws(FieldpackError) {
      try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
        let insert = try file.connection.prepare(
          "INSERT OR REPLACE INTO \(quoted(rtree)) VALUES (?, ?, ?, ?, ?)")
        try tree.visit { (id, box) throws(SQLiteError) in
          try insert.bind(id, at: 1)
          for axis in 0..<4 { try insert.bind(Double(box[axis]), at: axis + 2) }
          try insert.run()
        }
      }
    }
  }
}
