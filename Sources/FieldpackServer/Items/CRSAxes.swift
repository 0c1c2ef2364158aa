import FieldpackCore
import FieldpackProjection

/// Tells of reference systems whether their authority has latitude or northing first, and keeps that,
/// because PROJ takes milliseconds to tell it.
final class CRSAxes: Sendable {
  private let known = Locked<[CRSName: Bool]>([:])

  /// - Throws: `.invalidArgument` for a system that PROJ does not know.
  func isNorthFirst(_ name: CRSName) throws(FieldpackError) -> Bool {
    if let isFirst = known.withLock({ $0[name] }) { return isFirst }
    let isFirst = try name.isNorthFirst(in: SRSCatalogue())
    known.withLock { $0[name] = isFirst }
    return isFirst
  }
}
