/// Numbers with a fixed count of decimals.
package enum Decimals {
  /// `value` rounded to `digits` decimals; the shortest form where it is too large for that.
  package static func text(_ value: Double, digits: Int) -> String {
    var power = 1.0
    for _ in 0..<digits { power *= 10 }
    let scaled = (value * power).rounded()
    guard abs(scaled) < 9e15 else { return "\(value)" }
    let whole = Int64(abs(scaled))
    let sign = scaled < 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(whole)" }
    let text = String(whole)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.utf8.count)) + text
    return "\(sign)\(padded.dropLast(digits)).\(padded.suffix(digits))"
  }

  /// `value` with at most `digits` decimals and no zeros at their end.
  package static func short(_ value: Double, digits: Int = 6) -> String {
    var text = Decimals.text(value, digits: digits)
    guard text.contains("."), !text.contains("e") else { return text }
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text == "-0" ? "0" : text
  }
}
