package import FieldpackCore
import FieldpackSQLite

/// What belongs to layers that come from another GeoPackage, beside their rows and columns: titles,
/// metadata, styles and relations.
package struct LayerMerge {
  /// A layer that came.
  package struct Part {
    /// The layer's name in the file that it comes from, and here.
    package var source: LayerID
    package var target: LayerID
    /// Whether the layer was created.
    package var isNew: Bool
    package var ids: IDs

    package init(source: LayerID, target: LayerID, isNew: Bool, ids: IDs) {
      (self.source, self.target, self.isNew, self.ids) = (source, target, isNew, ids)
    }
  }

  /// Which ids the rows have here.
  package enum IDs {
    /// Their own, but for those of the table.
    case kept(renumbered: [Int64: Int64])
    /// That of the row with the same value in a column.
    case matched(column: String)
    /// Others, which are not known.
    case unknown
  }

  private let origin: GeoPackageSource
  let parts: [Part]

  package init(from source: GeoPackageSource, _ parts: [Part]) {
    origin = source
    self.parts = parts
  }

  var source: GeoPackageSession { origin.file }

  func part(_ layer: LayerID) -> Part? {
    let name = SQLName(layer.rawValue)
    return parts.first { SQLName($0.source.rawValue) == name }
  }

  /// Writes everything into a file that has the rows already.
  ///
  /// - Returns: what was left out, for the user.
  func run(in file: GeoPackageSession) throws(FieldpackError) -> [String] {
    var notes: [String] = []
    for part in parts where part.isNew { try copyTitle(of: part, to: file) }
    var numbers = MergedIDs(merge: self, target: file)
    try MergedMetadata(merge: self, target: file).copy(&numbers)
    try MergedStyles(merge: self, target: file).copy()
    notes += try MergedRelations(merge: self, target: file).copy(&numbers)
    file.forgetCatalogue()
    return notes
  }

  /// A title stays with the layer that has it already.
  private func copyTitle(
    of part: Part, to file: GeoPackageSession
  ) throws(FieldpackError) {
    guard let layer = try source.catalogue().layer(part.source)?.layer else { return }
    if let title = layer.title, title != part.source.rawValue {
      try file.execute(
        "UPDATE gpkg_contents SET identifier = ?1 WHERE lower(table_name) = lower(?2) "
          + "AND NOT EXISTS (SELECT 1 FROM gpkg_contents WHERE identifier = ?1)",
        [.text(title), .text(part.target.rawValue)])
    }
    if let text = layer.description, !text.isEmpty {
      try file.execute(
        "UPDATE gpkg_contents SET description = ? WHERE lower(table_name) = lower(?)",
        [.text(text), .text(part.target.rawValue)])
    }
  }
}

/// The ids that rows of a merged layer have in the target.
struct MergedIDs {
  let merge: LayerMerge
  let target: GeoPackageSession
  private var matched: [LayerID: [Int64: Int64]] = [:]

  init(merge: LayerMerge, target: GeoPackageSession) {
    self.merge = merge
    self.target = target
  }

  /// The id of a row here; `nil` where it is not known.
  mutating func id(
    of number: Int64, in part: LayerMerge.Part
  ) throws(FieldpackError) -> Int64? {
    switch part.ids {
    case .kept(let renumbered): return renumbered[number] ?? number
    case .unknown: return nil
    case .matched(let column):
      if matched[part.source] == nil { matched[part.source] = try match(part, by: column) }
      return matched[part.source]?[number]
    }
  }

  private func match(
    _ part: LayerMerge.Part, by column: String
  ) throws(FieldpackError) -> [Int64: Int64] {
    guard let from = try merge.source.catalogue().layer(part.source),
      let into = try target.catalogue().layer(part.target)
    else { return [:] }
    let rows = try merge.source.prepare(
      "SELECT \(from.idExpression), \(quoted(column)) FROM \(quoted(from.table))",
      in: part.source)
    defer { rows.reset() }
    var found: [Int64: Int64] = [:]
    while try rows.step() {
      found[rows.row.integer(0)] = try target.integer(
        "SELECT \(into.idExpression) FROM \(quoted(into.table)) WHERE \(quoted(column)) = ?",
        [rows.row.value(1)])
    }
    return found
  }
}

/// The documents about merged layers, their columns and rows.
struct MergedMetadata {
  let merge: LayerMerge
  let target: GeoPackageSession

  func copy(_ numbers: inout MergedIDs) throws(FieldpackError) {
    let tables = MetadataTables(file: merge.source)
    guard try tables.exists else { return }
    var references: [(MetadataReference, MetadataSubject)] = []
    for reference in try tables.references() {
      guard let subject = try subject(reference.subject, &numbers) else { continue }
      references.append((reference, subject))
    }
    guard !references.isEmpty else { return }
    var documents = Documents(
      source: try tables.all(), known: try MetadataTables(file: target).all(),
      tables: MetadataTables(file: target))
    for (reference, subject) in references {
      guard let id = try documents.id(of: reference.metadata) else { continue }
      var parent: Int64?
      if let number = reference.parent { parent = try documents.id(of: number) }
      do throws(FieldpackError) {
        try documents.tables.attach(id, to: subject, parent: parent == id ? nil : parent)
      } catch  where error.code == .notFound {
        // The row was skipped, or the source's reference leads nowhere.
      }
    }
  }

  /// The subject as it is called here; `nil` where it does not come.
  private func subject(
    _ subject: MetadataSubject, _ numbers: inout MergedIDs
  ) throws(FieldpackError) -> MetadataSubject? {
    switch subject {
    case .geoPackage: return nil
    case .layer(let layer): return merge.part(layer).map { .layer($0.target) }
    case .column(let column, let layer):
      return merge.part(layer).map { .column(column, of: $0.target) }
    case .row(let row, let layer):
      guard let (id, target) = try number(row, layer, &numbers) else { return nil }
      return .row(id, of: target)
    case .value(let column, let row, let layer):
      guard let (id, target) = try number(row, layer, &numbers) else { return nil }
      return .value(column, row: id, of: target)
    }
  }

  private func number(
    _ row: FeatureID, _ layer: LayerID, _ numbers: inout MergedIDs
  ) throws(FieldpackError) -> (FeatureID, LayerID)? {
    guard case .integer(let number) = row, let part = merge.part(layer),
      let id = try numbers.id(of: number, in: part)
    else { return nil }
    return (.integer(id), part.target)
  }

  /// The documents of both files. A document that the target has already is not stored again.
  private struct Documents {
    let source: [Metadata]
    var known: [Metadata]
    let tables: MetadataTables
    private var ids: [Int64: Int64] = [:]

    init(source: [Metadata], known: [Metadata], tables: MetadataTables) {
      (self.source, self.known, self.tables) = (source, known, tables)
    }

    mutating func id(of number: Int64) throws(FieldpackError) -> Int64? {
      if let id = ids[number] { return id }
      guard var document = source.first(where: { $0.id == number }) else { return nil }
      if !Metadata.Scope.all.contains(document.scope) { document.scope = .undefined }
      let same = known.first {
        $0.content == document.content && $0.standardURI == document.standardURI
          && $0.mediaType == document.mediaType && $0.scope == document.scope
      }
      document.id =
        if let same { same.id } else {
          try tables.add(
            document.content, mediaType: document.mediaType, standardURI: document.standardURI,
            scope: document.scope)
        }
      known.append(document)
      ids[number] = document.id
      return document.id
    }
  }
}

/// The styles that QGIS has stored for merged layers that are new.
struct MergedStyles {
  let merge: LayerMerge
  let target: GeoPackageSession

  func copy() throws(FieldpackError) {
    let name = LayerChange.styles
    guard try merge.source.kind(of: name) == "table" else { return }
    var columns = try TableReader(file: merge.source, table: name, isView: false).columns([])
    let id = try TableReader(file: merge.source, table: name, isView: false).takeID(from: &columns)
    let own = columns.map(\.definition)
    guard own.contains(where: { SQLName($0.name) == SQLName("f_table_name") }) else { return }
    for part in merge.parts where part.isNew {
      let names = own.map { quoted($0.name) }.sqlList
      let rows = try merge.source.rows(
        "SELECT \(names) FROM \(name) WHERE lower(f_table_name) = lower(?)",
        [.text(part.source.rawValue)])
      guard !rows.isEmpty else { continue }
      try create(own, id: id?.name)
      try insert(rows, own, of: part)
    }
  }

  /// Creates the table as QGIS does, as a layer without geometry.
  private func create(_ columns: [ColumnDefinition], id: String?) throws(FieldpackError) {
    let name = LayerChange.styles
    guard try !target.hasTable(name) else { return }
    let schema = Schema(layer: LayerID(name), idColumn: id, columns: columns)
    let types = try merge.source.storedTypes(of: schema)
    try LayerCreation(file: target).create(schema.copied(storedTypes: types))
  }

  private func insert(
    _ rows: [[SQLiteValue]], _ columns: [ColumnDefinition], of part: LayerMerge.Part
  ) throws(FieldpackError) {
    let name = LayerChange.styles
    let present = Set(
      try target.rows("SELECT name FROM pragma_table_xinfo(?) WHERE NOT hidden", [.text(name)])
        .compactMap { $0[0].textValue.map { SQLName($0) } })
    let kept = columns.indices.filter { present.contains(SQLName(columns[$0].name)) }
    let marks = kept.map { _ in "?" }.sqlList
    let sql =
      "INSERT INTO \(name) (\(kept.map { quoted(columns[$0].name) }.sqlList)) VALUES (\(marks))"
    for row in rows {
      try target.execute(
        sql,
        kept.map { index in
          SQLName(columns[index].name) == SQLName("f_table_name")
            ? .text(part.target.rawValue) : row[index]
        })
    }
  }
}
