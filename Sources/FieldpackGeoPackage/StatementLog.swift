import FieldpackCore
import FieldpackSQLite

/// Logs the statements of one connection at the level `trace`, without any value.
final class StatementLog {
  private let logger: Logger
  private var last = ""

  private init(_ logger: Logger) { self.logger = logger }

  /// Begins to log, where the logger wants it.
  static func attach(to connection: Connection, _ logger: Logger) {
    guard logger.isEnabled(.trace) else { return }
    let log = StatementLog(logger.labelled("fieldpack.sql"))
    connection.trace { sql, duration in log.note(sql, duration) }
  }

  /// A statement that runs row after row is logged once.
  private func note(_ sql: String, _ duration: Duration) {
    guard sql != last else { return }
    last = sql
    logger.trace(
      "statement", ["sql": .text(Self.withoutLiterals(sql)), "ms": .real(duration.milliseconds)])
  }

  /// The SQL with a `?` in place of each text and number, and without comments.
  static func withoutLiterals(_ sql: String) -> String {
    var result: [UInt8] = []
    var rest = Array(sql.utf8)[...]
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "'"):
        _ = takeQuoted(&rest)
        result.append(UInt8(ascii: "?"))
      case UInt8(ascii: "\""), UInt8(ascii: "`"): result += takeQuoted(&rest)
      case UInt8(ascii: "-") where rest.starts(with: "--".utf8):
        rest = rest.drop { $0 != 10 }
      case UInt8(ascii: "/") where rest.starts(with: "/*".utf8): dropComment(&rest)
      case _ where isNameByte(byte):
        let word = rest.prefix(while: isNameByte)
        rest = rest.dropFirst(word.count)
        let isNumber = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        result += isNumber ? [UInt8(ascii: "?")] : Array(word)
      default:
        result.append(byte)
        rest.removeFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    guard let quote = rest.popFirst() else { return [] }
    var taken = [quote]
    while let byte = rest.popFirst() {
      taken.append(byte)
      guard byte == quote else { continue }
      guard rest.first == quote else { break }
      taken.append(rest.removeFirst())
    }
    return taken
  }

  private static func dropComment(_ rest: inout ArraySlice<UInt8>) {
    rest = rest.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
    rest = rest.dropFirst(2)
  }

  /// Letters, digits, `_`, `$`, the point of a number and everything beyond ASCII.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
      UInt8(ascii: "."), 0x80...0xFF:
      true
    default: false
    }
  }
}
