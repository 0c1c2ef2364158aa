import CPROJ

@testable import FieldpackProjection

/// An operation that a PROJ string describes; positions are in degrees where it takes angles.
///
/// Such a string can open files, so the library itself takes none.
final class PROJPipeline {
  private let context: ProjectionContext
  private let object: ProjectionObject
  private let direction: PJ_DIRECTION

  /// - Throws: ``ProjectionError/Kind/noOperation`` with PROJ's reason.
  init(_ text: String, isInverse: Bool) throws(ProjectionError) {
    context = try ProjectionContext()
    guard let made = proj_create(context.handle, text) else {
      throw ProjectionError(.noOperation, context.takeMessage() ?? "no reason given")
    }
    object = ProjectionObject(made)
    context.silence()
    direction = isInverse ? PJ_INV : PJ_FWD
  }

  var givesAngles: Bool {
    proj_angular_output(object.handle, direction) != 0
      || proj_degree_output(object.handle, direction) != 0
  }

  /// The transformed ordinates of a position; `nil` where that fails.
  func transform(_ ordinates: [Double]) -> [Double]? {
    var (x, y, z) = (ordinates[0], ordinates[1], ordinates.count > 2 ? ordinates[2] : 0)
    let takesRadians = proj_angular_input(object.handle, direction) != 0
    if takesRadians { (x, y) = (x * .pi / 180, y * .pi / 180) }
    var count = 0
    withUnsafeMutablePointer(to: &x) { x in
      withUnsafeMutablePointer(to: &y) { y in
        withUnsafeMutablePointer(to: &z) { z in
          count = proj_trans_generic(
            object.handle, direction, x, 8, 1, y, 8, 1, z, 8, 1, nil, 0, 0)
        }
      }
    }
    guard count == 1, x.isFinite, y.isFinite, z.isFinite else { return nil }
    if proj_angular_output(object.handle, direction) != 0 {
      (x, y) = (x * 180 / .pi, y * 180 / .pi)
    }
    return [x, y, z]
  }
}
