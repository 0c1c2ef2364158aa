import FieldpackCore

/// Texts of a server, or of libpq, as they may stand in an error.
enum ServerMessage {
  /// A server may send messages of any length.
  private static let longest = 1_000

  /// The text in one line, without a known password, and cut where it is very long.
  static func plain(_ text: String, hiding secret: String?) -> String {
    var told = text
    if let secret, !secret.isEmpty {
      told = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
    }
    var shown = ""
    var count = 0
    for scalar in told.unicodeScalars {
      guard count < longest else {
        shown += "…"
        break
      }
      count += 1
      let isBreak = scalar.value < 0x20 || scalar.value == 0x7F
      shown.unicodeScalars.append(isBreak ? " " : scalar)
    }
    while shown.last?.isWhitespace == true { shown.removeLast() }
    return shown
  }
}
