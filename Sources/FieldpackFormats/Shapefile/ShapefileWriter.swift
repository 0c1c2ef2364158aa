public import FieldpackCore
import FieldpackGeometry

/// Writes one layer as a shapefile, or a layer of attributes as a `.dbf`.
///
/// - All geometries are of one kind: points, sets of points, lines or polygons. Outer rings run
///   clockwise, curves are drawn with straight lines, an empty geometry is a null shape.
/// - The first column is the feature id. Names are cut to ten bytes; texts have at most 254 bytes of
///   UTF-8 and blobs are left out. A DATETIME is its text.
public struct ShapefileWriter: FeatureSink {
  /// The files; the caller finishes them.
  public struct Outputs {
    public var shapes: ByteOutput?
    public var index: ByteOutput?
    public var table: ByteOutput

    public init(shapes: ByteOutput?, index: ByteOutput?, table: ByteOutput) {
      (self.shapes, self.index, self.table) = (shapes, index, table)
    }
  }

  private let outputs: Outputs
  private let skipsErrors: Bool
  private var schema: Schema?
  private var table: DBFWriter?
  private var shape = ShapeEncoder(hasZ: false, hasM: false)
  private var family: ShapeEncoder.Family?
  private let shapes = GPXSpool()
  private let index = GPXSpool()
  private var record: [UInt8] = []
  private var lostOrdinates = 0
  private var addedZ = 0
  /// The features that were skipped.
  public private(set) var skipped: [SkippedFeature] = []

  /// - Parameter skipsErrors: whether features that cannot be written are skipped and reported, and
  ///   texts that are too long are cut.
  public init(_ outputs: Outputs, skipsErrors: Bool = false) {
    self.outputs = outputs
    self.skipsErrors = skipsErrors
  }

  /// - Throws: `.invalidArgument` for a second layer.
  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    guard try !self.schema.isRepeated(by: schema, in: "a shapefile") else { return }
    self.schema = schema
    table = try DBFWriter(schema, cutsTexts: skipsErrors)
    guard let geometry = schema.geometry else { return }
    shape = ShapeEncoder(hasZ: geometry.z != .prohibited, hasM: geometry.m != .prohibited)
    family = ShapeEncoder.Family(geometry.type)
  }

  public mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
  {
    do throws(FieldpackError) {
      record.removeAll(keepingCapacity: true)
      if outputs.shapes != nil { try encode(row) }
      try table?.append(row)
    } catch {
      let error = error.adding(location: .init(layer: schema?.layer, feature: row.id))
      guard skipsErrors else { throw error }
      skipped.append(SkippedFeature(error))
      return
    }
    if outputs.shapes != nil { try writeRecord() }
  }

  // MARK: Shapes

  private mutating func encode(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    shape.reset()
    do {
      _ = try row.withGeometry { (wkb) throws(GeometryError) in
        try WKB.visit(wkb, with: &shape)
        guard shape.hasOtherTypes else { return }
        let straight = try WKB.read(wkb).linearized()
        shape.reset()
        straight.visit(with: &shape)
      }
    } catch {
      throw FieldpackError(.invalidData, "the geometry is broken: \(error)", underlying: error)
    }
    guard let type = shape.type, !shape.isEmpty else {
      record.append(little: Int32(0))
      return
    }
    let own = shape.hasOtherTypes ? nil : ShapeEncoder.Family(type)
    let wanted = family ?? own
    guard let own, let wanted,
      own == wanted || wanted == .multiPoint && own == .point
        || wanted == .point && own == .multiPoint && shape.positionCount == 1
    else {
      let held = wanted.map { "this one holds \($0.name)" } ?? "a collection is none of them"
      throw FieldpackError(
        .unsupported,
        "the geometry is a \(type.name): a shapefile holds points, lines or polygons alone, and "
          + held)
    }
    family = wanted
    if shape.dimensions.hasZ, !shape.hasZ { lostOrdinates += 1 }
    if shape.dimensions.hasM, !shape.hasM { lostOrdinates += 1 }
    if !shape.dimensions.hasZ, shape.hasZ { addedZ += 1 }
    shape.append(as: wanted, to: &record)
  }

  private mutating func writeRecord() throws(FieldpackError) {
    let offset = ShapefileHeader.length + shapes.end
    if let schema { try ShapefileLimit.check(offset + 8 + record.count, schema.layer) }
    index.buffer.append(big: Int32(offset / 2))
    index.buffer.append(big: Int32(record.count / 2))
    shapes.buffer.append(big: Int32(table?.rowCount ?? 0))
    shapes.buffer.append(big: Int32(record.count / 2))
    shapes.buffer += record
    try shapes.flushIfFull()
    try index.flushIfFull()
  }

  // MARK: End

  /// Remarks on what a shapefile has no place for; all are known when the writer has finished.
  public var notes: [String] {
    var notes = table?.notes ?? []
    if lostOrdinates > 0 {
      notes.append(
        "a z or an m that the layer does not declare is left out: \(lostOrdinates) of them")
    }
    if addedZ > 0 { notes.append("geometries without z get z = 0: \(addedZ) of them") }
    return notes
  }

  /// Writes one file after the other. The caller finishes the outputs.
  public mutating func finish() throws(FieldpackError) {
    try table?.finish(to: outputs.table)
    try outputs.table.flush()
    let code = family.map { shape.code($0) } ?? 0
    for (spool, output) in [(shapes, outputs.shapes), (index, outputs.index)] {
      guard let output else { continue }
      output.buffer += shape.header(code, length: ShapefileHeader.length + spool.end)
      try spool.copy(spool.extent(from: 0), to: output)
      try output.flush()
    }
  }
}
