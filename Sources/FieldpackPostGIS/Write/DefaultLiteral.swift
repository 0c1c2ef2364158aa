import FieldpackCore

/// Defaults of columns. Those of a GeoPackage are expressions in the SQL of SQLite, and may come from
/// anyone: only literals and the current moment are carried over, and each is written anew.
enum DefaultLiteral {
  /// The SQL of PostgreSQL for a default; `nil` where it is neither a literal nor the current moment.
  static func sql(_ expression: String) -> String? {
    var text = Substring(expression)
    while true {
      text = Substring(text.trimmedOfSpace)
      guard text.first == "(", text.last == ")", text.count > 1 else { break }
      text = text.dropFirst().dropLast()
    }
    switch text.lowercased() {
    case "null": return "NULL"
    case "true", "false": return text.lowercased()
    case "current_timestamp", "now()", "strftime('%y-%m-%dt%h:%m:%fz','now')",
      "strftime('%y-%m-%dt%h:%m:%fz', 'now')", "datetime('now')":
      return "CURRENT_TIMESTAMP"
    case "current_date", "date('now')": return "CURRENT_DATE"
    default: break
    }
    if let inner = quotedText(text) { return literal(inner) }
    var digits = String(text)
    let isNumber = digits.withUTF8 { NumberParser.double($0) != nil }
    return isNumber ? digits : nil
  }

  /// The text that stands between single quotes, doubled where it has them itself.
  private static func quotedText(_ text: Substring) -> String? {
    guard text.count >= 2, text.first == "'", text.last == "'" else { return nil }
    var (content, isEscaping) = ("", false)
    for character in text.dropFirst().dropLast() {
      if character == "'" {
        if isEscaping { content.append(character) }
        isEscaping.toggle()
      } else {
        // A single quote ends the text.
        if isEscaping { return nil }
        content.append(character)
      }
    }
    return isEscaping ? nil : content
  }

  /// A text as SQL has it, whether or not `standard_conforming_strings` is on.
  static func literal(_ text: String) -> String {
    var sql = "E'"
    for scalar in text.unicodeScalars {
      if scalar == "'" || scalar == "\\" { sql.unicodeScalars.append(scalar) }
      sql.unicodeScalars.append(scalar)
    }
    return sql + "'"
  }
}
