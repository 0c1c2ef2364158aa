import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// Tells of reference systems whether their authority has latitude or northing first, and keeps that,
/// because PROJ takes milliseconds to tell it.
final class CRSAxes: Sendable {
  /// A system and that of a layer's positions.
  private struct Pair: Hashable {
    var name: CRSName
    var storage: SRS?
  }

  private static let mostKept = 1_000
  private let known = Locked<[Pair: Bool]>([:])

  /// - Throws: `.invalidArgument` for a system that PROJ does not know, or cannot bring the positions of
  ///   the layer to.
  func isNorthFirst(_ name: CRSName, for layer: ServedLayer) throws(FieldpackError) -> Bool {
    let pair = Pair(name: name, storage: layer.storageCRS?.srs)
    if let isFirst = known.withLock({ $0[pair] }) { return isFirst }
    let isFirst = try name.isNorthFirst(in: SRSCatalogue())
    if let storage = pair.storage, storage != name.srs {
      do throws(ProjectionError) {
        _ = try CoordinateTransformation(from: storage, to: name.srs)
      } catch {
        throw FieldpackError(
          .invalidArgument,
          "PROJ does not bring collection '\(layer.collectionID)' to the system '\(name.uri)'",
          underlying: error)
      }
    }
    known.withLock { known in
      if known.count >= Self.mostKept { known = [:] }
      known[pair] = isFirst
    }
    return isFirst
  }
}
