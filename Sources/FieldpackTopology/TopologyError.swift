/// Why a relation, measure or operation on geometries has no result.
public struct TopologyError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Bytes that are not well-known binary, or a geometry that GEOS cannot represent, such as an
    /// open ring.
    case invalidGeometry
    /// A coordinate that is infinite, or NaN in only one of x and y.
    case notFinite
    /// An invalid argument, such as a NaN distance or a DE-9IM pattern of 8 characters.
    case invalidArgument
    /// GEOS failed; the message is GEOS's own.
    case failed
    /// GEOS cannot be used.
    case unavailable
  }

  public let kind: Kind
  /// What happened, in words for users.
  public let message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
