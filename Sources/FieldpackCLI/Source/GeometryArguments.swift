import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// What is done to geometries on the way out.
enum GeometryArguments {
  enum DimensionNames: String, CaseIterable, Sendable {
    case xy = "XY"
    case xyz = "XYZ"
    case xym = "XYM"
    case xyzm = "XYZM"

    var dimensions: Dimensions {
      Dimensions(hasZ: self == .xyz || self == .xyzm, hasM: self == .xym || self == .xyzm)
    }
  }

  static let makeValid = Option<Bool>.flag(
    "make-valid", help: "Mend geometries that are not valid.")
  static let clip = Option<Envelope?>.value(
    "clip", .box,
    help: "Cut geometries to this box, in degrees, and leave out what lies outside.")
  static let clipSRS = Option<SRS?>.value(
    "clip-srs", .srs, help: "The SRS of the box to cut to, where it is not longitude and latitude.")
  static let simplify = Option<Double?>.value(
    "simplify", .number("metres", atLeast: 0),
    help: "Leave out positions no farther than so many metres from the simpler geometry.")
  static let dimensions = Option<DimensionNames?>.value(
    "dim", .choice("dimensions"), help: "Drop, or add as 0, the ordinates z and m.")
  static let promote = Option<Bool>.flag(
    "promote-to-multi", help: "Make single geometries collections, such as MULTIPOLYGON.")

  static let group = OptionGroup(
    "Geometry options, in the order in which they are done",
    [makeValid, clip, clipSRS, simplify, dimensions, promote])

  static func operations(
    _ arguments: ParsedArguments
  ) throws(FieldpackError) -> GeometryOperations {
    var operations = GeometryOperations()
    operations.makesValid = arguments[makeValid]
    operations.tolerance = arguments[simplify]
    operations.dimensions = arguments[dimensions]?.dimensions
    operations.promotesToMulti = arguments[promote]
    if let box = arguments[clip] {
      operations.clip = .init(box, srs: arguments[clipSRS] ?? .wgs84)
    } else if arguments.contains(clipSRS) {
      throw FieldpackError(
        .invalidArgument, "--clip-srs says more about a --clip, which is missing")
    }
    return operations
  }
}
