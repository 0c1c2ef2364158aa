import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// The layer that keeps what is submitted to a form.
struct FormLayer {
  let form: FormConfig

  private var id: LayerID { LayerID(form.key) }

  private var schema: Schema {
    Schema(
      layer: id, idColumn: "id",
      geometry: GeometryColumn(type: .geometry, srs: .wgs84, z: .optional),
      columns: form.fields.map { $0.column(of: form) })
  }

  /// Makes the layer what the form asks for.
  ///
  /// - Throws: `.constraint` where the layer cannot become that; then the caller's transaction has to be
  ///   undone.
  func prepare(in writer: GeoPackageWriter) throws(FieldpackError) -> FormRegistration {
    try checkKeys()
    let stored = try FormDocument.of(id, in: writer)
    if let stored, stored.form.key != form.key {
      throw refusal("its layer is that of form '\(stored.form.key)'")
    }
    if let stored, stored.form.version > form.version {
      return FormRegistration(
        form: stored.form, outcome: .outdated(stored: stored.form.version))
    }
    guard let schema = try writer.schema(of: id) else {
      try writer.createLayer(self.schema)
      try describe(in: writer)
      try FormDocument.store(form, replacing: stored, in: writer)
      return FormRegistration(form: form, outcome: .created)
    }
    if stored?.form == form.placeless {
      return FormRegistration(form: form, outcome: .unchanged)
    }
    let added = try upgrade(schema, in: writer)
    try describe(in: writer)
    try FormDocument.store(form, replacing: stored, in: writer)
    return FormRegistration(
      form: form, outcome: .upgraded(from: stored?.form.version, added: added))
  }

  private func checkKeys() throws(FieldpackError) {
    var names: Set<String> = ["id", "geom"]
    for field in form.fields where !names.insert(field.key.lowercased()).inserted {
      throw refusal("the name of its field '\(field.key)' is that of another column of its layer")
    }
  }

  /// Adds the columns of new fields; returns their names. Columns of fields that are gone stay.
  private func upgrade(
    _ stored: Schema, in writer: GeoPackageWriter
  ) throws(FieldpackError) -> [String] {
    guard stored.geometry?.srs == .wgs84, stored.geometry?.type == .geometry else {
      throw refusal("its layer is none for geometries of any type in WGS 84")
    }
    var missing: [ColumnDefinition] = []
    for column in schema.columns {
      guard let index = stored.columnIndex(column.name) else {
        missing.append(column)
        continue
      }
      let old = stored.columns[index]
      guard old.type == column.type else {
        throw refusal(
          "its field '\(column.name)' is kept as \(old.type.sql), and version \(form.version) wants "
            + "\(column.type.sql)")
      }
      if old.constraint?.rule != column.constraint?.rule {
        try writer.setConstraint(column.constraint, of: column.name, in: id)
      }
    }
    if !missing.isEmpty { try writer.addColumns(missing, to: id) }
    return missing.map(\.name)
  }

  private func describe(in writer: GeoPackageWriter) throws(FieldpackError) {
    try writer.execute(
      "UPDATE gpkg_contents SET description = ? WHERE lower(table_name) = lower(?)",
      [.text(form.label), .text(form.key)])
  }

  private func refusal(_ why: String) -> FieldpackError {
    FieldpackError(
      .constraint, "form '\(form.key)' cannot be kept: \(why)",
      location: .init(store: FormStore.id, layer: id))
  }
}

extension FormField {
  fileprivate func column(of form: FormConfig) -> ColumnDefinition {
    var column = ColumnDefinition(key, columnType)
    column.title = label
    column.constraint = optionConstraint(named: "\(form.key)_\(key)")
    return column
  }

  private var columnType: ColumnType {
    switch kind {
    case .number: constraints.isInteger ? .integer : .double
    case .slider: .double
    case .integer, .counter: .integer
    case .boolean: .boolean
    case .date: .dateTime
    case .string, .time, .select, .photo, .barcode, nil: .text()
    }
  }
}
