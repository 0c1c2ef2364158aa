import Fieldpack
import FieldpackCore

/// The rules of one field of a form, with its pattern read.
struct FieldRules: Sendable {
  /// All that is wrong with one answer.
  struct Refusal: Error {
    var messages: [String]

    init(_ messages: String...) { self.messages = messages }
  }

  let field: FormField
  /// Why the pattern is not tested.
  let note: String?
  private let pattern: FormPattern?
  private let options: ConstraintTest?

  init(_ field: FormField) {
    self.field = field
    var note: String?
    var pattern: FormPattern?
    if let source = field.constraints.pattern {
      do throws(FieldpackError) { pattern = try FormPattern(source) } catch {
        note = error.message + ": it is not tested"
      }
    }
    self.note = note
    self.pattern = pattern
    options = field.optionConstraint(named: field.key).map { ConstraintTest($0) }
  }

  /// The answer as the column holds it; `nil` where there is none.
  func value(of answer: Value) throws(Refusal) -> Value? {
    let given = Self.given(answer)
    guard given != .null else {
      if field.isRequired { throw Refusal("value is required") }
      return nil
    }
    let value = try converted(given)
    let messages = number(value) + text(value) + choice(value)
    guard messages.isEmpty else {
      var refusal = Refusal()
      refusal.messages = messages
      throw refusal
    }
    return value
  }

  /// The answer without blanks around a text; an empty text is none.
  private static func given(_ answer: Value) -> Value {
    guard case .text(let text) = answer else { return answer }
    return text.allSatisfy(\.isWhitespace) ? .null : answer
  }

  // MARK: Kinds

  private func converted(_ answer: Value) throws(Refusal) -> Value {
    switch field.kind {
    case .number where field.constraints.isInteger: return try whole(answer)
    case .number, .slider:
      if field.constraints.isInteger, case .integer(let number) = try whole(answer) {
        return .real(Double(number))
      }
      return .real(try real(answer))
    case .integer, .counter: return try whole(answer)
    case .boolean: return try boolean(answer)
    case .date: return try moment(answer)
    case .time: return try time(answer)
    case .photo: return try photo(answer)
    case .string, .select, .barcode, nil:
      switch answer {
      case .blob: throw Refusal("value must be a text")
      case .boolean(let flag): return .text(flag ? "true" : "false")
      default: return .text(answer.plainText)
      }
    }
  }

  private func trimmed(_ text: String) -> String {
    var text = text[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }

  private func real(_ answer: Value) throws(Refusal) -> Double {
    let number: Double?
    switch answer {
    case .integer(let value): number = Double(value)
    case .real(let value): number = value
    case .text(let text):
      var digits = trimmed(text)
      number = digits.withUTF8 { NumberParser.double($0) }
    default: number = nil
    }
    guard let number, number.isFinite else { throw Refusal("value must be a number") }
    return number
  }

  private func whole(_ answer: Value) throws(Refusal) -> Value {
    if case .integer = answer { return answer }
    if case .text(let text) = answer, let number = Int64(trimmed(text)) { return .integer(number) }
    guard let number = Int64(exactly: try real(answer)) else {
      throw Refusal("value must be a whole number")
    }
    return .integer(number)
  }

  private func boolean(_ answer: Value) throws(Refusal) -> Value {
    switch answer {
    case .boolean: return answer
    case .integer(0), .real(0): return .boolean(false)
    case .integer(1), .real(1): return .boolean(true)
    case .text(let text):
      if let flag = Value.text(trimmed(text)).converted(to: .boolean) { return flag }
    default: break
    }
    throw Refusal("value must be true or false")
  }

  private func moment(_ answer: Value) throws(Refusal) -> Value {
    switch answer {
    case .dateTime: return answer
    case .date(let day): return .dateTime(day.startOfDay)
    case .text(let text):
      var digits = trimmed(text)
      if let moment = digits.withUTF8({ DateTimeParser.moment($0) }) { return .dateTime(moment) }
    default: break
    }
    throw Refusal("value must be a date such as 2017-03-23 or 2017-03-23T18:18:08Z")
  }

  /// A time of the day, or a moment, as apps send it that keep both in one value.
  private func time(_ answer: Value) throws(Refusal) -> Value {
    if case .dateTime(let moment) = answer { return .text(moment.description) }
    if case .text(let text) = answer {
      var digits = trimmed(text)
      if Self.isTime(digits) || digits.withUTF8({ DateTimeParser.dateTime($0) }) != nil {
        return .text(digits)
      }
    }
    throw Refusal("value must be a time such as 14:30")
  }

  /// `14:30`, `14:30:05` or `14:30:05.25`, and perhaps a zone.
  private static func isTime(_ text: String) -> Bool {
    var moment = "2000-01-01T" + text
    return moment.withUTF8 { DateTimeParser.dateTime($0) } != nil
  }

  /// A picture as a data URI. Bytes become one, so that all pictures of a form can be read alike.
  private func photo(_ answer: Value) throws(Refusal) -> Value {
    switch answer {
    case .text(let text) where text.prefix(5).lowercased() == "data:": return answer
    case .blob(let bytes):
      if let type = MediaType(bytes), type.rawValue.hasPrefix("image/") {
        return .text("data:\(type.rawValue);base64,\(Base64.encode(bytes))")
      }
    default: break
    }
    throw Refusal("value must be a picture as a data URI")
  }

  // MARK: Constraints

  private func number(_ value: Value) -> [String] {
    let number: Double
    switch value {
    case .integer(let whole): number = Double(whole)
    case .real(let real): number = real
    default: return []
    }
    var messages: [String] = []
    if let low = field.constraints.minimum,
      low.isExclusive ? number <= low.value : number < low.value
    {
      messages.append("value must be \(low.isExclusive ? ">" : ">=") \(Self.shown(low.value))")
    }
    if let high = field.constraints.maximum,
      high.isExclusive ? number >= high.value : number > high.value
    {
      messages.append("value must be \(high.isExclusive ? "<" : "<=") \(Self.shown(high.value))")
    }
    return messages
  }

  private static func shown(_ number: Double) -> String {
    Int64(exactly: number)?.description ?? number.description
  }

  private func text(_ value: Value) -> [String] {
    guard field.kind != .photo, case .text(let text) = value else { return [] }
    var messages: [String] = []
    let count = text.unicodeScalars.count
    if let least = field.constraints.minimumLength, count < least {
      messages.append("value must have at least \(least.counting("character"))")
    }
    if let most = field.constraints.maximumLength, count > most {
      messages.append("value must have at most \(most.counting("character"))")
    }
    if let pattern {
      do throws(FieldpackError) {
        if try !pattern.matches(text) {
          messages.append("value must match the pattern '\(pattern.source)'")
        }
      } catch { messages.append("value is too long to be compared with its pattern") }
    }
    return messages
  }

  private func choice(_ value: Value) -> [String] {
    guard let options, !options.allows(value) else { return [] }
    return ["value must be \(options.constraint.summary)"]
  }
}

extension FormField {
  /// The options as a constraint that a GeoPackage keeps; `nil` where there are none.
  func optionConstraint(named name: String) -> ColumnConstraint? {
    guard !constraints.options.isEmpty, kind != .photo else { return nil }
    var seen: Set<[UInt8]> = []
    let options = constraints.options.filter { seen.insert(Array($0.utf8)).inserted }
    return ColumnConstraint(name, .oneOf(options.map { .init($0) }))
  }
}
