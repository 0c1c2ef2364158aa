import FieldpackCore
import FieldpackGeometry

/// Turns the events of a GPX document into rows of its five layers.
final class GPXHandler: XMLHandling {
  /// Where the parser is.
  private enum Place: UInt8 {
    case document, gpx, point, path, segment, link, leaf, extensions, captured, skipped
  }

  let builders: [GPXLayerBuilder]
  private let options: ReadOptions
  private(set) var skipped: [SkippedFeature] = []
  private(set) var skippedCount = 0
  private(set) var segmentExtensions = 0
  /// Track points whose time lies before that of the one before.
  private(set) var timesBackwards = 0

  private var places: [Place] = [.document]
  private var tags = GPXTagTable()
  private var text: [UInt8] = []

  private var pathKind = GPXLayerKind.tracks
  private var path = GPXPath()
  private var segmentID = -1
  private var pathPointID = 0

  private var pointKind = GPXLayerKind.waypoints
  /// Tracks and routes that their layers hold already.
  var pathsBefore = (tracks: 0, routes: 0)
  private var ordinals = [Int](repeating: 0, count: GPXLayerKind.allCases.count)
  private var point = (x: 0.0, y: 0.0, z: Double?.none, m: Double?.none)

  private var field: GPXField?
  private var linkCount = [Int](repeating: 0, count: GPXLayerKind.allCases.count)

  init(builders: [GPXLayerBuilder], options: ReadOptions) {
    self.builders = builders
    self.options = options
  }

  /// The builder of the innermost feature that is open.
  private var current: GPXLayerBuilder {
    builders[places.contains(.point) ? pointKind.rawValue : pathKind.rawValue]
  }

  /// Closes what is open, as if the file ended here.
  func closeOpenFeatures() {
    if places.contains(.point) { closePoint() }
    if places.contains(.path) { closePath() }
  }

  // MARK: Events

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    switch places[places.count - 1] {
    case .document: places.append(try root(name, parser))
    case .gpx: places.append(try feature(tags.tag(of: name), attributes, parser))
    case .point: child(name, attributes, namespaces, builders[pointKind.rawValue])
    case .path: try pathChild(name, attributes, namespaces, parser)
    case .segment: places.append(try segmentChild(tags.tag(of: name), attributes, parser))
    case .link: places.append(linkPart(tags.tag(of: name)))
    case .extensions, .captured:
      current.capture.start(name, attributes, namespaces)
      places.append(.captured)
    case .leaf, .skipped: places.append(.skipped)
    }
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
    switch places.removeLast() {
    case .point: closePoint()
    case .path: closePath()
    case .leaf: closeLeaf()
    case .captured: closeCaptured(name)
    default: break
    }
  }

  func characters(
    _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError) {
    switch places[places.count - 1] {
    case .leaf: text.append(contentsOf: bytes)
    case .extensions, .captured: current.capture.characters(bytes)
    default: break
    }
  }

  // MARK: Starts

  private func root(_ name: XMLName, _ parser: XMLPushParser) throws(FieldpackError) -> Place {
    tags.namespace = name.uri
    guard tags.tag(of: name) == .gpx else {
      throw FieldpackError(
        .invalidData, "not a GPX file: its root element is '\(String(cString: name.local))'",
        position: parser.position)
    }
    return .gpx
  }

  private func feature(
    _ tag: GPXTag, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> Place {
    switch tag {
    case .wpt: return try openPoint(.waypoints, attributes, parser)
    case .rte: return openPath(.routes)
    case .trk: return openPath(.tracks)
    default: return .skipped
    }
  }

  private func openPath(_ kind: GPXLayerKind) -> Place {
    pathKind = kind
    path.reset()
    segmentID = -1
    pathPointID = 0
    linkCount[kind.rawValue] = 0
    return .path
  }

  private func pathChild(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    _ parser: XMLPushParser
  ) throws(FieldpackError) {
    switch tags.tag(of: name) {
    case .rtept where pathKind == .routes:
      places.append(try openPoint(.routePoints, attributes, parser))
    case .trkseg where pathKind == .tracks:
      segmentID += 1
      pathPointID = 0
      path.beginSegment()
      places.append(.segment)
    default: child(name, attributes, namespaces, builders[pathKind.rawValue])
    }
  }

  private func segmentChild(
    _ tag: GPXTag, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> Place {
    if tag == .trkpt { return try openPoint(.trackPoints, attributes, parser) }
    segmentExtensions += 1
    return .skipped
  }

  /// A child of a point or path that is no feature itself.
  private func child(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    _ builder: GPXLayerBuilder
  ) {
    let tag = tags.tag(of: name)
    if let found = GPXField.of(tag, in: builder.kind) {
      field = found
      text.removeAll(keepingCapacity: true)
      places.append(.leaf)
    } else if tag == .link {
      openLink(attributes, builder)
      places.append(.link)
    } else if tag == .extensions {
      places.append(.extensions)
    } else {
      // GPX 1.0 has foreign elements here, without `extensions` around them.
      builder.capture.start(name, attributes, namespaces)
      places.append(.captured)
    }
  }

  private func openLink(_ attributes: XMLAttributes, _ builder: GPXLayerBuilder) {
    linkCount[builder.kind.rawValue] += 1
    for index in 0..<attributes.count where attributes.name(index)?.local.equals("href") == true {
      if let field = linkField(builder, part: 0) {
        builder.set(field, text: attributes.value(index))
      }
    }
  }

  private func linkField(_ builder: GPXLayerBuilder, part: Int) -> GPXField? {
    let count = linkCount[builder.kind.rawValue]
    return count <= GPXField.maximumLinks ? GPXField.link(count - 1, part: part) : nil
  }

  private func linkPart(_ tag: GPXTag) -> Place {
    let part: Int
    switch tag {
    case .text: part = 1
    case .type: part = 2
    default: return .skipped
    }
    guard let found = linkField(current, part: part) else { return .skipped }
    field = found
    text.removeAll(keepingCapacity: true)
    return .leaf
  }

  // MARK: Points

  private func openPoint(
    _ kind: GPXLayerKind, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> Place {
    ordinals[kind.rawValue] += 1
    let (latitude, longitude) = Self.coordinates(attributes)
    guard let y = Self.degrees(latitude, limit: 90), let x = Self.degrees(longitude, limit: 180)
    else {
      try refuse(kind, Self.reason(latitude, longitude, kind), parser)
      return .skipped
    }
    pointKind = kind
    point = (x, y, nil, nil)
    linkCount[kind.rawValue] = 0
    setPath(builders[kind.rawValue])
    return .point
  }

  private func setPath(_ builder: GPXLayerBuilder) {
    let before = pathKind == .tracks ? pathsBefore.tracks : pathsBefore.routes
    let number = before + builders[pathKind.rawValue].count + 1
    switch builder.kind {
    case .trackPoints:
      builder.set(.trackFID, number)
      builder.set(.trackSegmentID, segmentID)
      builder.set(.trackSegmentPointID, pathPointID)
    case .routePoints:
      builder.set(.routeFID, number)
      builder.set(.routePointID, pathPointID)
    default: break
    }
  }

  private static func coordinates(
    _ attributes: XMLAttributes
  ) -> (latitude: UnsafeBufferPointer<UInt8>?, longitude: UnsafeBufferPointer<UInt8>?) {
    var latitude: UnsafeBufferPointer<UInt8>?
    var longitude: UnsafeBufferPointer<UInt8>?
    for index in 0..<attributes.count {
      guard let name = attributes.name(index)?.local else { continue }
      if name.equals("lat") { latitude = attributes.value(index) }
      if name.equals("lon") { longitude = attributes.value(index) }
    }
    return (latitude, longitude)
  }

  private static func degrees(_ text: UnsafeBufferPointer<UInt8>?, limit: Double) -> Double? {
    guard let text, let value = NumberParser.double(trimmed(text)), abs(value) <= limit else {
      return nil
    }
    return value
  }

  private static func reason(
    _ latitude: UnsafeBufferPointer<UInt8>?, _ longitude: UnsafeBufferPointer<UInt8>?,
    _ kind: GPXLayerKind
  ) -> String {
    let isLatitudeBad = degrees(latitude, limit: 90) == nil
    let (name, text, limit) = isLatitudeBad ? ("lat", latitude, 90) : ("lon", longitude, 180)
    guard let text else { return "\(kind.element) has no \(name)" }
    let shown = String(decoding: text.prefix(40), as: UTF8.self)
    return "\(name) '\(shown)' of \(kind.element) is not a number from -\(limit) to \(limit)"
  }

  private func refuse(
    _ kind: GPXLayerKind, _ reason: String, _ parser: XMLPushParser
  ) throws(FieldpackError) {
    var position = parser.position
    position.feature = ordinals[kind.rawValue]
    let place = KeyTuple.Partial(layer: builders[kind.rawValue].layer)
    guard options.skipsErrors else {
      throw FieldpackError(.invalidData, reason, location: place, position: position)
    }
    skippedCount += 1
    if skipped.count < options.skippedLimit {
      skipped.append(SkippedFeature(location: place, position: position, reason: reason))
    }
  }

  // MARK: Ends

  private func closePoint() {
    builders[pointKind.rawValue].closePoint(x: point.x, y: point.y, z: point.z, m: point.m)
    guard pointKind != .waypoints else { return }
    path.append(x: point.x, y: point.y, z: point.z, m: point.m)
    pathPointID += 1
  }

  private func closePath() {
    builders[pathKind.rawValue].closePath(path)
    if pathKind == .tracks { timesBackwards += path.stepsBack }
  }

  private func closeLeaf() {
    guard let field else { return }
    let builder = current
    text.withUnsafeBufferPointer { bytes in
      switch field {
      case .time where builder.kind.isPoint:
        let time = builder.setTime(bytes)
        if point.m == nil { point.m = time.map { Double($0.milliseconds) / 1000 } }
      case .ele:
        builder.set(field, text: bytes)
        if point.z == nil { point.z = NumberParser.double(trimmed(bytes)) }
      default: builder.set(field, text: bytes)
      }
    }
  }

  private func closeCaptured(_ name: XMLName) {
    let builder = current
    guard builder.capture.end(name),
      let column = builder.capture.column(
        of: name, make: { builder.extensionColumn($0, isOwn: $1) })
    else { return }
    builder.capture.leaf.withUnsafeBufferPointer { builder.set(column, $0) }
  }
}
