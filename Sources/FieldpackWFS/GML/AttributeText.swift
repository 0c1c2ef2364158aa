import FieldpackCore
import FieldpackFormats

/// Reads the values of columns from the texts that services write.
enum AttributeText {
  /// The value of a text in a column of `type`; a text that is none of the type stays a text.
  static func value(_ text: String, of type: ColumnType) -> Value {
    switch type {
    case .text, .json, .other: return .text(text)
    default: break
    }
    let word = text.trimmedOfSpace
    if word.isEmpty { return .null }
    switch type {
    case .date: return CalendarDate(String(word.prefix(10))).map { .date($0) } ?? .text(word)
    case .dateTime: return instant(word) ?? .text(word)
    case .blob:
      return Base64.decode(word.utf8.filter { $0 > 0x20 }).map { .blob($0) } ?? .text(word)
    default: return Value.text(word).converted(to: type) ?? .text(word)
    }
  }

  /// A moment; one without a zone is in UTC.
  private static func instant(_ word: String) -> Value? {
    var word = word
    return word.withUTF8 { DateTimeParser.moment($0) }.map { .dateTime($0) }
  }

  /// The value of a member of GeoJSON in a column of `type`.
  static func value(_ member: Value, of type: ColumnType) -> Value {
    if case .text(let text) = member { return value(text, of: type) }
    return member.converted(to: type) ?? member
  }

  /// The value of an element.
  static func value(_ element: XMLTree, of type: ColumnType) -> Value {
    if element[nilName] == "true" || element[nilName] == "1" { return .null }
    guard !element.children.isEmpty else { return value(element.text, of: type) }
    var texts: [String] = []
    gather(element, into: &texts)
    return value(texts.joined(separator: " "), of: type)
  }

  private static let nilName = XMLQName("nil", in: "http://www.w3.org/2001/XMLSchema-instance")

  /// The texts of the innermost elements.
  private static func gather(_ element: XMLTree, into texts: inout [String]) {
    if element.children.isEmpty, !element.text.isEmpty { texts.append(element.text) }
    for child in element.children { gather(child, into: &texts) }
  }
}
