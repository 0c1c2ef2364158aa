import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Checks how a geometry column's R-tree is registered, created and maintained: annex F.3.
struct IndexCheck {
  let check: ConformanceCheck
  let table: String
  let geometry: ConformanceCheck.GeometryColumnRow

  /// Returns the name of the R-tree; `nil` where there is none that can be read.
  func run() throws(FieldpackError) -> String? {
    guard let column = try check.column(geometry.column, of: table) else { return nil }
    let key = try check.rowID(of: table) ?? "rowid"
    let id = try check.columns(of: table).first { quoted($0.name) == key }?.name ?? key
    let sql = RTreeSQL(table: table, column: column.name, idColumn: id)
    let isRegistered = check.isRegistered(
      RTreeSQL.extensionName, table: table, column: column.name)
    let repair = Repair.index(table: table)
    guard let found = check.table(sql.name) else {
      if isRegistered, check.isExtensionsReadable {
        try check.report(
          .error, .core(77), table: table, column: column.name,
          "the registered R-tree \(sql.name) is missing", repair: repair)
      } else {
        try check.report(
          .note, .index, table: table, column: column.name, "it has no spatial index")
      }
      return nil
    }
    guard CatalogueReader.isPlainRTree(found.sql) else {
      try check.report(
        .error, .core(77), table: table, column: column.name,
        "\(found.name) is no R-tree of floats in two dimensions")
      return nil
    }
    if !isRegistered {
      try check.report(
        .error, .core(76), table: table, column: column.name,
        "its R-tree is not registered in gpkg_extensions",
        repair: .extensionRow(
          ExtensionRow(
            name: RTreeSQL.extensionName, table: table, column: column.name, scope: "write-only")))
    }
    try checkTriggers(sql, column.name)
    return found.name
  }

  // MARK: Triggers

  /// The triggers of 1.0 to 1.3 that 1.4 replaces, and their successors.
  private static let replaced = ["update1": ["update6", "update7"], "update3": ["update5"]]
  private static let always = ["insert", "update2", "update4", "delete"]

  private func checkTriggers(_ sql: RTreeSQL, _ column: String) throws(FieldpackError) {
    var missing: [String] = []
    var present: [(suffix: String, sql: String)] = []
    func look(_ suffix: String) -> Bool {
      guard let found = trigger(sql, suffix) else { return false }
      present.append((suffix, found.sql))
      return true
    }
    for suffix in Self.always where !look(suffix) { missing.append(suffix) }
    for (old, new) in Self.replaced.sorted(by: { $0.key < $1.key }) {
      let hasOld = look(old)
      let lacking = new.filter { !look($0) }
      if lacking.isEmpty {
        try checkReplacement(old, hasOld: hasOld, sql, column)
      } else if check.version >= 10_400 {
        missing += lacking
      } else if !hasOld {
        missing.append(old)
      }
    }
    guard !present.isEmpty else {
      return try check.report(
        .error, .core(77), table: table, column: column, "no triggers keep its R-tree true",
        repair: .triggers(table: table))
    }
    for suffix in missing {
      try check.report(
        .error, .core(77), table: table, column: column,
        "the trigger \(sql.name)_\(suffix) is missing", repair: .triggers(table: table))
    }
    try compare(present, sql, column)
  }

  private func trigger(_ sql: RTreeSQL, _ suffix: String) -> ConformanceCheck.SchemaObject? {
    // The text of 1.4.0 has longer names for these two.
    let other = ["update6": "_old_geom_notnull", "update7": "_old_geom_null"][suffix]
    let name = "\(sql.name)_\(suffix)"
    return check.triggers[SQLName(name)] ?? other.flatMap { check.triggers[SQLName(name + $0)] }
  }

  private func checkReplacement(
    _ old: String, hasOld: Bool, _ sql: RTreeSQL, _ column: String
  ) throws(FieldpackError) {
    if hasOld {
      try check.report(
        .error, .core(77), table: table, column: column,
        "the trigger \(sql.name)_\(old) is there beside the one of 1.4 that takes its place",
        repair: .triggers(table: table))
    } else if check.version < 10_400, old == "update1" {
      try check.report(
        .note, .core(77), table: table, column: column,
        "its R-tree has the triggers of 1.4, as that version recommends")
    }
  }

  private func compare(
    _ present: [(suffix: String, sql: String)], _ sql: RTreeSQL, _ column: String
  ) throws(FieldpackError) {
    var templates: [String: Set<[String]>] = [:]
    for set in [RTreeTriggerSet.upTo13, .from14] {
      for text in sql.triggers(set) {
        let tokens = TriggerText.tokens(text, id: sql.idColumn)
        guard let suffix = tokens.name.components(after: "\(sql.name.lowercased())_") else {
          continue
        }
        templates[suffix, default: []].insert(tokens.body)
      }
    }
    for trigger in present {
      let body = TriggerText.tokens(trigger.sql, id: sql.idColumn).body
      guard let wanted = templates[trigger.suffix], !wanted.contains(body) else { continue }
      // The text of 1.0 to 1.2.0 was so; it missed changes of the id alone.
      let isOld =
        trigger.suffix == "update3" && check.version <= 10_200
        && wanted.contains(TriggerText.withoutColumn(body))
      try check.report(
        isOld ? .warning : .error, .core(77), table: table, column: column,
        isOld
          ? "the trigger \(sql.name)_update3 is the faulty one of 1.0 to 1.2.0"
          : "the trigger \(sql.name)_\(trigger.suffix) is not as the standard has it",
        repair: .triggers(table: table))
    }
  }
}

extension String {
  fileprivate func components(after prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}

/// The text of a trigger as words. Two programs that write the same trigger give the same words.
enum TriggerText {
  /// The trigger's name, and the words after it. Names lose their quotes and their case, and all
  /// spellings of the rowid and of (not) null become one.
  static func tokens(_ sql: String, id: String) -> (name: String, body: [String]) {
    var words = words(sql).map { $0.lowercased() }
    if words.starts(with: ["create", "trigger"]) { words.removeFirst(2) }
    if words.starts(with: ["if", "not", "exists"]) { words.removeFirst(3) }
    guard !words.isEmpty else { return ("", []) }
    let name = words.removeFirst()
    let rowID = id.lowercased()
    var body: [String] = []
    for word in words {
      switch (body.last, word) {
      case ("not", "null"): body[body.count - 1] = "notnull"
      case ("is", "null"): body[body.count - 1] = "isnull"
      case (_, "rowid"), (_, "_rowid_"), (_, "oid"): body.append(rowID)
      default: body.append(word)
      }
    }
    return (name, body)
  }

  /// `AFTER UPDATE OF column ON` as `AFTER UPDATE ON`.
  static func withoutColumn(_ body: [String]) -> [String] {
    guard body.count > 4, body[1] == "update", body[2] == "of", body[4] == "on" else { return body }
    return Array(body[..<2] + body[4...])
  }

  /// Names and other words without their quotes, and every other character.
  static func words(_ sql: String) -> [String] {
    var words: [String] = []
    var rest = Array(sql.unicodeScalars)[...]
    while let first = rest.first {
      switch first {
      case "\"", "'", "`": words.append(takeQuoted(&rest, first))
      case "[": words.append(takeQuoted(&rest, "]"))
      case _ where isNameScalar(first):
        let name = rest.prefix { isNameScalar($0) }
        rest = rest.dropFirst(name.count)
        words.append(text(name))
      default:
        rest = rest.dropFirst()
        if !first.properties.isWhitespace { words.append(text([first])) }
      }
    }
    return words
  }

  private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: scalar.value >= 0x80
    }
  }

  private static func takeQuoted(
    _ rest: inout ArraySlice<Unicode.Scalar>, _ end: Unicode.Scalar
  ) -> String {
    rest = rest.dropFirst()
    var found: [Unicode.Scalar] = []
    while let next = rest.popFirst() {
      if next == end {
        guard end != "]", rest.first == end else { break }
        rest = rest.dropFirst()
      }
      found.append(next)
    }
    return text(found)
  }

  private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}
