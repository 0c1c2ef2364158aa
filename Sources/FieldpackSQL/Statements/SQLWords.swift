import FieldpackGeoPackage
import FieldpackSQLite

/// The identifiers in a piece of SQL; texts and comments do not count.
struct SQLWords {
  private(set) var names: Set<SQLName> = []

  init(_ sql: String) {
    for token in SQLTokens(sql) {
      switch token {
      case .name(let name): add(SQLTokens.unquoted(name))
      case .word(let word): for part in word.split(separator: UInt8(ascii: ".")) { add(part) }
      case .text, .other: break
      }
    }
  }

  func contains(_ name: String) -> Bool { names.contains(SQLName(name)) }

  private mutating func add(_ bytes: some Collection<UInt8>) {
    names.insert(SQLName(String(decoding: bytes, as: UTF8.self)))
  }
}
