package import FieldpackCore
package import FieldpackSQLite

/// Logs the statements of one connection at the level `trace`, without any value.
package final class StatementLog {
  private let logger: Logger
  private var last = ""

  private init(_ logger: Logger) { self.logger = logger }

  /// Begins to log, where the logger takes the level `trace`.
  package static func attach(to connection: Connection, _ logger: Logger) {
    guard logger.isEnabled(.trace) else { return }
    let log = StatementLog(logger.labelled("fieldpack.sql"))
    connection.trace { sql, duration in log.note(sql, duration) }
  }

  /// Logs a statement; one that runs many times in a row is logged once.
  private func note(_ sql: String, _ duration: Duration) {
    guard sql != last else { return }
    last = sql
    logger.trace(
      "statement",
      ["sql": .text(Self.withoutLiterals(sql)), "duration_ms": .real(duration.milliseconds)])
  }

  /// The SQL without comments and with `?` for each text and number.
  package static func withoutLiterals(_ sql: String) -> String {
    var result: [UInt8] = []
    for token in SQLTokens(sql) {
      switch token {
      case .text: result.append(UInt8(ascii: "?"))
      case .name(let name): result += name
      case .word(let word):
        let isNumber = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(word.first ?? 0)
        result += isNumber ? [UInt8(ascii: "?")] : word
      case .other(let byte): result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
