import FieldpackCore
package import FieldpackSQLite

/// The triggers of a file, known and foreign ones, told apart by their texts.
package struct FileTriggers: Sendable {
  /// A trigger that is not known, and may do anything.
  package struct Foreign: Sendable, Hashable {
    package var name: String
    /// The table or view that the trigger is on; `nil` where the text does not tell.
    package var table: String?
    /// What the trigger does, in a few words.
    package var deed: String
    package var canIgnore = false
    package var deletes = false
    var isAfter = false
  }

  /// What each known trigger writes.
  private(set) var known: [SQLName: [TriggerTokens.Effect]] = [:]
  package private(set) var foreign: [SQLName: Foreign] = [:]
  private var foreignOnTables: [SQLName: [Foreign]] = [:]
  /// A foreign trigger whose table is not known. It counts as a trigger of every table.
  package private(set) var unclear: Foreign?

  /// - Parameters:
  ///   - rows: the name and the text of each trigger.
  ///   - hasTable: whether the file has a table of that name.
  package init(
    _ rows: [(name: String, sql: String)] = [], hasTable: (String) -> Bool = { _ in false }
  ) {
    for (name, sql) in rows { add(name, sql, hasTable) }
  }

  private mutating func add(_ name: String, _ sql: String, _ hasTable: (String) -> Bool) {
    let text = TriggerTokens(sql)
    guard let table = text.table, text.isCalled(name) else {
      return addUnclear(name)
    }
    if KnownTriggers.know(text, called: name, on: table, hasTable: hasTable) {
      known[SQLName(name)] = text.effects
    } else {
      add(
        Foreign(
          name: name, table: table, deed: text.deed, canIgnore: text.canIgnore,
          deletes: text.effects.contains { $0.kind == .deletes }, isAfter: text.isAfter))
    }
  }

  private mutating func add(_ trigger: Foreign) {
    foreign[SQLName(trigger.name)] = trigger
    guard let table = trigger.table else { return }
    foreignOnTables[SQLName(table), default: []].append(trigger)
  }

  /// Adds a foreign trigger that may be on any table.
  package mutating func addUnclear(_ name: String) {
    let trigger = Foreign(
      name: name, table: nil, deed: "has a text that SQLite does not write so")
    add(trigger)
    unclear = unclear ?? trigger
  }

  /// Whether a foreign trigger can have changes ignored.
  package var canIgnore: Bool { foreign.values.contains(where: \.canIgnore) }

  /// The first foreign trigger on a table or view.
  package func first(on table: String) -> Foreign? {
    unclear ?? foreignOnTables[SQLName(table)]?.first
  }

  /// The foreign triggers on a table or view.
  package func all(on table: String) -> [Foreign] { foreignOnTables[SQLName(table)] ?? [] }
}

extension TriggerTokens {
  /// Whether the text defines a trigger of that name. SQLite, too, goes by the name in the text.
  package func isCalled(_ name: String) -> Bool { tokens[2].asName == SQLName(name) }

  /// What the trigger does, in a few words.
  package var deed: String {
    var deeds = effects.map { effect in
      switch effect.kind {
      case .inserts: "inserts into '\(effect.spelled)'"
      case .updates: "changes '\(effect.spelled)'"
      case .deletes: "deletes from '\(effect.spelled)'"
      }
    }
    if canIgnore { deeds.append("can have changes ignored") }
    if canRefuse { deeds.append("refuses changes") }
    guard let last = deeds.popLast() else { return "does what cannot be told" }
    return deeds.isEmpty ? last : "\(deeds.joined(separator: ", ")) and \(last)"
  }
}
