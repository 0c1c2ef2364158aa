import FieldpackCore
import FieldpackGeometry

/// The types of shapes, by their codes in ESRI's "Shapefile Technical Description" (1998), page 4.
enum ShapeKind: Int32 {
  case null = 0
  case point = 1
  case line = 3
  case polygon = 5
  case multiPoint = 8
  case pointZ = 11
  case lineZ = 13
  case polygonZ = 15
  case multiPointZ = 18
  case pointM = 21
  case lineM = 23
  case polygonM = 25
  case multiPointM = 28
  case multiPatch = 31

  var hasZ: Bool {
    switch self {
    case .pointZ, .lineZ, .polygonZ, .multiPointZ, .multiPatch: true
    default: false
    }
  }

  /// Whether shapes of this type have measures, or may have them behind z.
  var mayHaveM: Bool { rawValue > 10 }

  /// The type that a layer without shapes has.
  var geometryType: GeometryType {
    switch self {
    case .null: .geometry
    case .point, .pointZ, .pointM: .point
    case .line, .lineZ, .lineM: .lineString
    case .polygon, .polygonZ, .polygonM: .polygon
    case .multiPoint, .multiPointZ, .multiPointM: .multiPoint
    case .multiPatch: .multiPolygon
    }
  }
}

/// The first 100 bytes of a `.shp` and of a `.shx`.
struct ShapefileHeader {
  static let length = 100
  static let fileCode: Int32 = 9994
  static let version: Int32 = 1000

  let kind: ShapeKind
  /// The length of the file in bytes, as the header says.
  let fileLength: Int

  /// - Throws: `.invalidData` naming the file.
  init(_ input: ByteInput) throws(FieldpackError) {
    let head = try input.head(Self.length)
    let position = FilePosition(file: input.name)
    guard head.count == Self.length else {
      throw FieldpackError(
        .invalidData, "the file has \(head.count) bytes, less than the header of a shapefile",
        position: position)
    }
    let (code, words, shape) = head.withUnsafeBytes {
      ($0.big(0, as: Int32.self), $0.big(24, as: UInt32.self), $0.little(32, as: Int32.self))
    }
    guard code == Self.fileCode else {
      throw FieldpackError(
        .invalidData, "the file does not begin as a shapefile does", position: position)
    }
    guard let kind = ShapeKind(rawValue: shape) else {
      throw FieldpackError(
        .invalidData, "the file has shapes of type \(shape), which there is not",
        position: position)
    }
    self.kind = kind
    fileLength = Int(words) * 2
  }
}
