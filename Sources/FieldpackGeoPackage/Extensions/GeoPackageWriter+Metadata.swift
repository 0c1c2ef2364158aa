public import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Stores a document about the file, or about `subjects`; returns its id.
  ///
  ///     try writer.addMetadata(xml, standard: "http://www.isotc211.org/2005/gmd",
  ///                            about: .layer("wells"))
  /// - Parameters:
  ///   - standard: the URI of the standard that the document follows.
  ///   - subjects: what the document is about. With none the document has no reference.
  ///   - parent: the document that this one is a part of.
  /// - Throws: `.notFound` for a subject or parent that does not exist, `.invalidArgument` for a
  ///   scope that the standard does not know.
  @discardableResult
  public func addMetadata(
    _ content: String, as mediaType: String = "text/xml", standard: String,
    scope: Metadata.Scope = .dataset, about subjects: MetadataSubject..., parent: Int64? = nil
  ) throws(FieldpackError) -> Int64 {
    try file.connection.savepoint { () throws(FieldpackError) in
      let tables = MetadataTables(file: file)
      let id = try tables.add(content, mediaType: mediaType, standardURI: standard, scope: scope)
      for subject in subjects { try tables.attach(id, to: subject, parent: parent) }
      return id
    }
  }

  /// Says that a document is about a further subject.
  public func attachMetadata(
    _ id: Int64, to subject: MetadataSubject, parent: Int64? = nil
  ) throws(FieldpackError) {
    try MetadataTables(file: file).attach(id, to: subject, parent: parent)
  }

  /// Removes the reference from a document to a subject; the document stays. Returns whether there
  /// was one.
  @discardableResult
  public func detachMetadata(
    _ id: Int64, from subject: MetadataSubject
  ) throws(FieldpackError) -> Bool {
    try MetadataTables(file: file).detach(id, from: subject)
  }

  public func updateMetadata(_ id: Int64, content: String) throws(FieldpackError) {
    try MetadataTables(file: file).update(id, content: content)
  }

  /// Removes a document with its references. Its parts stay and lose their parent.
  public func removeMetadata(_ id: Int64) throws(FieldpackError) {
    try file.connection.savepoint { () throws(FieldpackError) in
      try MetadataTables(file: file).remove(id)
    }
  }
}

extension GeoPackageSnapshot {
  /// The documents of the file.
  public func metadata() throws(FieldpackError) -> [Metadata] {
    try MetadataTables(file: file).all()
  }

  /// The references of the documents to their subjects.
  public func metadataReferences() throws(FieldpackError) -> [MetadataReference] {
    try MetadataTables(file: file).references()
  }
}

extension GeoPackageStore {
  /// The documents of the file and their references.
  public func metadata() async throws(FieldpackError) -> (
    documents: [Metadata], references: [MetadataReference]
  ) {
    try await read { (snapshot) throws(FieldpackError) in
      (try snapshot.metadata(), try snapshot.metadataReferences())
    }
  }

  /// The number of documents, without reading them, and their references.
  package func metadataOverview() async throws(FieldpackError) -> (
    count: Int, references: [MetadataReference]
  ) {
    try await read { (snapshot) throws(FieldpackError) in
      (try MetadataTables(file: snapshot.file).count(), try snapshot.metadataReferences())
    }
  }
}
