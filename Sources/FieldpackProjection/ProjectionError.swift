/// Why a reference system, a transformation or an envelope is not available.
public struct ProjectionError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// PROJ's database does not have the code.
    case unknownSRS
    /// GeoPackage's `srs_id` -1 or 0: coordinates in an undefined system.
    case undefinedSRS
    /// A definition that is not WKT, or that would open files.
    case invalidDefinition
    /// No coordinate operation leads from source to target.
    case noOperation
    /// Positions that the operation cannot transform.
    case failedPoints
    /// Bytes that are not well-known binary, or an invalid envelope.
    case invalidGeometry
    /// PROJ or its database cannot be used on this machine.
    case unavailable
  }

  public let kind: Kind
  /// What happened, in words for users, with the next step where there is one.
  public let message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
