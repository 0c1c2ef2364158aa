import FieldpackCore
import FieldpackGeometry

/// What is known of a GPX document while its events come: where the parser is, and the rows of its
/// five layers.
struct GPXDocument: ~Copyable {
  /// Where the parser is.
  private enum State: UInt8 {
    case document, gpx, point, position, path, segment, link, leaf, extensions, captured, skipped
    /// In `metadata`, in an element of it, and in an element that GPX 1.0 has in its place.
    case metadata, described, header
  }

  /// By the raw value of their kind.
  private var builders: InlineArray<5, GPXLayerBuilder>
  /// Which layers are asked for, likewise.
  private let isWanted: InlineArray<5, Bool>
  private let options: ReadOptions
  private var skipped: SkippedFeatures
  private var segmentExtensions = 0
  /// Track points whose time lies before that of the one before.
  private var timesBackwards = 0

  private var state = State.document
  private var outerStates: [State] = []
  private var tags = GPXTagTable()
  private var text = GrowingBytes()
  private var head = GPXHead()
  private var isInPoint = false
  private var isInPath = false

  private var pathKind = GPXLayerKind.tracks
  private var path = GPXPath()
  private var segmentID = -1
  private var pathPointID = 0

  private var pointKind = GPXLayerKind.waypoints
  /// Tracks and routes that their layers hold already.
  var pathsBefore = (tracks: 0, routes: 0)
  private var ordinals = InlineArray<5, Int>(repeating: 0)
  private var point = (x: 0.0, y: 0.0, z: Double?.none, m: Double?.none)

  private var field: GPXField?
  private var moments = MomentReader()
  private var linkCount = InlineArray<5, Int>(repeating: 0)

  init(options: ReadOptions, builder: (GPXLayerKind) -> GPXLayerBuilder) {
    self.options = options
    skipped = SkippedFeatures(limit: options.skippedLimit)
    builders = InlineArray { builder(GPXLayerKind.allCases[$0]) }
    let wanted = GPXLayerKind.wanted(options.only)
    isWanted = InlineArray { wanted.contains(GPXLayerKind.allCases[$0]) }
    outerStates.reserveCapacity(XMLPushParser.maximumDepth)
  }

  /// Index of the innermost open feature's builder.
  private var current: Int { isInPoint ? pointKind.rawValue : pathKind.rawValue }

  /// Closes what is open where the head of a file ends.
  ///
  /// A point that is cut may lack what all points have, and counts only where there is no other.
  mutating func closeOpenFeatures() {
    let hasOther = isWanted(pointKind) ? builders[pointKind.rawValue].count > 0 : path.count > 0
    if isInPoint, !hasOther { closePoint() }
    if isInPath { closePath() }
  }

  /// Ends the document where it cannot be read any further, and where that is asked for: what was
  /// whole before that stays, and a track or route has the points so far.
  mutating func breakOff(at error: FieldpackError) throws(FieldpackError) {
    let hasPath = isInPath && path.count > 0
    guard error.code == .invalidData, hasPath || !found.isEmpty else { throw error }
    guard options.skipsErrors else { throw error.advisingToSkip() }
    if hasPath { closePath() }
    (isInPoint, isInPath) = (false, false)
    skipped.add(SkippedFeature(breakingOff: error))
  }

  /// The layers with features.
  var found: [FileLayer] {
    var layers: [FileLayer] = []
    for index in builders.indices where isWanted[index] {
      if let layer = builders[index].found { layers.append(layer) }
    }
    return layers
  }

  /// What reading the whole document found.
  var result: FileReadResult {
    var result = FileReadResult(layers: found, skipped: skipped)
    for index in builders.indices where isWanted[index] && builders[index].count > 0 {
      let layer = builders[index].layer
      result.counts[layer] = builders[index].count
      result.notes += builders[index].columns.notes.map { "layer '\(layer)': \($0)" }
    }
    result.gpxMetadata = head.xml
    if head.isTooLong {
      result.notes.append("metadata of more than \(GPXHead.maximumLength >> 20) MiB are not kept")
    }
    if segmentExtensions > 0 { result.notes.append("extensions of track segments are not kept") }
    if timesBackwards > 0 {
      result.notes.append(
        "the time goes back at \(timesBackwards) track points, which are kept")
    }
    return result
  }

  mutating func drain(
    _ announced: inout LayerID?, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    for index in builders.indices { try builders[index].drain(&announced, into: &sink) }
  }

  // MARK: Events

  mutating func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    let inner: State
    switch state {
    case .document: inner = try root(name, parser)
    case .gpx: inner = try feature(tags.tag(of: name), attributes, parser)
    case .point: inner = child(name, attributes, namespaces, pointKind)
    case .position: inner = ordinate(tags.tag(of: name))
    case .path: inner = try pathChild(name, attributes, namespaces, parser)
    case .segment: inner = try segmentChild(tags.tag(of: name), attributes, parser)
    case .link: inner = linkPart(tags.tag(of: name))
    case .extensions, .captured:
      builders[current].startCaptured(name, attributes, namespaces)
      inner = .captured
    case .metadata where tags.tag(of: name) == .bounds: inner = .skipped
    case .metadata, .described:
      head.start(name, attributes, namespaces)
      inner = .described
    case .leaf, .skipped, .header: inner = .skipped
    }
    outerStates.append(state)
    state = inner
  }

  mutating func endElement(_ name: XMLName) {
    switch state {
    case .point, .position: closePoint()
    case .path: closePath()
    case .leaf: closeLeaf()
    case .captured: builders[current].endCaptured(name)
    case .described: head.end(name)
    case .metadata: head.end()
    default: break
    }
    state = outerStates.popLast() ?? .document
  }

  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    switch state {
    case .leaf: text.append(bytes)
    case .extensions, .captured: builders[current].captured(bytes)
    case .described: head.characters(bytes)
    case .header: head.text(bytes)
    default: break
    }
  }

  // MARK: Starts

  private mutating func root(_ name: XMLName, _ parser: XMLPushParser) throws(FieldpackError)
    -> State
  {
    tags.namespace = name.uri
    guard tags.tag(of: name) == .gpx else {
      throw FieldpackError(
        .invalidData, "not a GPX file: its root element is '\(String(cString: name.local))'",
        position: parser.position)
    }
    return .gpx
  }

  private mutating func feature(
    _ tag: GPXTag, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> State {
    switch tag {
    case .wpt where isWanted(.waypoints): return try openPoint(.waypoints, attributes, parser)
    case .rte where isWanted(.routes) || isWanted(.routePoints): return openPath(.routes)
    case .trk where isWanted(.tracks) || isWanted(.trackPoints): return openPath(.tracks)
    case .metadata: return .metadata
    default: return head.begin(tag) ? .header : .skipped
    }
  }

  private func isWanted(_ kind: GPXLayerKind) -> Bool { isWanted[kind.rawValue] }

  private mutating func openPath(_ kind: GPXLayerKind) -> State {
    pathKind = kind
    isInPath = true
    path.reset()
    segmentID = -1
    pathPointID = 0
    linkCount[kind.rawValue] = 0
    return .path
  }

  private mutating func pathChild(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    _ parser: XMLPushParser
  ) throws(FieldpackError) -> State {
    switch tags.tag(of: name) {
    case .rtept where pathKind == .routes:
      return try openPoint(.routePoints, attributes, parser)
    case .wpt: return try strayWaypoint(attributes, parser)
    case .trkseg where pathKind == .tracks:
      segmentID += 1
      pathPointID = 0
      path.beginSegment()
      return .segment
    default: return child(name, attributes, namespaces, pathKind)
    }
  }

  private mutating func segmentChild(
    _ tag: GPXTag, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> State {
    if tag == .trkpt { return try openPoint(.trackPoints, attributes, parser) }
    if tag == .wpt { return try strayWaypoint(attributes, parser) }
    segmentExtensions += 1
    return .skipped
  }

  /// A waypoint in a track or route, where the schema has none, as GDAL reads it.
  private mutating func strayWaypoint(
    _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> State {
    guard isWanted(.waypoints) else { return .skipped }
    return try openPoint(.waypoints, attributes, parser)
  }

  /// A child of a point or path that is no feature itself.
  private mutating func child(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    _ kind: GPXLayerKind
  ) -> State {
    let tag = tags.tag(of: name)
    if let found = GPXField.of(tag, in: kind) {
      field = found
      text.removeAll()
      return .leaf
    }
    if tag == .link {
      openLink(attributes, kind)
      return .link
    }
    if tag == .extensions { return .extensions }
    // GPX 1.0 has foreign elements here, without `extensions` around them.
    builders[kind.rawValue].startCaptured(name, attributes, namespaces)
    return .captured
  }

  /// A child of a point that is only a vertex of its path.
  private mutating func ordinate(_ tag: GPXTag) -> State {
    guard tag == .ele || tag == .time else { return .skipped }
    field = tag == .ele ? .ele : .time
    text.removeAll()
    return .leaf
  }

  private mutating func openLink(_ attributes: XMLAttributes, _ kind: GPXLayerKind) {
    linkCount[kind.rawValue] += 1
    for index in 0..<attributes.count where attributes.name(index)?.local.equals("href") == true {
      if let field = linkField(kind.rawValue, part: 0) {
        builders[kind.rawValue].set(field, text: attributes.value(index))
      }
    }
  }

  private func linkField(_ kind: Int, part: Int) -> GPXField? {
    let count = linkCount[kind]
    return count <= GPXField.maximumLinks ? GPXField.link(count - 1, part: part) : nil
  }

  private mutating func linkPart(_ tag: GPXTag) -> State {
    let part: Int
    switch tag {
    case .text: part = 1
    case .type: part = 2
    default: return .skipped
    }
    guard let found = linkField(current, part: part) else { return .skipped }
    field = found
    text.removeAll()
    return .leaf
  }

  // MARK: Points

  private mutating func openPoint(
    _ kind: GPXLayerKind, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) -> State {
    ordinals[kind.rawValue] += 1
    let (latitude, longitude) = Self.coordinates(attributes)
    guard let y = Self.degrees(latitude, limit: 90), let x = Self.degrees(longitude, limit: 180)
    else {
      try refuse(kind, Self.reason(latitude, longitude, kind), parser)
      return .skipped
    }
    pointKind = kind
    isInPoint = true
    point = (x, y, nil, nil)
    guard isWanted(kind) else { return .position }
    linkCount[kind.rawValue] = 0
    setPath(kind)
    return .point
  }

  var pathsRead: (tracks: Int, routes: Int) {
    (builders[GPXLayerKind.tracks.rawValue].count, builders[GPXLayerKind.routes.rawValue].count)
  }

  private mutating func setPath(_ kind: GPXLayerKind) {
    guard kind != .waypoints else { return }
    let before = pathKind == .tracks ? pathsBefore.tracks : pathsBefore.routes
    let number = before + builders[pathKind.rawValue].count + 1
    let index = kind.rawValue
    if kind == .trackPoints {
      builders[index].set(.trackFID, number)
      builders[index].set(.trackSegmentID, segmentID)
      builders[index].set(.trackSegmentPointID, pathPointID)
    } else {
      builders[index].set(.routeFID, number)
      builders[index].set(.routePointID, pathPointID)
    }
  }

  private mutating func refuse(
    _ kind: GPXLayerKind, _ reason: String, _ parser: XMLPushParser
  ) throws(FieldpackError) {
    var position = parser.position
    position.feature = ordinals[kind.rawValue]
    let location = KeyTuple.Partial(layer: builders[kind.rawValue].layer)
    guard options.skipsErrors else {
      throw FieldpackError(
        .invalidData, reason, advice: .skipErrors, location: location, position: position)
    }
    skipped.add(SkippedFeature(location: location, position: position, reason: reason))
  }

  // MARK: Ends

  private mutating func closePoint() {
    isInPoint = false
    if isWanted(pointKind) {
      builders[pointKind.rawValue].closePoint(x: point.x, y: point.y, z: point.z, m: point.m)
    }
    guard pointKind != .waypoints else { return }
    path.append(x: point.x, y: point.y, z: point.z, m: point.m)
    pathPointID += 1
  }

  private mutating func closePath() {
    isInPath = false
    builders[pathKind.rawValue].closePath(path)
    if pathKind == .tracks { timesBackwards += path.stepsBack }
  }

  private mutating func closeLeaf() {
    guard let field else { return }
    let index = current
    guard isWanted[index] else { return closeOrdinate(field) }
    switch field {
    case .time where isInPoint:
      let time = builders[index].setTime(text.bytes)
      if point.m == nil { point.m = time.map { Double($0.milliseconds) / 1000 } }
    case .ele:
      let elevation = builders[index].setNumber(.ele, text.bytes)
      if point.z == nil { point.z = elevation }
    default: builders[index].set(field, text: text.bytes)
    }
  }
  /// Takes what the vertices of a path need of a point whose layer is not asked for.
  private mutating func closeOrdinate(_ field: GPXField) {
    guard isInPoint else { return }
    let inner = trimmed(text.bytes)
    switch field {
    case .time where point.m == nil:
      point.m = moments.read(inner).map { Double($0.instant.milliseconds) / 1000 }
    case .ele where point.z == nil: point.z = NumberParser.double(inner)
    default: break
    }
  }
}
