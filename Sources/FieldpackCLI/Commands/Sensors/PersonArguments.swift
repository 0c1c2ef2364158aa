import Fieldpack
import FieldpackCore

/// What is known of a person.
struct PersonArguments: OptionGroup {
  private struct Detail {
    var option: String
    var path: WritableKeyPath<PersonDetails, String?>
    var help: String
    var list: PersonPickList?
  }

  private static var details: [Detail] {
    [
      Detail(option: "first-name", path: \.firstName, help: "The first name."),
      Detail(option: "middle-name", path: \.middleName, help: "The middle name."),
      Detail(option: "last-name", path: \.lastName, help: "The last name."),
      Detail(option: "other-name", path: \.otherName, help: "Another name."),
      Detail(option: "gender", path: \.gender, help: "The gender.", list: .gender),
      Detail(option: "hair", path: \.hairColor, help: "The colour of the hair.", list: .hairColor),
      Detail(option: "eyes", path: \.eyeColor, help: "The colour of the eyes.", list: .eyeColor),
      Detail(option: "race", path: \.race, help: "The race.", list: .race),
      Detail(option: "height", path: \.height, help: "How tall."),
      Detail(option: "weight", path: \.weight, help: "How heavy."),
      Detail(option: "notes", path: \.notes, help: "What else is to be known."),
    ]
  }

  /// The texts that were given, by their options.
  private let texts: [String: String]
  private let aliases: [String]
  private let births: [String]
  private let birthplaces: [String]

  init(_ reader: inout OptionReader) {
    var texts: [String: String] = [:]
    for detail in Self.details {
      let form = detail.list.map { ValueForm.pick($0) } ?? .any("text")
      texts[detail.option] = reader.value(detail.option, form, help: detail.help)
    }
    self.texts = texts
    aliases = reader.values("alias", .any("name"), help: "An alias; may be repeated.")
    births = reader.values("born", .any("date"), help: "A date of birth; may be repeated.")
    birthplaces = reader.values(
      "birthplace", .any("place"), help: "A place of birth; may be repeated.")
  }

  func applied(to details: PersonDetails) -> PersonDetails {
    var changed = details
    for detail in Self.details {
      guard let text = texts[detail.option] else { continue }
      changed[keyPath: detail.path] = text.isEmpty ? nil : text
    }
    if !aliases.isEmpty { changed.aliases = aliases.filter { !$0.isEmpty } }
    if !births.isEmpty { changed.datesOfBirth = births.filter { !$0.isEmpty } }
    if !birthplaces.isEmpty { changed.placesOfBirth = birthplaces.filter { !$0.isEmpty } }
    return changed
  }
}

extension ValueForm where Value == String {
  /// Any text, also an empty one.
  static func any(_ placeholder: String) -> ValueForm {
    ValueForm(placeholder) { (text) throws(ValueError) -> String in text }
  }

  /// One of a list, or an empty text.
  fileprivate static func pick(_ list: PersonPickList) -> ValueForm {
    let choices = list.values.filter { !$0.isEmpty }
    return ValueForm("choice", completion: .choices(choices)) {
      (text) throws(ValueError) -> String in
      guard list.values.contains(text) else { throw .notAmong(choices, text) }
      return text
    }
  }
}
