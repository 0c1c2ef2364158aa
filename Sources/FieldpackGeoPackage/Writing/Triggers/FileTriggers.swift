import FieldpackCore
package import FieldpackSQLite

/// The triggers of a file, told apart by their texts.
package struct FileTriggers: Sendable {
  /// One that is not known, which may do anything.
  package struct Foreign: Sendable, Hashable {
    package var name: String
    /// The table or view that it is on; `nil` where the text does not tell.
    package var table: String?
    /// What it does, in a few words.
    package var deed: String
    package var canIgnore = false
    package var deletes = false
    var isAfter = false
  }

  /// What each known one writes.
  private(set) var known: [SQLName: [TriggerTokens.Effect]] = [:]
  package private(set) var foreign: [SQLName: Foreign] = [:]
  private var foreignOnTables: [SQLName: [Foreign]] = [:]
  /// One of which it cannot be told on which table it is, so that it is taken to be on each.
  package private(set) var unclear: Foreign?

  /// - Parameters:
  ///   - rows: name and text of each.
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

  /// Adds one that may be on any table, whatever it is.
  package mutating func addUnclear(_ name: String) {
    let trigger = Foreign(
      name: name, table: nil, deed: "has a text that SQLite does not write so")
    add(trigger)
    unclear = unclear ?? trigger
  }

  /// Whether one that is not known can have changes ignored.
  package var canIgnore: Bool { foreign.values.contains(where: \.canIgnore) }

  /// The first that is not known on a table or view.
  package func first(on table: String) -> Foreign? {
    // Asked for each change of a feature.
    guard !foreign.isEmpty else { return nil }
    return unclear ?? foreignOnTables[SQLName(table)]?.first
  }

  /// Those on a table or view that are not known.
  package func all(on table: String) -> [Foreign] { foreignOnTables[SQLName(table)] ?? [] }
}

extension TriggerTokens {
  /// Whether the text is of a trigger of that name, which is what SQLite goes by.
  package func isCalled(_ name: String) -> Bool { tokens[2].asName == SQLName(name) }

  /// What it does, in a few words.
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
