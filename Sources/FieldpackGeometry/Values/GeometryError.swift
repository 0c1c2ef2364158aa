/// Why bytes or text are not the geometry they should be.
///
/// Errors of one kind mean one thing whatever the format: `truncated` is a WKB cut short as well
/// as a GeoPackage blob of three bytes.
public struct GeometryError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The bytes end before the geometry does; also a count that the bytes left cannot hold.
    case truncated
    /// A byte order that is neither 0 (big-endian) nor 1 (little-endian).
    case unknownByteOrder
    /// A geometry type that is no type of Simple Features, or an abstract one.
    case unknownType
    /// A member that its parent cannot hold, such as a LINESTRING in a MULTIPOINT.
    case wrongMember
    /// A member or position whose dimensions differ from its parent's.
    case mixedDimensions
    /// More than ``WKB/maximumDepth`` levels of nesting.
    case tooDeep
    /// Something follows the geometry.
    case trailingBytes
    /// A GeoPackage blob that does not begin with `GP`.
    case notGeoPackageBinary
    /// A GeoPackage blob of a version other than 0.
    case unknownVersion
    /// An envelope code of 5, 6 or 7 in a GeoPackage blob.
    case unknownEnvelopeCode
    /// A GeoPackage blob in an extended encoding, whose body is not WKB.
    case extendedBinary
    /// Text that is not WKT.
    case syntax
  }

  public let kind: Kind
  /// Where, in bytes from the start of the input.
  public let offset: Int
  /// What was found and what was expected, without the place.
  public let message: String

  public init(_ kind: Kind, at offset: Int, _ message: String) {
    self.kind = kind
    self.offset = offset
    self.message = message
  }

  public var description: String {
    kind == .syntax ? "\(message) at column \(offset + 1)" : "\(message) at byte \(offset)"
  }
}
