import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// The definition of a form as a GeoPackage keeps it with the form's layer: a metadata document about
/// the layer, with the members that a config has.
struct FormDocument {
  static let standard = "urn:fieldpack:form"

  let form: FormConfig
  /// The id of the document in the file.
  let id: Int64

  /// The definitions of the file, in the order in which they were added.
  static func all(in snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [FormDocument] {
    let layers = try snapshot.metadataReferences().compactMap { reference -> (Int64, String)? in
      guard case .layer(let layer) = reference.subject else { return nil }
      return (reference.metadata, layer.rawValue.lowercased())
    }
    return try snapshot.metadata().compactMap { document in
      guard document.standardURI == standard, let form = form(in: document.content) else {
        return nil
      }
      // A copy of the document about another layer tells nothing of a form.
      let isOfLayer = layers.contains { $0 == (document.id, form.key.lowercased()) }
      return isOfLayer ? FormDocument(form: form, id: document.id) : nil
    }
  }

  /// The definition that belongs to a layer; `nil` where the layer has none.
  static func of(
    _ layer: LayerID, in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> FormDocument? {
    try all(in: snapshot).first { $0.form.key.lowercased() == layer.rawValue.lowercased() }
  }

  private static func form(in content: String) -> FormConfig? {
    let text = "{\"forms\":[\(content)]}"
    guard let document = try? ConfigDocument(Array(text.utf8), file: standard) else { return nil }
    return WorkspaceConfig(document, folder: "/").forms.first?.placeless
  }

  /// Stores the definition, in place of an older one.
  static func store(
    _ form: FormConfig, replacing old: FormDocument?, in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let content = form.document.text
    if let old {
      try writer.updateMetadata(old.id, content: content)
    } else {
      try writer.addMetadata(
        content, as: "application/json", standard: standard, scope: .featureType,
        about: .layer(LayerID(form.key)))
    }
  }
}

extension FormConfig {
  /// The form wherever it stands.
  var placeless: FormConfig {
    var form = self
    form.position = nil
    return form
  }

  /// The form as configs write it.
  var document: JSONValue {
    object([
      ("id", .integer(id)), ("form_key", .text(key)), ("form_label", .text(label)),
      ("version", .integer(version)), ("team_id", team.map { .integer($0) }),
      ("fields", .array(fields.enumerated().map { $0.element.document(at: $0.offset) })),
    ])
  }
}

extension FormField {
  fileprivate func document(at position: Int) -> JSONValue {
    object([
      ("field_key", .text(key)), ("field_label", .text(label)),
      ("type", .text(kind?.rawValue ?? "unknown")), ("position", .integer(Int64(position))),
      ("is_required", .boolean(isRequired)), ("constraints", constraints.document),
    ])
  }
}

extension FormConstraints {
  fileprivate var document: JSONValue {
    object([
      ("initial_value", initialValue.map { .text($0) }),
      ("minimum", minimum.map { .real($0.value) }),
      ("exclusive_minimum", minimum?.isExclusive == true ? .boolean(true) : nil),
      ("maximum", maximum.map { .real($0.value) }),
      ("exclusive_maximum", maximum?.isExclusive == true ? .boolean(true) : nil),
      ("is_integer", isInteger ? .boolean(true) : nil),
      ("minimum_length", minimumLength.map { .integer(Int64($0)) }),
      ("maximum_length", maximumLength.map { .integer(Int64($0)) }),
      ("pattern", pattern.map { .text($0) }),
      ("options", options.isEmpty ? nil : .array(options.map { .text($0) })),
    ])
  }
}

/// An object of those members that have a value.
private func object(_ members: [(String, JSONValue?)]) -> JSONValue {
  .object(members.compactMap { member in member.1.map { .init(name: member.0, value: $0) } })
}
