/// Transformations by source and target, made on first use and kept.
///
/// Belongs to one task or connection, as its transformations do. Making a transformation takes
/// about a millisecond, finding one takes almost no time.
public final class TransformationCache {
  private struct Key: Hashable {
    let source: SRSReference
    let target: SRSReference
  }

  private var made: [Key: CoordinateTransformation] = [:]

  /// More pairs than any query names; beyond it the cache is emptied.
  private static let capacity = 64

  public init() {}

  /// The transformation from `source` to `target`.
  /// - Throws: As ``CoordinateTransformation/init(from:to:areaOfInterest:)-(SRSReference,_,_)``;
  ///   failures are not kept.
  public func transformation(
    from source: SRSReference, to target: SRSReference
  ) throws(ProjectionError) -> CoordinateTransformation {
    let key = Key(source: source, target: target)
    if let found = made[key] { return found }
    let new = try CoordinateTransformation(from: source, to: target)
    if made.count >= Self.capacity { made.removeAll() }
    made[key] = new
    return new
  }
}
