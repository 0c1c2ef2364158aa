import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// What is done to geometries on the way out.
struct GeometryArguments: OptionGroup {
  static let title: String? = "Geometry options, in the order in which they are done"

  enum DimensionNames: String, CaseIterable, Sendable {
    case xy = "XY"
    case xyz = "XYZ"
    case xym = "XYM"
    case xyzm = "XYZM"

    var dimensions: Dimensions {
      Dimensions(hasZ: self == .xyz || self == .xyzm, hasM: self == .xym || self == .xyzm)
    }
  }

  private let makesValid: Bool
  private let clip: ClipArea?
  private let clipSRS: SRS?
  private let buffer: Double?
  private let isMitred: Bool
  private let segments: Int?
  private let tolerance: Double?
  private let dimensions: DimensionNames?
  private let promotes: Bool

  init(_ reader: inout OptionReader) {
    makesValid = reader.flag("make-valid", help: "Repair geometries that are not valid.")
    clip = reader.value(
      "clip", .clipArea,
      help: "Cut geometries to this box (w,s,e,n), this polygon (WKT), both in degrees, or the "
        + "polygons of this file, FILE:LAYER of several layers, in any SRS; leave out what lies "
        + "outside.")
    clipSRS = reader.value(
      "clip-srs", .srs,
      help: "The SRS of the box or WKT to cut to, where it is not longitude and latitude.")
    buffer = reader.value(
      "buffer", .number("metres"),
      help: "Replace geometries by the area within so many metres of them: on the ellipsoid in "
        + "longitude and latitude, in the plane in a projected SRS. Less than 0 shrinks polygons.")
    isMitred = reader.flag("buffer-mitre", help: "Point the corners of buffers, do not round them.")
    segments = reader.value(
      "buffer-segments", .integer("n", in: 1...1_000), shownDefault: "8",
      help: "The segments of a quarter circle in buffers.")
    tolerance = reader.value(
      "simplify", .number("metres", atLeast: 0),
      help: "Simplify geometries; none moves by more than so many metres.")
    dimensions = reader.value(
      "dim", .choice("dimensions"),
      help: "The ordinates to write; z and m that are missing become 0.")
    promotes = reader.flag(
      "promote-to-multi", help: "Make single geometries collections, such as MULTIPOLYGON.")
  }

  /// - Parameter invocation: opens the file whose polygons cut geometries.
  func operations(
    _ invocation: Invocation
  ) async throws(FieldpackError) -> GeometryOperations {
    var operations = GeometryOperations()
    operations.makesValid = makesValid
    operations.tolerance = tolerance
    operations.dimensions = dimensions?.dimensions
    operations.promotesToMulti = promotes
    if let clip {
      operations.clip = try await invocation.clip(clip, srs: clipSRS)
    } else if clipSRS != nil {
      throw FieldpackError(
        .invalidArgument, "--clip-srs says more about a --clip, which is missing")
    }
    if let buffer {
      operations.buffer = .init(
        metres: buffer, quadrantSegments: segments ?? 8, isMitred: isMitred)
    } else if isMitred || segments != nil {
      throw FieldpackError(
        .invalidArgument,
        "--buffer-mitre and --buffer-segments say more about a --buffer, which is missing")
    }
    return operations
  }
}
