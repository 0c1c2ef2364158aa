public import FieldpackCore
import FieldpackGeometry

/// Writes layers as one GPX document that is valid against the GPX 1.1 schema.
///
/// - Points are `wpt`, lines `trk` with a `trkseg` for each line, and `rte` in a layer `routes`;
///   elevations are Z and times M in Unix seconds.
/// - A layer with columns `track_fid` and `track_seg_id`, or `route_fid`, holds the points of the
///   layer `tracks` or `routes` beside it: each track is written once, with the fields of its row
///   and these points.
/// - Columns with the name of an element, whatever their case, are that element where the schema
///   allows the value; others are in `extensions`, in the namespace `https://fieldpack.dev/gpx/1`.
///   The XML of a column `extensions` is written back, edited columns in the place of its leaves.
/// - Coordinates are taken as WGS 84, times are written in UTC. Control characters become U+FFFD.
///
/// GPX wants waypoints, then routes, then tracks: paths wait in a temporary file, not in memory.
/// Polygons and collections are `.unsupported`, positions not on Earth `.invalidData`.
public struct GPXWriter: FeatureSink {
  static let namespace = "http://www.topografix.com/GPX/1/1"

  static func isGPX(_ uri: String?) -> Bool {
    uri == namespace || uri == "http://www.topografix.com/GPX/1/0"
  }

  public struct Options: Sendable {
    /// Passes over features that cannot be written instead of throwing.
    public var skipsErrors = false

    public init() {}
  }

  private struct GroupKey: Hashable {
    var isTrack: Bool
    /// Apart from layers that are no family but have the family's name.
    var hasPointLayer: Bool
    var family: String
  }

  private let output: ByteOutput
  private let options: Options
  private let spool = GPXSpool()
  private var layers: [GPXWriteLayer] = []
  private var current = -1
  private var groups: [GPXPathGroup] = []
  private var groupIndex: [GroupKey: Int] = [:]
  private var hasHeader = false
  /// The features passed over.
  public private(set) var skipped: [SkippedFeature] = []

  /// - Parameter output: the caller finishes it after ``finish()``.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    self.options = options
  }

  /// Remarks on what GPX has no place for.
  public var notes: [String] {
    layers.filter { $0.withoutGeometry > 0 }.map {
      "layer '\($0.schema.layer)': \($0.withoutGeometry) features without geometry are left out"
    }
  }

  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    writeHeader()
    if let known = layers.firstIndex(where: { $0.schema == schema }) {
      current = known
      return
    }
    guard schema.geometry != nil || options.skipsErrors else {
      throw FieldpackError(
        .unsupported, "layer '\(schema.layer)' has no geometry, which GPX needs",
        location: .init(layer: schema.layer))
    }
    layers.append(GPXWriteLayer(schema))
    current = layers.count - 1
  }

  public mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard current >= 0 else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    let (outputStart, spoolStart) = (output.buffer.count, spool.end)
    do throws(FieldpackError) {
      try write(row)
    } catch {
      output.buffer.removeLast(output.buffer.count - outputStart)
      spool.cut(to: spoolStart)
      let place = KeyTuple.Partial(layer: layers[current].schema.layer, feature: row.id)
      guard options.skipsErrors else { throw error.adding(location: place) }
      skipped.append(SkippedFeature(location: place, reason: error.message))
      return
    }
    try output.flushIfFull()
    try spool.flushIfFull()
  }

  /// Completes the document.
  public mutating func finish() throws(FieldpackError) {
    writeHeader()
    for isTrack in [false, true] {
      for group in groups where group.isTrack == isTrack { try group.write(spool, to: output) }
    }
    output.buffer.append(contentsOf: "</gpx>\n".utf8)
    try output.flushIfFull()
  }

  private mutating func writeHeader() {
    guard !hasHeader else { return }
    hasHeader = true
    output.buffer.append(
      contentsOf: """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Fieldpack" xmlns="\(Self.namespace)" \
        xmlns:fieldpack="\(GPXExtensionCapture.namespace)">

        """.utf8)
  }

  // MARK: Features

  private mutating func write(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    let header = try checked(row) { span throws(GeometryError) in try WKB.header(of: span) }
    switch (layers[current].role, header?.type) {
    case (.tracks, nil), (.routes, nil): try writePath(row)
    case (_, nil): layers[current].withoutGeometry += 1
    case (.trackPoints, .point), (.routePoints, .point): try writePathPoint(row)
    case (_, .point), (_, .multiPoint): try writeWaypoints(row)
    case (_, .lineString), (_, .multiLineString): try writePath(row)
    case (_, let type?):
      throw FieldpackError(
        .unsupported,
        "layer '\(layers[current].schema.layer)' holds a \(type.name), which GPX cannot. "
          + "Try: export points and lines")
    }
  }

  /// Runs `body` on the geometry; `nil` without one.
  private func checked<R>(
    _ row: borrowing some FeatureRow & ~Copyable,
    _ body: (RawSpan) throws(GeometryError) -> R
  ) throws(FieldpackError) -> R? {
    do throws(GeometryError) {
      return try row.withGeometry(body)
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(row.id): \(error)", underlying: error)
    }
  }

  /// The geometry's positions in `form`.
  private func visited(
    _ row: borrowing some FeatureRow & ~Copyable, _ form: GPXPathVisitor.Form
  ) throws(FieldpackError) -> GPXPathVisitor {
    var visitor = GPXPathVisitor(form)
    _ = try checked(row) { span throws(GeometryError) in try WKB.visit(span, with: &visitor) }
    if let problem = visitor.problem { throw FieldpackError(.invalidData, problem) }
    return visitor
  }

  private mutating func writeWaypoints(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    let points = try visited(row, .points).points
    if points.isEmpty { layers[current].withoutGeometry += 1 }
    for point in points {
      GPXPathVisitor.appendStart("wpt", point.x, point.y, to: &output.buffer)
      layers[current].points.append(row, z: point.z, m: point.m, to: &output.buffer)
      output.buffer.append(contentsOf: "</wpt>\n".utf8)
    }
  }

  private mutating func writePathPoint(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard let point = try visited(row, .points).points.first else {
      layers[current].withoutGeometry += 1
      return
    }
    let start = spool.end
    let group: Int
    switch layers[current].role {
    case .trackPoints: group = groupIndex(isTrack: true)
    default: group = groupIndex(isTrack: false)
    }
    let element = groups[group].isTrack ? "trkpt" : "rtept"
    GPXPathVisitor.appendStart(element, point.x, point.y, to: &spool.buffer)
    layers[current].points.append(row, z: point.z, m: point.m, to: &spool.buffer)
    spool.buffer.append(contentsOf: "</\(element)>\n".utf8)
    let place = layers[current].place(of: row)
    groups[group].addPoint(
      path: place.path, segment: place.segment, number: place.number, spool.extent(from: start))
  }

  private mutating func writePath(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    var isTrack = true
    if case .routes = layers[current].role { isTrack = false }
    let body = try visited(row, isTrack ? .track : .route).bytes
    if case .features = layers[current].role, body.isEmpty {
      layers[current].withoutGeometry += 1
      return
    }
    let headStart = spool.end
    layers[current].paths.append(row, to: &spool.buffer)
    let head = spool.extent(from: headStart)
    let bodyStart = spool.end
    spool.buffer.append(contentsOf: body)
    groups[groupIndex(isTrack: isTrack)].addPath(
      id: row.id, head: head, body: spool.extent(from: bodyStart))
  }

  /// The group of the current layer's paths, made if need be.
  private mutating func groupIndex(isTrack: Bool) -> Int {
    var hasPointLayer = true
    if case .features = layers[current].role { hasPointLayer = false }
    let key = GroupKey(
      isTrack: isTrack, hasPointLayer: hasPointLayer, family: layers[current].family)
    if let known = groupIndex[key] { return known }
    groups.append(GPXPathGroup(isTrack: isTrack))
    groupIndex[key] = groups.count - 1
    return groups.count - 1
  }
}
