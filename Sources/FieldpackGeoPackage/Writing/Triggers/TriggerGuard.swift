package import FieldpackCore
package import FieldpackSQLite

/// Keeps a file's foreign triggers from running, and lets its views call harmless functions only.
///
/// A change of a table with a foreign trigger is refused, whatever the trigger does. A change that
/// would fire such a trigger through other triggers is refused, too. A known trigger may write what
/// its text writes. A view that a statement reads may call every harmless function, and the
/// statement's own CTEs are free. SQLite asks while it prepares statements, so the check costs
/// nothing per row.
package final class TriggerGuard: Sendable {
  private enum Refusal {
    case trigger(FileTriggers.Foreign)
    case action(AuthorizedAction)
  }

  /// Whether every trigger may run.
  private let runsAll: Bool
  /// The latest refusal.
  private let refused = Locked<Refusal?>(nil)
  /// `nil` before the schema is read. No trigger may do anything then.
  private let known = Locked<Knowledge?>(nil)

  private struct Knowledge {
    var schemaVersion: Int64
    var triggers: FileTriggers
    var views: SchemaReach.Names
    /// The functions that SQLite lets views call in untrusted files
    /// (https://www.sqlite.org/c3ref/c_deterministic.html#sqliteinnocuous).
    var harmless: Set<String>
  }

  init(runsAll: Bool) { self.runsAll = runsAll }

  func watch(_ connection: Connection) {
    guard !runsAll else { return }
    // The closure may hold `self` strongly: the connection's session holds it anyway.
    connection.setAuthorizer(.changesAndTriggers { [self] in permits($0) })
  }

  /// Reads the schema's triggers and views where the schema has changed. To be called in every
  /// transaction that writes, before its first change.
  package func learn(_ connection: Connection) throws(SQLiteError) {
    let version = try connection.schemaVersion
    guard known.withLock({ $0?.schemaVersion }) != version else { return }
    known.withLock { $0 = nil }
    // A text that does not begin as SQLite writes tables and indexes may be anything, so it is read
    // as well.
    let statement = try connection.prepare(
      "SELECT name, sql FROM sqlite_master WHERE sql NOT GLOB 'CREATE TABLE *' "
        + "AND sql NOT GLOB 'CREATE VIRTUAL TABLE *' AND sql NOT GLOB 'CREATE INDEX *' "
        + "AND sql NOT GLOB 'CREATE UNIQUE INDEX *'")
    defer { statement.reset() }
    var rows: [(name: String, sql: String)] = []
    while try statement.step() {
      rows.append((statement.string(0) ?? "", statement.string(1) ?? ""))
    }
    let reach = SchemaReach(rows)
    var triggers = FileTriggers(reach.triggers) { Self.hasTable($0, connection) }
    if let name = reach.unclear { triggers.addUnclear(name) }
    let knowledge = Knowledge(
      schemaVersion: version, triggers: triggers, views: reach.views,
      harmless: reach.views.isEmpty ? [] : try Self.harmlessFunctions(connection))
    known.withLock { $0 = knowledge }
  }

  /// Whether a table exists; `true` where this cannot be told.
  private static func hasTable(_ name: String, _ connection: Connection) -> Bool {
    guard
      let statement = try? connection.prepare(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)")
    else { return true }
    defer { statement.reset() }
    do {
      try statement.bind([.text(name)])
      return try statement.step()
    } catch { return true }
  }

  /// To be called when functions were added.
  package func forget() { known.withLock { $0 = nil } }

  private static func harmlessFunctions(
    _ connection: Connection
  ) throws(SQLiteError) -> Set<String> {
    // 0x200000 is SQLITE_INNOCUOUS.
    let statement = try connection.prepare(
      "SELECT lower(name) FROM pragma_function_list GROUP BY 1 HAVING min(flags & 0x200000) > 0")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.string(0) ?? "") }
    return names
  }

  // MARK: Checks

  /// Refuses to change tables with foreign triggers, before anything is changed.
  ///
  /// - Throws: `.permission`, naming the first.
  func check(_ tables: String..., store: StoreID) throws(FieldpackError) {
    // Called for each change of a feature, so it must be fast.
    guard !runsAll, known.withLock({ $0?.triggers.foreign.isEmpty == false }) else { return }
    let found = known.withLock { known in
      known.flatMap { known in tables.lazy.compactMap { known.triggers.first(on: $0) }.first }
    }
    guard let found else { return }
    throw FieldpackError(
      .permission, Self.words(for: found), advice: .allowTriggers,
      location: .init(store: store, layer: found.table.map { LayerID($0) }))
  }

  /// Whether a foreign trigger may run that can have changes ignored.
  var canIgnore: Bool { runsAll && known.withLock { $0?.triggers.canIgnore ?? false } }

  /// The foreign triggers on a table.
  func foreign(on table: String) -> [FileTriggers.Foreign] {
    known.withLock { $0?.triggers.all(on: table) ?? [] }
  }

  /// All foreign triggers of the file.
  var allForeign: [FileTriggers.Foreign] {
    known.withLock { $0.map { Array($0.triggers.foreign.values) } ?? [] }
  }

  /// Whether an action is permitted to the statement, trigger or view that asks.
  package func permits(_ action: AuthorizedAction) -> Bool {
    guard !runsAll else { return true }
    let refusal = known.withLock { Self.refusal(of: action, $0) }
    guard let refusal else { return true }
    refused.withLock { $0 = refusal }
    return false
  }

  private static func refusal(of action: AuthorizedAction, _ known: Knowledge?) -> Refusal? {
    guard let known else { return action.source == nil ? nil : .action(action) }
    if action.changesTable, action.database == "main", let table = action.first,
      let trigger = known.triggers.first(on: table)
    {
      return .trigger(trigger)
    }
    guard let source = action.source else { return nil }
    if let trigger = known.triggers.foreign[SQLName(source)] { return .trigger(trigger) }
    if let effects = known.triggers.known[SQLName(source)] {
      return permits(action, to: effects) ? nil : .action(action)
    }
    guard known.views.hold(source), action.kind == .function else { return nil }
    return known.harmless.contains((action.second ?? "").lowercased()) ? nil : .action(action)
  }

  /// Whether an action is among the effects of a known trigger.
  private static func permits(
    _ action: AuthorizedAction, to effects: [TriggerTokens.Effect]
  ) -> Bool {
    switch action.kind {
    case .select, .read, .function: true
    case .insert, .update, .delete:
      effects.contains {
        $0.kind.action == action.kind && $0.table == SQLName(action.first ?? "")
      }
    default: false
    }
  }

  // MARK: Errors

  /// The error for a statement that was not authorized; `nil` for others.
  package func refusal(_ error: SQLiteError) -> FieldpackError? {
    let refusal = refused.withLock { refusal in
      defer { refusal = nil }
      return refusal
    }
    // The error code does not tell: a refused function fails like a misused one.
    guard let refusal, error.message.hasPrefix("not authorized") else { return nil }
    let words =
      switch refusal {
      case .trigger(let trigger): Self.words(for: trigger)
      case .action(let action):
        "the file's '\(action.source ?? "")' \(Self.deed(action)), which it may not"
      }
    return FieldpackError(.permission, words, advice: .allowTriggers, underlying: error)
  }

  private static func words(for trigger: FileTriggers.Foreign) -> String {
    let target = trigger.table.map { "'\($0)'" } ?? "the file"
    return "\(target) cannot be changed: the file's trigger '\(trigger.name)' \(trigger.deed), and "
      + "only triggers that Fieldpack knows are run"
  }

  private static func deed(_ action: AuthorizedAction) -> String {
    switch action.kind {
    case .insert, .update, .delete: "changes the table '\(action.first ?? "")'"
    case .function: "calls \(action.second ?? "")()"
    default: "does more than change rows"
    }
  }
}

extension TriggerTokens.Effect.Kind {
  fileprivate var action: AuthorizedAction.Kind {
    switch self {
    case .inserts: .insert
    case .updates: .update
    case .deletes: .delete
    }
  }
}
