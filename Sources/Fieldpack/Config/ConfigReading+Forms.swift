import FieldpackCore

extension ConfigReading {
  /// Keeps the form as it stands and tells what is wrong with it.
  mutating func readForm(_ form: ConfigValue) {
    let key = form["form_key"]?.text ?? ""
    let name = key.isEmpty ? "the form" : "form '\(key)'"
    let start = form.range.lowerBound
    check(
      form.members,
      known: ["id", "form_key", "form_label", "version", "team_id", "fields", "metadata"])
    if key.isEmpty { tell(.error, at: start, "the form has no 'form_key'") }
    if form["form_label"]?.text?.isEmpty ?? true {
      tell(.warning, at: start, "\(name) has no 'form_label'")
    }
    checkPositive("version", of: form, name)
    checkPositive("id", of: form, name)
    let fields = list("fields", of: form)
    if fields.isEmpty { tell(.error, at: start, "\(name) has no 'fields'") }
    for field in fields { checkField(field, of: name) }
    add(form)
  }

  private mutating func check(_ members: [ConfigMember], known: Set<String>) {
    for member in members where !known.contains(member.name) { tellUnknown(member) }
  }

  /// A number above zero; the apps for Android write it as a text.
  private mutating func checkPositive(_ member: String, of form: ConfigValue, _ name: String) {
    guard let value = form[member], !value.isNull else {
      tell(.warning, at: form.range.lowerBound, "\(name) has no '\(member)'")
      return
    }
    guard let number = value.integer ?? value.text.flatMap({ Int64($0) }), number > 0 else {
      tell(.warning, at: value.range.lowerBound, "the '\(member)' of \(name) is not above 0")
      return
    }
  }

  private mutating func checkField(_ field: ConfigValue, of form: String) {
    let start = field.range.lowerBound
    check(
      field.members,
      known: [
        "id", "field_key", "field_label", "type", "position", "is_required", "constraints",
      ])
    for member in ["field_key", "field_label"] where field[member]?.text?.isEmpty ?? true {
      tell(.error, at: start, "a field of \(form) has no '\(member)'")
    }
    let types = [
      "string", "number", "integer", "boolean", "date", "time", "slider", "photo", "counter",
      "select", "barcode",
    ]
    guard let type = field["type"] else {
      tell(.error, at: start, "a field of \(form) has no 'type'")
      return
    }
    guard let name = type.text, types.contains(name) else {
      let known = types.joined(separator: ", ")
      tell(
        .warning, at: type.range.lowerBound,
        "the type of a field of \(form) is not known (known: \(known))")
      return
    }
  }
}
