import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// What devices send to a served file: motion, captures and positions.
struct DeviceIntake: Sendable {
  let motion: MotionGroups
  let uploads: ResumableUploads
  let fixes: FixIntake

  init(of store: GeoPackageStore, _ positions: PositionOptions, logger: Logger) {
    motion = MotionGroups(MotionReceiver(store))
    uploads = ResumableUploads(beside: store.path)
    fixes = FixIntake(of: store, positions, logger: logger)
  }
}

extension ServerRouter {
  /// - Throws: `.notFound` where a database is served.
  var devices: DeviceIntake {
    get throws(FieldpackError) {
      guard let intake else {
        throw FieldpackError(.notFound, "a database takes nothing of devices")
      }
      return intake
    }
  }

  /// The answer to a request for what only a file has; `nil` for all others, and where a file is served.
  func refusalByDatabase(_ request: ServerRequest) -> ServerResponse? {
    guard intake == nil, let first = request.path.first else { return nil }
    let isOfFiles = ["upload", "uploads", "captures", "motion", "fixes", "sensors"].contains(first)
    guard isOfFiles || isOfViewer(request) else { return nil }
    return problem(
      ProblemDocument(
        404,
        "This server serves a database. Captures, motion, positions and what sensors measure are taken "
          + "and given where a GeoPackage is served."), request)
  }
}
