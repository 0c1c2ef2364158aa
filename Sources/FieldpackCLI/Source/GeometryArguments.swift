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
  private let clip: Envelope?
  private let clipSRS: SRS?
  private let tolerance: Double?
  private let dimensions: DimensionNames?
  private let promotes: Bool

  init(_ reader: inout OptionReader) {
    makesValid = reader.flag("make-valid", help: "Repair geometries that are not valid.")
    clip = reader.value(
      "clip", .box,
      help: "Cut geometries to this box, in degrees, and leave out what lies outside.")
    clipSRS = reader.value(
      "clip-srs", .srs,
      help: "The SRS of the box to cut to, where it is not longitude and latitude.")
    tolerance = reader.value(
      "simplify", .number("metres", atLeast: 0),
      help: "Simplify geometries; none moves by more than so many metres.")
    dimensions = reader.value(
      "dim", .choice("dimensions"),
      help: "The ordinates to write; z and m that are missing become 0.")
    promotes = reader.flag(
      "promote-to-multi", help: "Make single geometries collections, such as MULTIPOLYGON.")
  }

  func operations() throws(FieldpackError) -> GeometryOperations {
    var operations = GeometryOperations()
    operations.makesValid = makesValid
    operations.tolerance = tolerance
    operations.dimensions = dimensions?.dimensions
    operations.promotesToMulti = promotes
    if let clip {
      operations.clip = .init(clip, srs: clipSRS ?? .wgs84)
    } else if clipSRS != nil {
      throw FieldpackError(
        .invalidArgument, "--clip-srs says more about a --clip, which is missing")
    }
    return operations
  }
}
