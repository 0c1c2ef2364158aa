public import FieldpackCore
import FieldpackSQLite

extension FeatureWriter {
  /// Stores a document about the file, or about `subjects`; returns its id.
  ///
  ///     try writer.addMetadata(xml, standard: "http://www.isotc211.org/2005/gmd",
  ///                            about: .layer("wells"))
  /// - Parameters:
  ///   - standard: the URI of the standard that the document follows.
  ///   - subjects: what the document is about. With none the document has no reference.
  ///   - parent: the document that this one is a part of.
  /// - Throws: `.notFound` for a subject or parent that does not exist, `.invalidArgument` for a
  ///   scope that the standard does not know, `.unsupported` where the store is no GeoPackage.
  @discardableResult
  public mutating func addMetadata(
    _ content: String, as mediaType: String = "text/xml", standard: String,
    scope: Metadata.Scope = .dataset, about subjects: MetadataSubject..., parent: Int64? = nil
  ) throws(FieldpackError) -> Int64 {
    let file = try geoPackage.file
    return try file.connection.savepoint { () throws(FieldpackError) in
      let tables = MetadataTables(file: file)
      let id = try tables.add(content, mediaType: mediaType, standardURI: standard, scope: scope)
      for subject in subjects { try tables.attach(id, to: subject, parent: parent) }
      return id
    }
  }

  /// Says that a document is about a further subject.
  public mutating func attachMetadata(
    _ id: Int64, to subject: MetadataSubject, parent: Int64? = nil
  ) throws(FieldpackError) {
    try MetadataTables(file: geoPackage.file).attach(id, to: subject, parent: parent)
  }

  /// Removes the reference from a document to a subject; the document stays. Returns whether there
  /// was one.
  @discardableResult
  public mutating func detachMetadata(
    _ id: Int64, from subject: MetadataSubject
  ) throws(FieldpackError) -> Bool {
    try MetadataTables(file: geoPackage.file).detach(id, from: subject)
  }

  public mutating func updateMetadata(_ id: Int64, content: String) throws(FieldpackError) {
    try MetadataTables(file: geoPackage.file).update(id, content: content)
  }

  /// Removes a document with its references. Its parts stay and lose their parent.
  public mutating func removeMetadata(_ id: Int64) throws(FieldpackError) {
    let file = try geoPackage.file
    try file.connection.savepoint { () throws(FieldpackError) in
      try MetadataTables(file: file).remove(id)
    }
  }
}

extension StoreSnapshot {
  /// The documents of the file; none where the store is no GeoPackage.
  public borrowing func metadata() throws(FieldpackError) -> [Metadata] {
    guard backing is GeoPackageReading else { return [] }
    return try MetadataTables(file: geoPackage.file).all()
  }

  /// The references of the documents to their subjects.
  public borrowing func metadataReferences() throws(FieldpackError) -> [MetadataReference] {
    guard backing is GeoPackageReading else { return [] }
    return try MetadataTables(file: geoPackage.file).references()
  }
}

extension GeoPackageStore {
  /// The documents of the file and their references.
  public func metadata() async throws(FieldpackError) -> (
    documents: [Metadata], references: [MetadataReference]
  ) {
    try await reading { (reading) throws(FieldpackError) in
      let tables = MetadataTables(file: reading.file)
      return (try tables.all(), try tables.references())
    }
  }

  /// The number of documents, without reading them, and their references.
  package func metadataOverview() async throws(FieldpackError) -> (
    count: Int, references: [MetadataReference]
  ) {
    try await reading { (reading) throws(FieldpackError) in
      let tables = MetadataTables(file: reading.file)
      return (try tables.count(), try tables.references())
    }
  }
}
