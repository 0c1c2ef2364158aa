public import FieldpackCore
import FieldpackGeometry

extension TimedPath {
  /// What a store's layers of captures are called.
  enum CaptureLayer {
    static let capture: LayerID = "capture"
    static let point: LayerID = "capture_point"
    static let track: LayerID = "capture_track"
  }

  /// Reads the paths of captures, with a leg for each.
  ///
  /// The points of `capture_point` tell the seconds since their capture began; with
  /// `created_at_unix` of `capture` these become moments.
  /// - Parameter tokens: the captures' tokens; empty for all captures.
  /// - Throws: `.notFound` for a token that is not there; `.invalidArgument` where the store has no
  ///   captures.
  public init(
    capturesOf store: any Store, tokens: [String] = []
  ) async throws(FieldpackError) {
    let layers = try await store.schemas().map(\.layer)
    guard layers.contains(CaptureLayer.capture), layers.contains(CaptureLayer.point) else {
      throw FieldpackError(
        .invalidArgument, "store '\(store.id)' has no captures. Try: a layer with times",
        location: .init(store: store.id))
    }
    let starts = try await Self.starts(in: store, tokens)
    var legs: [Int64: [Point]] = [:]
    let points = Query(layers: [CaptureLayer.point]).select(["capture_fid", "t_s"])
      .in(stores: [store.id])
    for try await point in try await store.query(points).features {
      guard let capture = point[Column<Int64>("capture_fid")], let start = starts[capture],
        let seconds = point[Column<Double>("t_s")], case .point(let position?, _)? = point.geometry
      else { continue }
      legs[capture, default: []].append(Point(time: start + seconds, position: position))
    }
    self.init(legs: Array(legs.values))
    guard !self.legs.isEmpty else {
      throw FieldpackError(
        .invalidArgument, "the captures of store '\(store.id)' have no points",
        location: .init(store: store.id, layer: CaptureLayer.point))
    }
  }

  /// When captures began, in seconds since 1970, by their feature ids.
  private static func starts(
    in store: any Store, _ tokens: [String]
  ) async throws(FieldpackError) -> [Int64: Double] {
    var starts: [Int64: Double] = [:]
    var left = Set(tokens)
    let query = Query(layers: [CaptureLayer.capture]).select(["token", "created_at_unix"])
      .in(stores: [store.id]).withoutGeometry()
    for try await capture in try await store.query(query).features {
      guard case .integer(let id)? = capture.id,
        let token = capture[Column<String>("token")],
        let start = capture[Column<Double>("created_at_unix")]
      else { continue }
      guard tokens.isEmpty || tokens.contains(token) else { continue }
      left.remove(token)
      starts[id] = start
    }
    if let missing = left.min() {
      throw FieldpackError(
        .notFound, "there is no capture '\(missing)' in store '\(store.id)'",
        location: .init(store: store.id, layer: CaptureLayer.capture))
    }
    return starts
  }
}
