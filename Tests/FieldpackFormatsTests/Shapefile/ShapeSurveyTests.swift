import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

struct ShapeSurveyTests {
  private static let square: [(Double, Double)] = [(0, 0), (0, 1), (1, 1), (1, 0), (0, 0)]
  private static let count = 10_000

  /// A set with so many shapes that two threads look at them.
  private static func bytes(_ special: [Int: [UInt8]] = [:]) -> ShapefileBytes {
    var bytes = ShapefileBytes()
    bytes.kind = 5
    bytes.shapes = Array(repeating: ShapefileBytes.parts(5, [square]), count: count)
    for (index, shape) in special { bytes.shapes[index] = shape }
    return bytes
  }

  private static func assumed(
    _ bytes: ShapefileBytes, _ options: ReadOptions = ReadOptions(layer: "test")
  ) throws -> String? {
    let folder = try TemporaryFolder()
    try bytes.write(to: folder)
    var reader = ShapefileReader(
      try ByteInput(path: folder.file("test.shp").path, name: "test.shp"), options: options,
      identify: { _ in (nil, nil) })
    return try reader.assume().first?.schema.geometry?.type.name
  }

  private static let twoParts = ShapefileBytes.parts(
    5, [square, square.map { ($0.0 + 5, $0.1) }])

  @Test(arguments: [0, 4_999, 5_000, 9_999])
  func `one shape of two parts makes another layer wherever it lies`(index: Int) throws {
    #expect(try Self.assumed(Self.bytes()) == "POLYGON")
    #expect(try Self.assumed(Self.bytes([index: Self.twoParts])) == "MULTIPOLYGON")
  }

  @Test(arguments: [1_000, 9_000]) func `a broken shape is named in both halves`(index: Int) throws
  {
    let broken = ShapefileBytes.little(Int32(99))
    let bytes = Self.bytes([index: broken, 9_500: Self.twoParts])
    let error = try #require(throws: FieldpackError.self) { _ = try Self.assumed(bytes) }
    #expect(
      error.description
        == "test.shp, feature \(index + 1): the shape has type 99, which there is not")
    var options = ReadOptions(layer: "test")
    options.skipsErrors = true
    #expect(try Self.assumed(bytes, options) == "MULTIPOLYGON")
  }

  @Test func `a survey that is stopped ends`() throws {
    var options = ReadOptions(layer: "test")
    options.progress = { (_) throws(FieldpackError) in
      throw FieldpackError(.interrupted, "interrupted")
    }
    let error = try #require(throws: FieldpackError.self) {
      _ = try Self.assumed(Self.bytes(), options)
    }
    #expect(error.code == .interrupted)
  }
}
