public import FieldpackCore
import FieldpackGeometry

/// Writes layers as one GPX document that is valid against the GPX 1.1 schema.
///
/// - Points are `wpt`, lines `trk` with a `trkseg` for each line, and `rte` in a layer `routes`;
///   elevations are Z and times M in Unix seconds.
/// - A layer with columns `track_fid` and `track_seg_id`, or `route_fid`, holds the points of the
///   layer `tracks` or `routes` beside it: each track is written once, with the fields of its row
///   and these points. A line of its row that is EMPTY is a `trkseg` without points.
/// - Columns with the name of an element, whatever their case, are that element where the schema
///   allows the value; others are in `extensions`, in the namespace `https://fieldpack.dev/gpx/1`.
///   The XML of a column `extensions` is written back, edited columns in the place of its leaves.
/// - Coordinates are taken as WGS 84, times are written in UTC. Control characters become U+FFFD.
///
/// GPX wants waypoints, then routes, then tracks: paths that have to wait do so in a temporary file,
/// not in memory.
/// Polygons and collections are `.unsupported`, positions not on Earth `.invalidData`.
public struct GPXWriter: FeatureSink {
  static let namespace = "http://www.topografix.com/GPX/1/1"

  static func isGPX(_ uri: String?) -> Bool {
    uri == namespace || uri == "http://www.topografix.com/GPX/1/0"
  }

  public struct Options: Sendable {
    /// Whether features that cannot be written are skipped and reported, instead of throwing.
    public var skipsErrors = false
    public var dialect = GPXDialect.gpx11
    /// The element `metadata` of the file.
    package var metadata: String?

    public init() {}
  }

  private struct GroupKey: Hashable {
    var isTrack: Bool
    /// Apart from layers that are no family but have the family's name.
    var hasPointLayer: Bool
    var family: String
  }

  private let output: ByteOutput
  package let options: Options
  private let spool = GPXSpool()
  private var encoding: GPXEncoder
  /// Layers with features without a geometry, and how many.
  private var withoutGeometry: [LayerID: Int] = [:]
  private var groups: [GPXPathGroup] = []
  private var groupIndex: [GroupKey: Int] = [:]
  private var hasHeader = false
  /// Where the tracks begin that are written already.
  private var tracksStart: Int?
  private var holdsBack = false
  /// In PhotoPath's dialect the layer whose points come.
  private var photoPath: PhotoPathPoints?
  /// Features passed over that encoders told of.
  private var passedOver: [SkippedFeature] = []

  /// - Parameter output: gets the text. The caller finishes the output after ``finish()``.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    self.options = options
    encoding = GPXEncoder(skipsErrors: options.skipsErrors)
  }

  /// The features that were skipped.
  public var skipped: [SkippedFeature] {
    encoding.skipped.isEmpty ? passedOver : passedOver + encoding.skipped
  }

  /// Notes on what GPX has no place for.
  public var notes: [String] {
    encoding.layers.compactMap { layer in
      let count = withoutGeometry[layer.schema.layer, default: 0] + layer.withoutGeometry
      guard count > 0 else { return nil }
      return "layer '\(layer.schema.layer)': \(count) features without geometry are left out"
    }
  }

  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    writeHeader()
    try encoding.begin(schema)
    if options.dialect == .photoPath { photoPath = try PhotoPathPoints(schema) }
  }

  public mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    if let photoPath { return try write(row, photoPath) }
    try encoding.feature(row)
    if encoding.isFull { try takeEncoded() }
  }

  private mutating func write(
    _ row: borrowing some FeatureRow & ~Copyable, _ points: PhotoPathPoints
  ) throws(FieldpackError) {
    do throws(FieldpackError) {
      if try !points.append(row, to: &output.buffer), let layer = encoding.layer {
        withoutGeometry[layer, default: 0] += 1
      }
    } catch {
      guard options.skipsErrors else { throw error }
      passedOver.append(SkippedFeature(error))
    }
    try output.flushIfFull()
  }

  /// Completes the document.
  public mutating func finish() throws(FieldpackError) {
    try takeEncoded()
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
    guard options.dialect == .gpx11 else {
      output.buffer.append(contentsOf: PhotoPathPoints.head.utf8)
      return
    }
    output.buffer.append(
      contentsOf: """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Fieldpack" xmlns="\(Self.namespace)" \
        xmlns:fieldpack="\(GPXExtensionCapture.namespace)">

        """.utf8)
    if let metadata = options.metadata { output.buffer.append(contentsOf: "\(metadata)\n".utf8) }
  }
}

extension GPXWriter: FeatureTextWriter {
  package func encoder() -> GPXEncoder {
    var fresh = encoding
    fresh.removeAll()
    return fresh
  }

  package mutating func take(from encoder: inout GPXEncoder) throws(FieldpackError) {
    defer { encoder.removeAll() }
    passedOver += encoder.skipped
    for layer in encoder.layers where layer.withoutGeometry > 0 {
      withoutGeometry[layer.schema.layer, default: 0] += layer.withoutGeometry
    }
    if !encoder.points.isEmpty, tracksStart != nil { try holdBack() }
    try output.write(encoder.points)
    var failure: FieldpackError?
    encoder.paths.withUnsafeBytes { paths in
      do throws(FieldpackError) {
        try write(encoder.parts, of: encoder.layers, paths)
      } catch { failure = error }
    }
    if let failure = failure ?? encoder.failure { throw failure }
  }

  private mutating func write(
    _ parts: [GPXEncoder.Part], of layers: [GPXWriteLayer], _ paths: UnsafeRawBufferPointer
  ) throws(FieldpackError) {
    var offset = 0
    for part in parts {
      let bytes = UnsafeRawBufferPointer(rebasing: paths[offset..<offset + part.length])
      offset += part.length
      let group = groupIndex(of: layers[part.layer])
      if !groups[group].isTrack { try holdBack() }
      if goesAtOnce(part, group) {
        if tracksStart == nil { tracksStart = output.position }
        try output.write(bytes)
      } else {
        let start = spool.end
        try spool.write(bytes)
        add(part, to: group, at: start)
      }
    }
  }

  /// Tracks need not wait while they are the first group and nothing that has to stand before them
  /// has come.
  private func goesAtOnce(_ part: GPXEncoder.Part, _ group: Int) -> Bool {
    guard case .whole = part.kind, group == 0, groups[0].isTrack else { return false }
    return !holdsBack && output.canTakeBack
  }

  /// Lets tracks wait from here on, those written included.
  private mutating func holdBack() throws(FieldpackError) {
    holdsBack = true
    guard let start = tracksStart else { return }
    tracksStart = nil
    let waiting = GPXSpool.Extent(offset: spool.end, length: output.position - start)
    try output.takeBack(from: start) { (bytes) throws(FieldpackError) in try spool.write(bytes) }
    groups[0].addFirst(whole: waiting)
  }

  private mutating func takeEncoded() throws(FieldpackError) {
    // Taken out, so that its buffers are not shared while they are emptied.
    var taken = GPXEncoder(skipsErrors: options.skipsErrors)
    swap(&taken, &encoding)
    defer { swap(&taken, &encoding) }
    try take(from: &taken)
  }

  private mutating func add(_ part: GPXEncoder.Part, to group: Int, at offset: Int) {
    let extent = GPXSpool.Extent(offset: offset, length: part.length)
    switch part.kind {
    case .whole: groups[group].addWhole(extent)
    case .path(let id, let head, let emptySegments):
      let body = GPXSpool.Extent(offset: offset + head, length: part.length - head)
      groups[group].addPath(
        id: id, head: .init(offset: offset, length: head), body: body,
        emptySegments: emptySegments)
    case .point(let path, let segment, let number):
      groups[group].addPoint(path: path, segment: segment, number: number, extent)
    }
  }

  /// The group of a layer's paths, made if need be.
  private mutating func groupIndex(of layer: GPXWriteLayer) -> Int {
    var hasPointLayer = true
    if case .features = layer.role { hasPointLayer = false }
    let key = GroupKey(
      isTrack: layer.isTrack, hasPointLayer: hasPointLayer, family: layer.family)
    if let known = groupIndex[key] { return known }
    groups.append(GPXPathGroup(isTrack: layer.isTrack))
    groupIndex[key] = groups.count - 1
    return groups.count - 1
  }
}
