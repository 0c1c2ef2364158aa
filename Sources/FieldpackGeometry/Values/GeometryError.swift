/// Why bytes or a text are not a valid geometry.
///
/// An error of a kind means the same in every format: `truncated` is a WKB that was cut short as
/// well as a GeoPackage blob of three bytes.
public struct GeometryError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The bytes end before the geometry does, or a count is larger than the bytes left can hold.
    case truncated
    /// A byte order that is neither 0 (big-endian) nor 1 (little-endian).
    case unknownByteOrder
    /// A geometry type that Simple Features does not define, or an abstract one.
    case unknownType
    /// A member that its parent cannot have, such as a LINESTRING in a MULTIPOINT.
    case wrongMember
    /// A member or position with other dimensions than its parent.
    case mixedDimensions
    /// More than ``WKB/maximumDepth`` levels of nesting.
    case tooDeep
    /// Bytes that follow the geometry.
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
  /// The offset of the mistake in bytes from the start of the input.
  public let offset: Int
  /// What was found and what was expected, without the offset.
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
