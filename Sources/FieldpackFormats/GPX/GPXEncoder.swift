package import FieldpackCore
import FieldpackGeometry

/// Encodes features as GPX elements; see ``GPXWriter``.
package struct GPXEncoder: FeatureTextEncoder {
  /// A path, or a point of one, in ``paths``.
  struct Part {
    enum Kind {
      /// A `trk` from its tag to its end.
      case whole
      /// What stands in a `trk` or `rte` before its points, of `head` bytes, and its points.
      case path(id: FeatureID, head: Int, emptySegments: [Int64])
      case point(path: Int64?, segment: Int64, number: Int64?)
    }

    var kind: Kind
    var layer: Int
    var length: Int
  }

  private let skipsErrors: Bool
  private(set) var layers: [GPXWriteLayer] = []
  private var current = -1
  private var positions = GPXPathVisitor()
  /// Waypoints.
  var points: [UInt8] = []
  /// What waits for the waypoints of all layers to be written.
  var paths: [UInt8] = []
  /// What is in ``paths``, one part behind the other.
  private(set) var parts: [Part] = []
  package private(set) var count = 0
  private(set) var skipped: [SkippedFeature] = []
  package private(set) var failure: FieldpackError?

  init(skipsErrors: Bool) { self.skipsErrors = skipsErrors }

  package var layer: LayerID? { current < 0 ? nil : layers[current].schema.layer }
  package var byteCount: Int { points.count + paths.count }

  /// Forgets the features, not the layers.
  mutating func removeAll() {
    points.removeAll(keepingCapacity: true)
    paths.removeAll(keepingCapacity: true)
    parts.removeAll(keepingCapacity: true)
    for index in layers.indices { layers[index].withoutGeometry = 0 }
    count = 0
    skipped = []
    failure = nil
  }

  package mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if let known = layers.firstIndex(where: { $0.schema == schema }) {
      current = known
      return
    }
    guard schema.geometry != nil || skipsErrors else {
      throw FieldpackError(
        .unsupported, "layer '\(schema.layer)' has no geometry, which GPX needs",
        location: .init(layer: schema.layer))
    }
    layers.append(GPXWriteLayer(schema))
    current = layers.count - 1
  }

  package mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard current >= 0 else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    guard failure == nil else { return }
    let (pointsEnd, pathsEnd) = (points.count, paths.count)
    do throws(FieldpackError) {
      try append(row)
      count += 1
    } catch {
      points.removeLast(points.count - pointsEnd)
      paths.removeLast(paths.count - pathsEnd)
      let location = KeyTuple.Partial(layer: layers[current].schema.layer, feature: row.id)
      guard skipsErrors else {
        failure = error.adding(location: location)
        return
      }
      skipped.append(
        SkippedFeature(location: location, reason: error.message, advice: error.advice))
    }
  }

  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    let type = try read(row)
    switch (layers[current].role, type) {
    case (.tracks, nil), (.routes, nil): appendPath(row)
    case (_, nil): layers[current].withoutGeometry += 1
    case (.trackPoints, .point), (.routePoints, .point): appendPathPoint(row)
    case (_, .point), (_, .multiPoint): appendWaypoints(row)
    case (_, .lineString), (_, .multiLineString): appendPath(row)
    case (_, let type?):
      throw FieldpackError(
        .unsupported,
        "layer '\(layers[current].schema.layer)' holds a \(type.name), which GPX cannot. "
          + "Try: export points and lines")
    }
  }

  /// Reads the positions of the geometry in the form that its type asks for; `nil` without one.
  private mutating func read(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> GeometryType? {
    let line: GPXPathVisitor.Form =
      switch layers[current].role {
      case .routes: .route
      case .tracks: .track(keepsEmpty: true)
      default: .track(keepsEmpty: false)
      }
    let type: GeometryType?
    do throws(GeometryError) {
      type = try row.withGeometry { span throws(GeometryError) in
        let type = try WKB.header(of: span).type
        switch type {
        case .point, .multiPoint: positions.begin(.points)
        case .lineString, .multiLineString: positions.begin(line)
        default: return type
        }
        try WKB.visitRuns(span, with: &positions)
        return type
      }
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(row.id): \(error)", underlying: error)
    }
    switch type {
    case nil: positions.begin(line)
    case .point, .multiPoint, .lineString, .multiLineString:
      if let problem = positions.problem { throw FieldpackError(.invalidData, problem) }
    default: break
    }
    return type
  }

  private mutating func appendWaypoints(_ row: borrowing some FeatureRow & ~Copyable) {
    if positions.points.isEmpty { layers[current].withoutGeometry += 1 }
    for index in positions.points.indices {
      let point = positions.points[index]
      GPXPathVisitor.appendStart("wpt", point.x, point.y, to: &points)
      layers[current].points.append(row, z: point.z, m: point.m, to: &points)
      points.appendRun(upTo: 8) { $0.append("</wpt>\n") }
    }
  }

  private mutating func appendPathPoint(_ row: borrowing some FeatureRow & ~Copyable) {
    guard let point = positions.points.first else {
      layers[current].withoutGeometry += 1
      return
    }
    let start = paths.count
    let isTrack = layers[current].isTrack
    GPXPathVisitor.appendStart(isTrack ? "trkpt" : "rtept", point.x, point.y, to: &paths)
    layers[current].points.append(row, z: point.z, m: point.m, to: &paths)
    paths.appendRun(upTo: 16) { $0.append(isTrack ? "</trkpt>\n" : "</rtept>\n") }
    let numbers = layers[current].numbers(of: row)
    let kind = Part.Kind.point(path: numbers.path, segment: numbers.segment, number: numbers.number)
    parts.append(Part(kind: kind, layer: current, length: paths.count - start))
  }

  private mutating func appendPath(_ row: borrowing some FeatureRow & ~Copyable) {
    guard case .features = layers[current].role else {
      let start = paths.count
      layers[current].paths.append(row, to: &paths)
      let head = paths.count - start
      paths.append(contentsOf: positions.bytes)
      let kind = Part.Kind.path(
        id: row.id, head: head, emptySegments: positions.emptySegments)
      parts.append(Part(kind: kind, layer: current, length: paths.count - start))
      return
    }
    guard !positions.bytes.isEmpty else {
      layers[current].withoutGeometry += 1
      return
    }
    let start = paths.count
    paths.appendRun(upTo: 8) { $0.append("<trk>") }
    layers[current].paths.append(row, to: &paths)
    paths.append(UInt8(ascii: "\n"))
    paths.append(contentsOf: positions.bytes)
    paths.appendRun(upTo: 8) { $0.append("</trk>\n") }
    let length = paths.count - start
    if let last = parts.indices.last, case .whole = parts[last].kind, parts[last].layer == current {
      parts[last].length += length
    } else {
      parts.append(Part(kind: .whole, layer: current, length: length))
    }
  }
}
