import FieldpackCore
import FieldpackGeometry

/// What a pass over a GeoJSON file has found, columns and ids aside.
struct GeoJSONFacts {
  /// Features given.
  var count = 0
  /// GeoJSON objects at the top of the file.
  var documents = 0
  /// Objects without a type at the top of the file.
  var typeless = 0
  var typelessOffset: Int?
  /// Commas between documents.
  var commas = 0
  var hasIDMembers = false
  /// Features without an `id` have a property `fid`.
  var hasPropertyIDs = false
  var hasMetadata = false
  var emptyArrays = 0
  /// The first feature that lost a part of its geometry with too few positions.
  var firstShortPart: Int?
  var skipped: SkippedFeatures
  private var typeBits: UInt32 = 0
  private var geometryCount = 0
  private var withZ = 0

  init(_ options: ReadOptions) { skipped = SkippedFeatures(limit: options.skippedLimit) }

  mutating func note(_ type: GeometryType, hasZ: Bool) {
    typeBits |= 1 << type.rawValue
    geometryCount += 1
    if hasZ { withZ += 1 }
  }

  /// The single type, the Multi type where it and its members both occur, else GEOMETRY.
  var geometryType: GeometryType {
    for type in GeometryType.allCases where type != .geometry {
      let own: UInt32 = 1 << type.rawValue
      if typeBits == own { return type }
      if let multi = type.multi, typeBits == own | 1 << multi.rawValue { return multi }
    }
    return .geometry
  }

  var z: OrdinateRule {
    if withZ == 0 { return .prohibited }
    return withZ == geometryCount ? .mandatory : .optional
  }
}
