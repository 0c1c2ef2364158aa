import FieldpackCore
import FieldpackSQLite

/// Runs the insertions of a load on its own thread, so that they overlap with reading and encoding.
/// Rows come through a queue of a few batches.
///
/// Between ``submit(_:_:)`` and the return of ``drain()`` the connection belongs to that thread.
final class InsertWorker: Sendable {
  /// Rows with the statements that insert them.
  ///
  /// `@unchecked` because the queue hands each job from one thread to the other under the monitor's
  /// lock.
  private final class Job: @unchecked Sendable {
    private var rows: EncodedRows
    let insertion: Insertion

    init(_ rows: consuming EncodedRows, _ insertion: Insertion) {
      self.rows = rows
      self.insertion = insertion
    }

    func run() throws(FieldpackError) -> [SkippedFeature] { try insertion.run(rows) }

    /// Returns the rows' storage, emptied.
    func takeRows() -> EncodedRows {
      var taken = EncodedRows()
      swap(&taken, &rows)
      taken.removeAll()
      return taken
    }
  }

  private struct State {
    var queue: [Job] = []
    var free: [EncodedRows] = []
    var isBusy = false
    var isStarted = false
    var isRunning = false
    var isStopped = false
    var failure: FieldpackError?
    var skipped = SkippedFeatures()
  }

  private static let queueLength = 4
  private let state = Locked(State())

  /// Empty rows to fill, with reused buffers if there are any.
  func emptyRows() -> EncodedRows {
    state.change { state in state.free.popLast() } ?? EncodedRows()
  }

  /// Queues rows for insertion; waits while the queue is full.
  ///
  /// - Throws: the error of an earlier insertion.
  func submit(
    _ rows: consuming EncodedRows, _ insertion: Insertion
  ) throws(FieldpackError) {
    start()
    let job = Job(rows, insertion)
    let failure: FieldpackError?? = state.wait { state in
      if let failure = state.failure { return .some(failure) }
      guard state.queue.count < Self.queueLength else { return nil }
      state.queue.append(job)
      return .some(nil)
    }
    if let failure = failure ?? nil { throw failure }
  }

  /// Waits until everything is inserted.
  ///
  /// - Throws: the error of an insertion.
  func drain() throws(FieldpackError) {
    let failure: FieldpackError?? = state.wait { state in
      if let failure = state.failure, !state.isBusy { return .some(failure) }
      return state.queue.isEmpty && !state.isBusy ? .some(nil) : nil
    }
    if let failure = failure ?? nil { throw failure }
  }

  /// Ends the thread after its current job; queued rows are dropped.
  ///
  /// Returns when the thread holds nothing any more. Otherwise the thread might close the
  /// connection, and a process that ends does not wait for the thread.
  func stop() {
    state.change { state in
      state.isStopped = true
      state.queue = []
    }
    state.wait { $0.isRunning ? nil : () }
  }

  /// Rows that were skipped because a constraint of the file refused them.
  func takeSkipped() -> SkippedFeatures {
    state.change { state in
      defer { state.skipped = SkippedFeatures() }
      return state.skipped
    }
  }

  private func start() {
    let isFirst = state.change { state in
      guard !state.isStarted else { return false }
      (state.isStarted, state.isRunning) = (true, true)
      return true
    }
    guard isFirst else { return }
    let state = state
    let isRunning = SystemThread.start {
      Self.work(state)
      state.change { $0.isRunning = false }
    }
    guard !isRunning else { return }
    state.change { state in
      state.isRunning = false
      state.failure = SystemThread.shortage
    }
  }

  private static func work(_ state: Locked<State>) {
    while true {
      let next: Job?? = state.wait { state in
        if state.isStopped { return .some(nil) }
        guard state.failure == nil, !state.queue.isEmpty else { return nil }
        state.isBusy = true
        return state.queue.removeFirst()
      }
      guard let job = next ?? nil else { return }
      var failure: FieldpackError?
      var skipped: [SkippedFeature] = []
      do throws(FieldpackError) {
        skipped = try job.run()
      } catch { failure = error }
      job.insertion.noteSkipped(skipped.count)
      let rows = job.takeRows()
      state.change { state in
        state.isBusy = false
        state.failure = state.failure ?? failure
        state.skipped.add(SkippedFeatures(skipped))
        state.free.append(rows)
      }
    }
  }
}

/// What a load does with rows that break rules of the file.
struct LoadRules {
  /// Whether rows that cannot be stored are skipped.
  var skipsErrors = false
  /// Whether values are checked against the constraints of their columns.
  var enforcesConstraints = true
  /// Whether an envelope that comes with a row is taken for its geometry's.
  var trustsEnvelopes = true
  /// By what rows replace features; `nil` adds every row.
  var key: ReplacedKey?
}

/// The statements that insert rows of one shape into one table.
final class Insertion {
  /// How many rows were skipped; read it after the inserter has drained.
  private(set) var skippedCount = 0

  func noteSkipped(_ count: Int) { skippedCount += count }

  /// How many rows one statement inserts where no row can be refused.
  static let rowsAtOnce = 64

  let table: LayerTable
  let plan: RowPlan
  private let single: Statement
  private let several: Statement?
  /// Like `several`, but without ids: SQLite counts on from the last row. This saves a fifth of the
  /// time, because SQLite need not check whether the id is taken.
  private let following: Statement?
  /// The highest id seen, where rows have their own ids.
  private var highestID = Int64.min
  /// The highest id that this insertion has put into the table.
  private var highestInserted: Int64?
  private let file: GeoPackageSession
  private let skipsErrors: Bool

  /// - Parameter isNew: whether this load has created the table. Then a row can only be refused for
  ///   its given id or a constraint of the table, and several rows go into one statement, which
  ///   could not be undone in part.
  init(
    of source: Schema, into table: LayerTable, ids: LoadedIDs, isNew: Bool, rules: LoadRules,
    file: GeoPackageSession
  ) throws(FieldpackError) {
    self.table = table
    self.file = file
    skipsErrors = rules.skipsErrors
    var names = [table.idExpression]
    var columns: [Int] = []
    let hasGeometry = source.geometry != nil && table.schema.geometry != nil
    if hasGeometry, let geometry = table.schema.geometry { names.append(quoted(geometry.name)) }
    for (index, column) in source.columns.enumerated() {
      guard let target = table.schema.columnIndex(column.name),
        !table.schema.columns[target].isGenerated
      else { continue }
      names.append(quoted(table.schema.columns[target].name))
      columns.append(index)
    }
    if ids == .hashed { names.append(quoted(LoadedIDs.contentIDColumn)) }
    var plan = RowPlan(
      store: file.store, layer: table.layer.id, columns: columns, hasGeometry: hasGeometry,
      srsID: Int32(clamping: table.srsID ?? 0), ids: ids)
    plan.limits = columns.enumerated().compactMap { index, column in
      table.schema.columnIndex(source.columns[column].name).flatMap {
        ColumnLimit(
          table.schema.columns[$0], index: index, isFitting: isNew,
          enforcesConstraint: rules.enforcesConstraints)
      }
    }
    plan.trustsEnvelopes = rules.trustsEnvelopes
    if !isNew, hasGeometry { plan.rule = table.schema.geometry }
    let keyName = try Self.keyName(rules.key, in: table, of: file)
    // The first of the names is the id, which is no parameter of the plan.
    plan.keyCell = keyName.flatMap { names.dropFirst().firstIndex(of: quoted($0)) }.map { $0 - 1 }
    let conflict = rules.key == nil ? "" : Self.conflict(names, key: keyName)
    func insert(_ count: Int, _ names: [String]) -> String {
      let row = "(\(names.map { _ in "?" }.sqlList))"
      let rows = Array(repeating: row, count: count).sqlList
      return "INSERT INTO \(quoted(table.table)) (\(names.sqlList)) VALUES \(rows)\(conflict)"
    }
    self.plan = plan
    let isUnconstrained =
      isNew && (!ids.areOwn || table.schema.columns.allSatisfy { $0.isNullable && !$0.isUnique })
    let atOnce = isUnconstrained && names.count * Self.rowsAtOnce < 30_000 ? Self.rowsAtOnce : 1
    let isWide = names.count > 1
    func prepare(_ count: Int, _ names: [String]) throws(FieldpackError) -> Statement {
      try file.prepare(insert(count, names), in: table.layer.id, caching: false).row
    }
    single = try prepare(1, names)
    several = atOnce == 1 ? nil : try prepare(atOnce, names)
    following = atOnce == 1 || !isWide ? nil : try prepare(atOnce, Array(names.dropFirst()))
  }

  /// The name of the column by whose values rows find features; `nil` where there is none.
  private static func keyName(
    _ key: ReplacedKey?, in table: LayerTable, of file: GeoPackageSession
  ) throws(FieldpackError) -> String? {
    guard case .column(let name)? = key else { return nil }
    guard let index = table.schema.columnIndex(name), !table.schema.columns[index].isGenerated
    else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(table.layer.id)' stores no values of rows in a column '\(name)', so rows cannot "
          + "be found by it", location: .init(store: file.store, layer: table.layer.id))
    }
    return table.schema.columns[index].name
  }

  /// What happens to a row whose id is there: its columns replace those of the feature, but for the
  /// key, which is the same.
  ///
  /// - Parameter names: the columns of the rows, the id first.
  private static func conflict(_ names: [String], key: String?) -> String {
    let others = names.dropFirst().filter { $0 != key.map(quoted) }
    let set = (others.isEmpty ? [names[0]] : others).map { "\($0) = excluded.\($0)" }
    return " ON CONFLICT (\(names[0])) DO UPDATE SET \(set.sqlList)"
  }

  /// Inserts all rows; returns the skipped ones.
  func run(_ rows: EncodedRows) throws(FieldpackError) -> [SkippedFeature] {
    var row = 0
    var skipped: [SkippedFeature] = []
    if let several, ascend(rows) {
      while rows.count - row >= Self.rowsAtOnce {
        if let following, follow(rows, row) {
          try insert(rows, row, Self.rowsAtOnce, withIDs: false, by: following)
        } else {
          try insert(rows, row, Self.rowsAtOnce, by: several)
        }
        row += Self.rowsAtOnce
      }
    }
    while row < rows.count {
      do throws(FieldpackError) {
        try insert(rows, row, 1, by: single)
      } catch {
        guard skipsErrors, error.code == .constraint else { throw error.advisingToSkipRow() }
        skipped.append(SkippedFeature(error))
      }
      row += 1
    }
    // The rows' buffers are reused, so the statements must not point to them any more.
    single.clearBindings()
    several?.clearBindings()
    following?.clearBindings()
    return skipped
  }

  /// Whether no id of the rows can be taken, because each is higher than all before it.
  private func ascend(_ rows: EncodedRows) -> Bool {
    var ascends = true
    for id in rows.givenIDs {
      if id <= highestID { ascends = false }
      highestID = max(highestID, id)
    }
    return ascends
  }

  /// Whether the next `rowsAtOnce` rows, whose ids ascend, directly follow all inserted ids.
  private func follow(_ rows: EncodedRows, _ first: Int) -> Bool {
    // After negative ids AUTOINCREMENT begins at 1.
    guard let highestInserted, highestInserted >= 0, highestInserted < .max else { return false }
    let last = rows.id(first + Self.rowsAtOnce - 1)
    return rows.id(first) == highestInserted + 1
      && last == highestInserted &+ Int64(Self.rowsAtOnce)
  }

  private func insert(
    _ rows: EncodedRows, _ first: Int, _ count: Int, withIDs: Bool = true, by statement: Statement
  ) throws(FieldpackError) {
    let last = rows.id(first + count - 1)
    let isStored: Bool
    do throws(SQLiteError) {
      try rows.bind(
        first, rows: count, parameters: plan.parameters, withIDs: withIDs, to: statement)
      try statement.run()
      guard withIDs || file.connection.lastInsertRowID == last else {
        throw .misuse("a row meant for the id \(last) got another")
      }
      highestInserted = max(highestInserted ?? last, last)
      isStored = file.connection.changes == count
    } catch {
      let (layer, feature) = (table.layer.id, count == 1 ? FeatureID.integer(rows.id(first)) : nil)
      guard !error.isTakenID else {
        throw FieldpackError(
          .constraint, "layer '\(layer)' has a feature \(rows.id(first)) already",
          advice: .otherLayerOrOmitIDs,
          location: .init(store: file.store, layer: layer, feature: feature),
          position: FilePosition(file: file.path), underlying: error)
      }
      throw file.worded(error, layer: layer, feature: feature)
    }
    guard isStored else {
      let feature = count == 1 ? FeatureID.integer(rows.id(first)) : nil
      throw file.ignored(feature, in: table.layer.id, table: table.table)
    }
  }
}
