/// Defaults of columns that mean the same in every SQL: numbers, truth values and texts.
enum PlainDefault {
  /// The default as a plain literal; `nil` where only PostgreSQL can compute it.
  static func sql(_ expression: String) -> String? {
    switch expression {
    case "true": return "1"
    case "false": return "0"
    default: break
    }
    if Double(expression)?.isFinite == true { return expression }
    // 'text'::type, in which a quote is doubled.
    guard expression.first == "'" else { return nil }
    var rest = expression.dropFirst()
    var text = "'"
    while let sign = rest.popFirst() {
      text.append(sign)
      guard sign == "'" else { continue }
      guard rest.first == "'" else { break }
      text.append(rest.removeFirst())
    }
    let isText = ["", "::text", "::character varying", "::bpchar"].contains(String(rest))
    return isText && text.count > 1 && text.last == "'" ? text : nil
  }
}
