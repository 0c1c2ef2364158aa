import FieldpackCore
import FieldpackGeometry

/// The rows of a log of positions in the layers and columns that GPX files have.
struct TrackLog: ~Copyable {
  /// A position, with height and Unix seconds where they are known.
  struct Vertex {
    var x: Double
    var y: Double
    var z: Double?
    var time: Instant?
  }

  /// By the raw value of their kind.
  private var builders: InlineArray<5, GPXLayerBuilder>
  private let isWanted: InlineArray<5, Bool>
  private let options: ReadOptions
  private let file: String
  private var skipped: SkippedFeatures
  private var path = GPXPath()
  private var segmentID = -1
  private var segmentPointID = 0
  private(set) var isInTrack = false
  private var timesBackwards = 0
  var notes: [Note] = []
  /// Tracks that their layer holds already.
  var tracksBefore = 0

  init(file: String, options: ReadOptions, builder: (GPXLayerKind) -> GPXLayerBuilder) {
    self.file = file
    self.options = options
    skipped = SkippedFeatures(limit: options.skippedLimit)
    builders = InlineArray { builder(GPXLayerKind.allCases[$0]) }
    let wanted = GPXLayerKind.wanted(options.only)
    isWanted = InlineArray { wanted.contains(GPXLayerKind.allCases[$0]) }
  }

  /// Passes over what cannot be read, where that is asked for.
  ///
  /// - Parameter line: of the file, from 1.
  mutating func refuse(_ error: FieldpackError, line: Int) throws(FieldpackError) {
    let position = FilePosition(file: file, line: line)
    guard options.skipsErrors, error.code == .invalidData else {
      throw error.adding(position: position).advisingToSkip()
    }
    skipped.add(SkippedFeature(error, position: position))
  }

  /// Ends the log where the file cannot be read any further, and where that is asked for.
  mutating func breakOff(at error: FieldpackError) throws(FieldpackError) {
    guard error.code == .invalidData, count > 0 else { throw error }
    guard options.skipsErrors else { throw error.advisingToSkip() }
    skipped.add(SkippedFeature(breakingOff: error))
  }

  // MARK: Tracks

  mutating func beginTrack() {
    isInTrack = true
    path.reset()
    segmentID = -1
    segmentPointID = 0
  }

  mutating func beginSegment() {
    segmentID += 1
    segmentPointID = 0
    path.beginSegment()
  }

  /// Adds a point to the open segment; `fill` sets its attributes but `time` and `ele`.
  mutating func add(_ vertex: Vertex, fill: (inout GPXLayerBuilder) -> Void) {
    let kind = GPXLayerKind.trackPoints.rawValue
    if isWanted[kind] {
      let number = tracksBefore + tracksRead + 1
      builders[kind].set(.trackFID, number)
      builders[kind].set(.trackSegmentID, segmentID)
      builders[kind].set(.trackSegmentPointID, segmentPointID)
      close(vertex, in: kind, fill)
    }
    path.append(x: vertex.x, y: vertex.y, z: vertex.z, m: vertex.time.map(Self.seconds))
    segmentPointID += 1
  }

  /// Adds the track itself; `fill` sets its attributes.
  mutating func endTrack(fill: (inout GPXLayerBuilder) -> Void) {
    guard isInTrack else { return }
    isInTrack = false
    let kind = GPXLayerKind.tracks.rawValue
    fill(&builders[kind])
    builders[kind].closePath(path)
    timesBackwards += path.stepsBack
  }

  mutating func addWaypoint(_ vertex: Vertex, fill: (inout GPXLayerBuilder) -> Void) {
    let kind = GPXLayerKind.waypoints.rawValue
    if isWanted[kind] { close(vertex, in: kind, fill) }
  }

  private mutating func close(
    _ vertex: Vertex, in kind: Int, _ fill: (inout GPXLayerBuilder) -> Void
  ) {
    if let elevation = vertex.z { builders[kind].set(.ele, real: elevation) }
    if let time = vertex.time { builders[kind].set(.time, time: time) }
    fill(&builders[kind])
    builders[kind].closePoint(
      x: vertex.x, y: vertex.y, z: vertex.z, m: vertex.time.map(Self.seconds))
  }

  private static func seconds(_ time: Instant) -> Double { Double(time.milliseconds) / 1000 }

  // MARK: Results

  var tracksRead: Int { builders[GPXLayerKind.tracks.rawValue].count }

  /// Features so far, those of layers that are not asked included.
  var count: Int { path.count + tracksRead + builders[GPXLayerKind.waypoints.rawValue].count }

  var found: [FileLayer] {
    var layers: [FileLayer] = []
    for index in builders.indices where isWanted[index] {
      if let layer = builders[index].found { layers.append(layer) }
    }
    return layers
  }

  var result: FileReadResult {
    var result = FileReadResult(layers: found, skipped: skipped)
    for index in builders.indices where isWanted[index] && builders[index].count > 0 {
      result.counts[builders[index].layer] = builders[index].count
      let layer = builders[index].layer
      result.notes += builders[index].columns.notes.map { "layer '\(layer)': \($0)" }
    }
    result.notes += notes
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
}
