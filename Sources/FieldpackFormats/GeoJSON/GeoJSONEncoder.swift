package import FieldpackCore
import FieldpackGeometry

/// Encodes the features of one layer as GeoJSON; see ``GeoJSONWriter``.
package struct GeoJSONEncoder: FeatureTextEncoder {
  package let options: GeoJSONWriter.Options
  package private(set) var schema: Schema?
  /// Holds the text.
  var body: GeoJSONGeometryWriter
  /// `nil` before the layer.
  private var plan: GeoJSONPlan?
  /// The values of the row at hand.
  var cells = RowCells()
  /// The box of the features since it was taken last.
  var envelope = Envelope.empty
  package internal(set) var count = 0
  var skipped: [SkippedFeature] = []
  package private(set) var failure: FieldpackError?

  package init(options: GeoJSONWriter.Options) {
    self.options = options
    body = GeoJSONGeometryWriter(decimals: options.decimals, swapsAxes: options.swapsAxes)
  }

  package var layer: LayerID? { schema?.layer }
  package var byteCount: Int { body.bytes.count }
  /// The text that waits to be taken.
  package var text: [UInt8] { body.bytes }

  /// Forgets the features, not the layer.
  mutating func removeAll() {
    body.bytes.removeAll(keepingCapacity: true)
    envelope = .empty
    count = 0
    skipped = []
    failure = nil
  }

  /// Begins the layer with its columns.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  package mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if try self.schema.isRepeated(by: schema, in: "GeoJSON") { return }
    self.schema = schema
    plan = GeoJSONPlan(schema, options)
  }

  package mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard let plan else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    guard failure == nil else { return }
    let start = body.bytes.count
    guard let reason = append(row, plan) else {
      count += 1
      return
    }
    body.bytes.removeSubrange(start...)
    let location = KeyTuple.Partial(layer: plan.layer, feature: row.id)
    if options.skipsErrors {
      skipped.append(SkippedFeature(location: location, reason: reason))
    } else {
      failure = FieldpackError(
        .invalidData, "feature \(row.id) cannot be written: \(reason)", location: location)
    }
  }

  /// Appends a feature; says why where it cannot be one.
  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ plan: GeoJSONPlan
  ) -> String? {
    let isCollection = options.layout == .collection
    body.bytes.appendRun(upTo: 40) { text in
      switch options.layout {
      case .collection: text.append(count == 0 ? "\n" : ",\n")
      case .lines: break
      case .sequence: text.append(UInt8(0x1E))
      }
      text.append("{\"type\":\"Feature\"")
    }
    appendID(row, plan)
    body.bytes.appendRun(upTo: 16) { $0.append(",\"properties\":{") }
    appendProperties(row, plan)
    body.bytes.append(UInt8(ascii: "}"))
    if plan.isSpatialConnect { appendMetadata(row, plan) }
    body.bytes.appendRun(upTo: 16) { $0.append(",\"geometry\":") }
    if let failure = appendGeometry(row, plan) { return failure }
    body.bytes.appendRun(upTo: 2) { $0.append(isCollection ? "}" : "}\n") }
    return nil
  }

  private mutating func appendGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, _ plan: GeoJSONPlan
  ) -> String? {
    let start = body.bytes.count
    let measures = options.writesBoundingBoxes || plan.isSpatialConnect
    let outcome = row.withGeometry { span -> String? in
      do throws(GeometryError) {
        try body.write(span, measures: measures)
        return body.failure
      } catch {
        return "\(error)"
      }
    }
    guard let failure = outcome, !body.isEmptyPoint else {
      // RFC 7946 section 3.1: a geometry without coordinates MAY be taken for null.
      body.bytes.removeSubrange(start...)
      body.bytes.appendRun(upTo: 4) { $0.append("null") }
      return nil
    }
    if failure == nil, measures, var box = body.envelope {
      if plan.isSpatialConnect { box.z = nil }
      body.bytes += ",\"bbox\":".utf8
      body.write(box: box)
      envelope.formUnion(box)
    }
    if failure == nil { body.bytes += plan.crs }
    return failure
  }
}
