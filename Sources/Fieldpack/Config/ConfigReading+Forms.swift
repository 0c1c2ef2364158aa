import FieldpackCore

extension ConfigReading {
  /// Reads a form. One with errors is told of and left out.
  mutating func readForm(_ form: ConfigValue) {
    let before = toldCount
    let key = form["form_key"]?.text ?? ""
    let name = key.isEmpty ? "the form" : "form '\(key)'"
    let start = form.range.lowerBound
    check(
      form.members,
      known: ["id", "form_key", "form_label", "version", "team_id", "fields", "metadata"])
    if key.isEmpty {
      tell(.error, at: start, "the form has no 'form_key'")
    } else if !Self.isKey(key), let value = form["form_key"] {
      tell(
        .warning, at: value.range.lowerBound,
        "backends take a 'form_key' of a-z, 0-9 and _, a letter first, and '\(key)' is none")
    }
    let label = form["form_label"]?.text ?? ""
    if label.isEmpty { tell(.error, at: start, "\(name) has no 'form_label'") }
    let version = number("version", of: form, name, allowsZero: true)
    let id = number("id", of: form, name, allowsZero: false)
    let fields = fields(of: form, name)
    guard !hasErrors(since: before), let id, let version else { return }
    add(
      FormConfig(
        id: id, key: key, label: label, version: version, team: form["team_id"]?.integer,
        fields: fields, position: document.position(of: start)))
  }

  private static func isKey(_ key: String) -> Bool {
    key.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): index > 0
      default: false
      }
    }
  }

  private mutating func check(_ members: [ConfigMember], known: Set<String>) {
    for member in members where !known.contains(member.name) { tellUnknown(member) }
  }

  /// A number above zero; the apps for Android write it as a text, and 0 as a version.
  private mutating func number(
    _ member: String, of form: ConfigValue, _ name: String, allowsZero: Bool
  ) -> Int64? {
    guard let value = form[member], !value.isNull else {
      tell(.error, at: form.range.lowerBound, "\(name) has no '\(member)'")
      return nil
    }
    let number = value.integer ?? value.text.flatMap { Int64($0) }
    guard let number, number > 0 else {
      let isTaken = allowsZero && number == 0
      tell(
        isTaken ? .warning : .error, at: value.range.lowerBound,
        "the '\(member)' of \(name) is not above 0")
      return isTaken ? 0 : nil
    }
    return number
  }

  // MARK: Fields

  /// The fields in the order of their positions.
  private mutating func fields(of form: ConfigValue, _ name: String) -> [FormField] {
    let entries = list("fields", of: form)
    if entries.isEmpty {
      tell(.error, at: form.range.lowerBound, "\(name) has no 'fields'")
    }
    var fields: [(position: Double, field: FormField)] = []
    var keys: Set<String> = []
    for (index, entry) in entries.enumerated() {
      guard let field = field(entry, of: name) else { continue }
      if !keys.insert(field.key).inserted {
        tell(
          .error, at: entry.range.lowerBound, "\(name) has several fields '\(field.key)'")
      }
      fields.append((entry["position"].flatMap(Self.real) ?? Double(index), field))
    }
    // The sort is stable.
    return fields.sorted { $0.position < $1.position }.map(\.field)
  }

  private mutating func field(_ entry: ConfigValue, of form: String) -> FormField? {
    let start = entry.range.lowerBound
    check(
      entry.members,
      known: [
        "id", "field_key", "field_label", "type", "position", "is_required", "constraints",
      ])
    for member in ["field_key", "field_label"] where entry[member]?.text?.isEmpty ?? true {
      tell(.error, at: start, "a field of \(form) has no '\(member)'")
    }
    guard let type = entry["type"] else {
      tell(.error, at: start, "a field of \(form) has no 'type'")
      return nil
    }
    let kind = type.text.flatMap(FormField.Kind.init(rawValue:))
    if kind == nil {
      let known = FormField.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      tell(
        .warning, at: type.range.lowerBound,
        "the type of a field of \(form) is not known (known: \(known))")
    }
    let constraints = constraints(of: entry, "a field of \(form)")
    guard let key = entry["field_key"]?.text, let label = entry["field_label"]?.text else {
      return nil
    }
    return FormField(
      key: key, label: label, kind: kind,
      isRequired: entry["is_required"]?.content == .boolean(true), constraints: constraints)
  }

  private static let knownConstraints: Set = [
    "initial_value", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "is_integer",
    "integer", "minimum_length", "maximum_length", "pattern", "options",
  ]

  private mutating func constraints(of field: ConfigValue, _ name: String) -> FormConstraints {
    guard let entry = field["constraints"], !entry.isNull else { return FormConstraints() }
    guard case .object(let members) = entry.content else {
      tell(
        .warning, at: entry.range.lowerBound,
        "the 'constraints' of \(name) are an object, not \(entry.kind): not used")
      return FormConstraints()
    }
    check(members, known: Self.knownConstraints)
    var constraints = FormConstraints()
    constraints.initialValue = entry["initial_value"].flatMap(Self.words)
    constraints.minimum = bound("minimum", "exclusive_minimum", of: entry, name)
    constraints.maximum = bound("maximum", "exclusive_maximum", of: entry, name)
    let isInteger = entry["is_integer"] ?? entry["integer"]
    constraints.isInteger = isInteger?.content == .boolean(true)
    constraints.minimumLength = real("minimum_length", of: entry, name).flatMap(Int.init(exactly:))
    constraints.maximumLength = real("maximum_length", of: entry, name).flatMap(Int.init(exactly:))
    constraints.pattern = entry["pattern"].flatMap(Self.words)
    constraints.options = list("options", of: entry).compactMap(Self.words)
    return constraints
  }

  /// An end of a range. What makes it exclusive is a flag beside it, or a number in its place.
  private mutating func bound(
    _ member: String, _ exclusive: String, of entry: ConfigValue, _ name: String
  ) -> FormConstraints.Bound? {
    if case .boolean(let flag)? = entry[exclusive]?.content {
      return real(member, of: entry, name).map { .init($0, isExclusive: flag) }
    }
    return real(exclusive, of: entry, name).map { .init($0, isExclusive: true) }
      ?? real(member, of: entry, name).map { .init($0) }
  }

  private mutating func real(
    _ member: String, of entry: ConfigValue, _ name: String
  ) -> Double? {
    guard let value = entry[member], !value.isNull, value.text != "" else { return nil }
    let number = Self.real(value)
    if number == nil {
      tell(
        .warning, at: value.range.lowerBound, "the '\(member)' of \(name) is no number: not used")
    }
    return number
  }

  /// A number; backends write it as a text.
  private static func real(_ value: ConfigValue) -> Double? {
    words(value).flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A text that is not empty, or a number or boolean as it stands.
  private static func words(_ value: ConfigValue) -> String? {
    switch value.content {
    case .text(let text): text.isEmpty ? nil : text
    case .number(let digits): digits
    case .boolean(let flag): flag ? "true" : "false"
    default: nil
    }
  }
}
