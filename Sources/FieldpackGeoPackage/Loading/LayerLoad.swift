import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackRTree
import FieldpackSQLite

/// Loads one layer: gives rows their ids, hands them to the inserter, and gathers the boxes for the
/// index and the extent.
final class LayerLoad {
  let file: GeoPackageSession
  let table: LayerTable
  let isNew: Bool
  private let ids: LoadedIDs
  private let inserter: InsertWorker
  private let rules: LoadRules
  private var source: Schema
  private var insertion: Insertion
  private var refusedBefore = 0
  private var encoder: RowEncoder
  private var rows: EncodedRows
  /// Rows waiting to be stored along a Hilbert curve.
  private var spool: RowSpool?
  private(set) var tree: PackedRTree
  private(set) var extent = Envelope.empty
  /// The nonlinear types among the geometries.
  private(set) var curves: CurveTypes = []
  /// The types and ordinates of the geometries.
  private(set) var kinds = GeometryKinds()
  /// The geometry column as it is declared after the load, where that differs from before.
  var declared: GeometryColumn?
  /// The features of a layer in WGS 84 that lie outside of its longitudes and latitudes.
  private var beyondDegrees: LoadedLayer.Beyond?
  private(set) var count = 0
  private var lowest = Int64.max
  private var highest = Int64.min
  private var areConsecutive = true
  private var firstIDs: [Int64] = []
  private var nextID: Int64 = 1
  /// The ids in use, where rows keep their own ids as far as these are free.
  private var taken = IDSet()
  private var renumbered: [Int64: Int64] = [:]
  private var renumberedCount = 0
  /// The features by their values in the column by which rows find them.
  private var keyed: KeyedFeatures?
  /// The number of rows that the table had, where rows may replace others.
  private var rowsBefore = 0

  init(
    file: GeoPackageSession, table: LayerTable, source: Schema, ids: LoadedIDs, isNew: Bool,
    inserter: InsertWorker, rules: LoadRules
  ) throws(FieldpackError) {
    self.file = file
    self.table = table
    self.isNew = isNew
    self.ids = ids
    self.inserter = inserter
    self.rules = rules
    self.source = source
    rows = inserter.emptyRows()
    tree = PackedRTree(folder: file.folder)
    try Self.turnOffTriggers(file, table)
    insertion = try Insertion(
      of: source, into: table, ids: ids, isNew: isNew, rules: rules, file: file)
    encoder = RowEncoder(insertion.plan)
    if !isNew, ids != .given { nextID = try Self.freeID(file, table) }
    if !isNew, ids == .preferred { try gatherTaken() }
    if replaces { rowsBefore = try rowCount() }
    if case .column(let column)? = rules.key {
      keyed = try KeyedFeatures(by: column, of: table, in: file)
    }
  }

  private func gatherTaken() throws(FieldpackError) {
    let rows = try file.prepare(
      "SELECT \(table.idExpression) FROM \(quoted(table.table)) ORDER BY 1", in: table.layer.id)
    defer { rows.reset() }
    while try rows.step() { _ = taken.insert(rows.row.integer(0)) }
  }

  /// Gives no new id up to `highest`, because rows will bring these.
  func reserveIDs(upTo highest: Int64) {
    if highest < .max { nextID = max(nextID, highest + 1) }
  }

  /// The new ids of the rows since the last call whose own ids were taken.
  func takeRenumbered() throws(FieldpackError) -> [Int64: Int64] {
    try submit()
    defer { renumbered = [:] }
    return renumbered
  }

  /// Whether rows may replace features.
  var replaces: Bool { rules.key != nil }

  private func rowCount() throws(FieldpackError) -> Int {
    Int(try file.integer("SELECT count(*) FROM \(quoted(table.table))") ?? 0)
  }

  /// How many rows replaced features. All rows must be inserted.
  func replacedCount() throws(FieldpackError) -> Int {
    replaces ? max(0, count - refusedCount - (try rowCount() - rowsBefore)) : 0
  }

  /// Stores rows along a Hilbert curve over their boxes, where the load assigns the ids.
  func cluster() {
    guard insertion.plan.hasGeometry, ids == .assigned else { return }
    spool = RowSpool(parameters: insertion.plan.parameters, folder: file.folder)
  }

  /// Transforms geometries from the source's SRS to the layer's from here on.
  func transform(with transformation: CoordinateTransformation) {
    encoder = RowEncoder(insertion.plan, transformation: transformation)
  }

  var hashes: Bool { ids == .hashed }
  var plan: RowPlan { insertion.plan }

  private static func turnOffTriggers(
    _ file: GeoPackageSession, _ table: LayerTable
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

  /// The id after all ids in use or used before.
  private static func freeID(
    _ file: GeoPackageSession, _ table: LayerTable
  ) throws(FieldpackError) -> Int64 {
    var used =
      try file.integer("SELECT max(\(table.idExpression)) FROM \(quoted(table.table))") ?? 0
    if try file.hasTable("sqlite_sequence") {
      let sequence = try file.integer(
        "SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(table.table)])
      used = max(used, sequence ?? 0)
    }
    guard used < .max else {
      throw FieldpackError(
        .constraint, "layer '\(table.layer.id)' has used its last id",
        location: .init(store: file.store, layer: table.layer.id))
    }
    return used + 1
  }

  /// The highest id given so far, including rows that are not handed over yet.
  var lastID: Int64 {
    let last = max(nextID &- 1, count == 0 ? 0 : highest)
    if ids.areOwn { return max(last, rows.givenIDs.max() ?? 0) }
    return last &+ Int64(rows.count + (spool?.count ?? 0))
  }

  /// Prepares for rows of `schema`, whose columns may differ from those before.
  func adopt(_ schema: Schema) throws(FieldpackError) {
    guard schema != source else { return }
    let isClustered = spool != nil
    try submitOrdered()
    // The inserter owns the connection until it is idle.
    try inserter.drain()
    refusedBefore += insertion.skippedCount
    insertion = try Insertion(
      of: schema, into: table, ids: ids, isNew: isNew, rules: rules, file: file)
    encoder = RowEncoder(insertion.plan, transformation: encoder.transformation)
    source = schema
    if isClustered { cluster() }
  }

  // MARK: Rows

  func insert(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    try encoder.encode(row, into: &rows)
    if rows.isFull { try submit() }
  }

  /// Takes over rows that another encoder of the same plan filled.
  func append(_ encoded: inout EncodedRows) throws(FieldpackError) {
    try submit()
    // `encoded` is not filled again. Its buffers go back to the encoders after the insertion.
    try hand(over: &encoded, leaving: EncodedRows())
  }

  /// Hands the rows encoded so far to the inserter, or spools them to be ordered.
  func submit() throws(FieldpackError) {
    try hand(over: &rows, leaving: inserter.emptyRows())
  }

  private func hand(
    over full: inout EncodedRows, leaving empty: @autoclosure () -> EncodedRows
  ) throws(FieldpackError) {
    guard full.count > 0 else { return }
    extent.formUnion(full.extent)
    curves.formUnion(full.curves)
    kinds.formUnion(full.kinds)
    guard spool != nil else { return try store(&full, leaving: empty()) }
    try spool?.append(full)
    full.removeAll()
  }

  /// Stores the spooled rows.
  func submitOrdered() throws(FieldpackError) {
    try submit()
    guard var waiting = spool.take() else { return }
    try waiting.take { (rows) throws(FieldpackError) in
      try store(&rows, leaving: inserter.emptyRows())
    }
  }

  /// Gives the rows their ids and hands them to the inserter.
  private func store(
    _ full: inout EncodedRows, leaving empty: consuming EncodedRows
  ) throws(FieldpackError) {
    if ids == .given {
      for row in 0..<full.count { note(full.id(row)) }
    } else if ids == .preferred {
      try renumber(&full)
    } else if let cell = insertion.plan.keyCell {
      try find(&full, by: cell)
    } else {
      guard !nextID.addingReportingOverflow(Int64(full.count)).overflow else {
        throw lastIDUsed
      }
      full.firstID = nextID
      noteNext(full.count)
    }
    // Rows that replace others are indexed with them, from the table.
    if table.rtree != nil, !replaces { try tree.add(full) }
    if !extent.isWithinDegrees { noteBeyond(full) }
    swap(&full, &empty)
    try inserter.submit(empty, insertion)
  }

  /// Gives the rows whose ids are taken the next free ones.
  private func renumber(_ rows: inout EncodedRows) throws(FieldpackError) {
    for row in 0..<rows.count {
      let own = rows.id(row)
      if !taken.insert(own) {
        guard nextID < .max, taken.insert(nextID) else { throw lastIDUsed }
        rows.renumber(row, as: nextID)
        renumbered[own] = nextID
        renumberedCount += 1
        nextID += 1
      }
      note(rows.id(row))
    }
  }

  /// Gives rows the ids of the features that they replace, and the others the next free ones.
  private func find(_ rows: inout EncodedRows, by cell: Int) throws(FieldpackError) {
    var found: [Int64] = []
    found.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      guard nextID < .max else { throw lastIDUsed }
      do throws(SQLiteError) {
        let index = row * insertion.plan.parameters + cell
        found.append(try keyed?.id(for: rows.values, index, orNew: nextID) ?? nextID)
      } catch {
        throw file.worded(error, layer: table.layer.id)
      }
      if found[row] == nextID { nextID += 1 }
      note(found[row])
    }
    rows.number(found)
  }

  private var lastIDUsed: FieldpackError {
    FieldpackError(
      .constraint, "layer '\(table.layer.id)' has used its last feature id",
      location: .init(store: file.store, layer: table.layer.id))
  }

  /// Counts features that cannot be in degrees, as the layer has them.
  private func noteBeyond(_ rows: EncodedRows) {
    guard table.schema.geometry?.srs == .wgs84, encoder.transformation == nil else { return }
    for entry in rows.entries where !entry.isWithinDegrees {
      let first = beyondDegrees?.first ?? rows.id(Int(entry.id))
      beyondDegrees = .init(count: (beyondDegrees?.count ?? 0) + 1, first: first)
    }
  }

  private func note(_ id: Int64) {
    if count > 0, id != highest &+ 1 { areConsecutive = false }
    count += 1
    if firstIDs.count < LoadedLayer.firstIDLimit { firstIDs.append(id) }
    lowest = min(lowest, id)
    highest = max(highest, id)
  }

  private func noteNext(_ more: Int) {
    let room = min(more, LoadedLayer.firstIDLimit - firstIDs.count)
    for offset in 0..<room { firstIDs.append(nextID &+ Int64(offset)) }
    lowest = min(lowest, nextID)
    nextID &+= Int64(more)
    highest = max(highest, nextID &- 1)
    count += more
  }

  /// How many rows a constraint of the file refused; complete when everything is inserted.
  var refusedCount: Int { refusedBefore + insertion.skippedCount }

  var loaded: LoadedLayer {
    let isRange = areConsecutive && refusedCount == 0 && !replaces
    // Rows that find features by a column were not made.
    let knowsIDs = count > 0 && keyed == nil
    return LoadedLayer(
      layer: table.layer.id, count: count - refusedCount, renumberedCount: renumberedCount,
      ids: knowsIDs ? lowest...highest : nil,
      areConsecutive: isRange, firstIDs: isRange ? [] : firstIDs,
      srs: table.schema.geometry?.srs, declared: declared, beyondDegrees: beyondDegrees)
  }

  // MARK: Index

  /// An index that grows by more than a fiftieth is packed again. For 20,000 points spread over a
  /// layer of a million, inserting took 2.7 s of CPU time, because each row changes another node.
  /// Packing an index of 1,210,000 took 1.7 s, including the insertion of the rows.
  private static let packedFraction: Int64 = 50

  /// Writes the index: packed where it is new or grows much, else row by row.
  func writeIndex(_ rtree: String) throws(FieldpackError) {
    guard tree.count > 0 || refusedCount > 0 || replaces else { return }
    let old =
      isNew || replaces
      ? 0 : try file.integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))") ?? 0
    if refusedCount == 0, old > 0 {
      guard Int64(tree.count) * Self.packedFraction >= old else {
        return try insertEntries(rtree)
      }
      if try !addIndexed(rtree) { try gather() }
    }
    try tree.write(to: file.shadow(ofRTree: rtree))
  }

  /// Builds tree and extent from the table.
  func gather() throws(FieldpackError) {
    tree = PackedRTree(folder: file.folder)
    extent = .empty
    try IndexEntries(file: file, table: table).visitTable { (id, envelope) throws(FieldpackError) in
      try tree.add(RTreeEntry(id, envelope))
      extent.formUnion(envelope)
    }
  }

  /// Adds the index's old entries to the loaded ones; `false` where the index does not tell them.
  private func addIndexed(_ rtree: String) throws(FieldpackError) -> Bool {
    guard areConsecutive else { return false }
    // A damaged index may list ids that only the loaded rows have.
    let new = lowest...highest
    let entries = IndexEntries(file: file, table: table)
    return try entries.visitTree(rtree) { (entry) throws(FieldpackError) in
      if !new.contains(entry.id) { try tree.add(entry) }
    }
  }

  private func insertEntries(_ rtree: String) throws(FieldpackError) {
    let insert = try file.prepare(
      "INSERT OR REPLACE INTO \(quoted(rtree)) VALUES (?, ?, ?, ?, ?)", in: table.layer.id)
    try tree.visit { (entry) throws(FieldpackError) in
      try insert.bind(entry.id, at: 1)
      for axis in 0..<4 { try insert.bind(Double(entry.box[axis]), at: axis + 2) }
      try insert.run()
    }
  }
}

extension Envelope {
  /// Whether longitudes and latitudes may be meant.
  fileprivate var isWithinDegrees: Bool {
    isEmpty || minX >= -180 && maxX <= 180 && minY >= -90 && maxY <= 90
  }
}

extension RTreeEntry {
  /// As ``Envelope/isWithinDegrees``: the limits are floats, so rounding outwards passes over none.
  fileprivate var isWithinDegrees: Bool {
    minX >= -180 && maxX <= 180 && minY >= -90 && maxY <= 90
  }
}
