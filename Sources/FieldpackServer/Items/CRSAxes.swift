import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// Remembers whether the authority of a reference system has latitude or northing first, because PROJ
/// takes milliseconds for the answer.
final class CRSAxes: Sendable {
  /// A system, and the system that the positions of a layer are stored in.
  private struct Pair: Hashable {
    var name: CRSName
    var storage: SRS?
  }

  private static let mostKept = 1_000
  private let known = Locked<[Pair: Bool]>([:])

  /// - Throws: `.invalidArgument` for a system that PROJ does not know, or cannot transform the
  ///   positions of the layer to.
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
