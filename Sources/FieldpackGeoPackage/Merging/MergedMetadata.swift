import FieldpackCore

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
    let tables: MetadataTables
    /// The source's documents by their numbers there.
    private let source: [Int64: Metadata]
    /// The target's numbers of documents, which have the number 0 here.
    private var known: [Metadata: Int64] = [:]

    init(source: [Metadata], known: [Metadata], tables: MetadataTables) {
      self.tables = tables
      self.source = Dictionary(source.map { ($0.id, $0) }) { first, _ in first }
      for document in known {
        var unnumbered = document
        unnumbered.id = 0
        if self.known[unnumbered] == nil { self.known[unnumbered] = document.id }
      }
    }

    mutating func id(of number: Int64) throws(FieldpackError) -> Int64? {
      guard var document = source[number] else { return nil }
      document.id = 0
      if !Metadata.Scope.all.contains(document.scope) { document.scope = .undefined }
      if let id = known[document] { return id }
      let id = try tables.add(
        document.content, mediaType: document.mediaType, standardURI: document.standardURI,
        scope: document.scope)
      known[document] = id
      return id
    }
  }
}
