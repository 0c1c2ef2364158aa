public import CArrow
public import FieldpackCore

/// A query's answer as Arrow record batches, for libraries that read the Arrow C stream interface.
///
/// Columns are the id (`int64`, or `utf8` where ids are texts), the attributes, and the geometry as
/// WKB with GeoArrow's extension type `geoarrow.wkb` and the SRS's authority code. Whole numbers
/// are `int64`, BOOLEAN `bool`, DATE `date32`, DATETIME `timestamp[ms, UTC]`. A value that is not of
/// its column's type is null and noted in ``report``.
public final class ArrowStream: Sendable {
  /// What was passed over, and notes; complete when the batches are.
  public let report: QueryReport
  let layout: ArrowLayout
  private let pieces: FeaturePieces<ArrowPiece>

  init(layout: ArrowLayout, pieces: FeaturePieces<ArrowPiece>) {
    self.layout = layout
    self.pieces = pieces
    report = pieces.report
  }

  /// Fills `stream`, which is the caller's to release; each export begins the answer anew.
  ///
  /// The callbacks block until a batch is there, so they are to be called from a thread of the
  /// caller's own and not from a Swift task. The store has to stay open until the stream is
  /// released.
  public func export(to stream: UnsafeMutablePointer<ArrowArrayStream>) {
    export(to: stream) {}
  }

  /// - Parameter whenReleased: called once, on the thread that releases the stream.
  func export(
    to stream: UnsafeMutablePointer<ArrowArrayStream>,
    whenReleased: @escaping @Sendable () -> Void
  ) {
    let source = StreamSource(layout, pieces, whenReleased)
    stream.initialize(
      to: ArrowArrayStream(
        get_schema: getSchema, get_next: getNext, get_last_error: getLastError,
        release: releaseStream, private_data: Unmanaged.passRetained(source).toOpaque()))
  }
}

extension Store {
  /// The answer to a query of one layer as Arrow record batches.
  ///
  /// - Throws: `.invalidArgument` for a query of several layers, and what `query` throws.
  public func arrowStream(_ query: Query) async throws(FieldpackError) -> ArrowStream {
    let schema = try await arrowSchema(query)
    let query = query.in(layers: [schema.layer])
    let first = query.select([]).withoutGeometry().limit(1)
    var hasTextIDs = false
    if let batch = try await self.query(first).makeAsyncIterator().next(),
      case .text? = batch.ids.first
    {
      hasTextIDs = true
    }
    let layout = ArrowLayout(schema, hasTextIDs: hasTextIDs)
    return ArrowStream(
      layout: layout, pieces: try await pieces(of: query) { ArrowPiece(layout) })
  }

  /// What the rows of the query look like.
  private func arrowSchema(_ query: Query) async throws(FieldpackError) -> Schema {
    let schemas = try await schemas()
    var asked = schemas
    if let name = query.layers.first, query.layers.count == 1 {
      asked = schemas.filter { $0.layer == name }
      if asked.isEmpty {
        asked = schemas.filter {
          $0.layer.rawValue.lowercased() == name.rawValue.lowercased()
        }
      }
    }
    let names = schemas.map(\.layer.rawValue).joined(separator: ", ")
    guard query.layers.count < 2, var schema = asked.first, asked.count == 1 else {
      guard query.layers.count == 1 else {
        throw FieldpackError(
          .invalidArgument, "an Arrow stream is of one layer (store '\(id)' has: \(names))",
          location: .init(store: id))
      }
      throw FieldpackError(
        .notFound, "layer '\(query.layers[0])' is not in store '\(id)' (it has: \(names))",
        location: .init(store: id, layer: query.layers[0]))
    }
    if !query.readsGeometry { schema.geometry = nil }
    if let srs = query.srs { schema.geometry?.srs = srs }
    if let wanted = query.columns {
      schema.columns = wanted.compactMap { name in
        schema.columnIndex(name).map { schema.columns[$0] }
      }
    }
    return schema
  }
}
