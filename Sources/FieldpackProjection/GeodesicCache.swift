/// The systems in which geometries were measured, made on first use and kept.
///
/// Belongs to one task or connection, as its systems do.
public final class GeodesicCache {
  private var made: [SRSReference: GeodesicSystem] = [:]

  /// More systems than any query names; beyond it the cache is emptied.
  private static let capacity = 64

  public init() {}

  /// How geometries of a system are measured on the ellipsoid.
  /// - Throws: As ``GeodesicSystem/init(_:)``; failures are not kept.
  public func system(_ reference: SRSReference) throws(ProjectionError) -> GeodesicSystem {
    if let known = made[reference] { return known }
    let new = try GeodesicSystem(reference)
    if made.count >= Self.capacity { made.removeAll() }
    made[reference] = new
    return new
  }
}
