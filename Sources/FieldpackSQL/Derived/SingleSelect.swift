import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Tells whether the rows of a statement are rows of one table, none of them twice.
///
/// This holds for one `SELECT` without joins, compounds, windows and subqueries in its expressions,
/// whose `FROM` names a table, or a view or subquery for which the same holds. Only the words of the
/// statement are read, which SQLite must have compiled before.
struct SingleSelect {
  private enum Word: Equatable {
    case word(SQLName)
    /// A name in quotes, which is no keyword.
    case name(SQLName)
    case symbol(UInt8)
  }

  private static let others = ["JOIN", "UNION", "INTERSECT", "EXCEPT", "WITH", "VALUES", "OVER"]
    .map { Word.word(SQLName($0)) }
  private static let ends = ["WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"]
    .map { Word.word(SQLName($0)) }
  private static let select = Word.word(SQLName("SELECT"))
  /// A longer chain of views and subqueries counts as more than one table.
  private static let maximumDepth = 64

  /// The SQL of the view of a name; `nil` where no view has the name.
  let view: (SQLName) throws(FieldpackError) -> String?

  func holds(for sql: String) throws(FieldpackError) -> Bool {
    try holds(for: Self.words(of: sql)[...], depth: 0)
  }

  private func holds(for words: ArraySlice<Word>, depth: Int) throws(FieldpackError) -> Bool {
    guard depth < Self.maximumDepth, words.first == Self.select,
      !words.contains(where: Self.others.contains),
      let from = Self.first(in: words, where: { $0 == .word(SQLName("FROM")) })
    else { return false }
    let rest = words[(from + 1)...]
    let source = rest[..<(Self.first(in: rest, where: Self.ends.contains) ?? rest.endIndex)]
    guard !words[..<from].dropFirst().contains(Self.select),
      !rest[source.endIndex...].contains(Self.select),
      Self.first(in: source, where: { $0 == .symbol(UInt8(ascii: ",")) }) == nil
    else { return false }
    if source.first == .symbol(UInt8(ascii: "(")) {
      let inner = source.dropFirst()
      let end = Self.first(in: inner) { $0 == .symbol(UInt8(ascii: ")")) } ?? inner.endIndex
      return try holds(for: inner[..<end], depth: depth + 1)
    }
    guard !source.contains(Self.select), let name = Self.lastName(of: source) else { return false }
    guard let sql = try view(name) else { return true }
    let definition = Self.words(of: sql)
    guard let start = definition.firstIndex(of: .word(SQLName("AS"))) else { return false }
    return try holds(for: definition[(start + 1)...], depth: depth + 1)
  }

  /// The name behind those of a schema: `wells` of `main.wells AS w`.
  private static func lastName(of source: ArraySlice<Word>) -> SQLName? {
    var names = source
    while names.dropFirst().first == .symbol(UInt8(ascii: ".")) { names = names.dropFirst(2) }
    switch names.first {
    case .word(let name), .name(let name): return name
    default: return nil
    }
  }

  /// The first word outside of parentheses for which `isWanted` holds.
  private static func first(
    in words: ArraySlice<Word>, where isWanted: (Word) -> Bool
  ) -> Int? {
    var depth = 0
    return words.indices.first { index in
      if depth == 0, isWanted(words[index]) { return true }
      if words[index] == .symbol(UInt8(ascii: "(")) { depth += 1 }
      if words[index] == .symbol(UInt8(ascii: ")")) { depth -= 1 }
      return false
    }
  }

  private static func words(of sql: String) -> [Word] {
    var words: [Word] = []
    func name(_ bytes: some Collection<UInt8>) -> SQLName {
      SQLName(String(decoding: bytes, as: UTF8.self))
    }
    for token in SQLTokens(sql) {
      switch token {
      case .text: words.append(.symbol(UInt8(ascii: "'")))
      case .name(let quoted): words.append(.name(name(SQLTokens.unquoted(quoted))))
      case .other(let byte) where byte <= UInt8(ascii: " "): break
      case .other(let byte): words.append(.symbol(byte))
      case .word(let word):
        let parts = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
          if index > 0 { words.append(.symbol(UInt8(ascii: "."))) }
          if !part.isEmpty { words.append(.word(name(part))) }
        }
      }
    }
    return words
  }
}
