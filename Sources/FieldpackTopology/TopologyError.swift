/// Why a relation, a measure or an operation on geometries has no answer.
public struct TopologyError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Bytes that are no well-known binary, or a geometry GEOS cannot hold, such as an open ring.
    case invalidGeometry
    /// A coordinate that is infinite, or NaN in one of x and y.
    case notFinite
    /// An argument without sense, such as a NaN distance or a DE-9IM pattern of 8 characters.
    case invalidArgument
    /// GEOS gave up; the message is its own.
    case failed
    /// GEOS cannot be used.
    case unavailable
  }

  public let kind: Kind
  /// What happened, in the user's words.
  public let message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
