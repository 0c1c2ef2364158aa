import FieldpackSQLite

/// The text of a `CREATE TABLE`, in which a column's declared type can be replaced.
struct TableDeclaration {
  private let sql: String
  private let bytes: [UInt8]

  init(_ sql: String) {
    self.sql = sql
    bytes = Array(sql.utf8)
  }

  /// The words that end a column's type (https://www.sqlite.org/syntax/column-constraint.html).
  private static let constraints = Set(
    [
      "constraint", "primary", "not", "null", "unique", "check", "default", "collate", "references",
      "generated", "as",
    ].map { SQLName($0) })

  /// The text with another type for a column; `nil` where the text has no such column.
  func declaring(_ column: String, as type: String) -> String? {
    guard let place = place(ofType: SQLName(column)) else { return nil }
    return String(decoding: bytes[..<place.lowerBound], as: UTF8.self) + " \(type)"
      + String(decoding: bytes[place.upperBound...], as: UTF8.self)
  }

  /// What stands between the column's name and what follows its type.
  private func place(ofType column: SQLName) -> Range<Int>? {
    var tokens = SQLTokens(sql)
    var depth = 0
    var isNameNext = false
    while let token = tokens.next() {
      switch token {
      case .other(UInt8(ascii: "(")):
        depth += 1
        isNameNext = depth == 1
      case .other(UInt8(ascii: ")")): depth -= 1
      case .other(UInt8(ascii: ",")): isNameNext = depth == 1
      case .other: break
      case .name(let text), .text(let text), .word(let text):
        guard isNameNext else { continue }
        isNameNext = false
        if Self.name(token, text) == column { return typePlace(after: text.endIndex, &tokens) }
      }
    }
    return nil
  }

  private static func name(_ token: SQLTokens.Token, _ text: ArraySlice<UInt8>) -> SQLName {
    if case .word = token { return SQLName(String(decoding: text, as: UTF8.self)) }
    return SQLName(String(decoding: SQLTokens.unquoted(text), as: UTF8.self))
  }

  private func typePlace(after start: Int, _ tokens: inout SQLTokens) -> Range<Int> {
    var end = start
    var depth = 0
    while let token = tokens.next() {
      switch token {
      case .other(UInt8(ascii: "(")): depth += 1
      case .other(UInt8(ascii: ")")):
        if depth == 0 { return start..<end }
        depth -= 1
        end = tokens.position
      case .other(UInt8(ascii: ",")) where depth == 0: return start..<end
      case .other: break
      case .name(let text), .text(let text), .word(let text):
        if depth == 0 {
          if case .word = token, Self.constraints.contains(Self.name(token, text)) {
            return start..<end
          }
          end = text.endIndex
        }
      }
    }
    return start..<end
  }
}
