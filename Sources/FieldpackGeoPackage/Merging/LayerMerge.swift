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
    /// The rows that did not come because there were equal ones here, with the ids of these.
    package var equals: [Int64: [Int64]]

    package init(
      source: LayerID, target: LayerID, isNew: Bool, ids: IDs, equals: [Int64: [Int64]] = [:]
    ) {
      (self.source, self.target, self.isNew, self.ids) = (source, target, isNew, ids)
      self.equals = equals
    }
  }

  /// Which ids the rows have here.
  package enum IDs {
    /// Their own, except the rows of the table, which got others.
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
    for part in parts where part.isNew {
      try copyTitle(of: part, to: file)
      guard try origin.hasChecks(part.source) else { continue }
      notes.append("the CHECK constraints of layer '\(part.source)' are left out")
    }
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
