import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation

/// The files of a shapefile byte by byte, so that a test can make what no writer makes.
struct ShapefileBytes {
  struct Field {
    var name: String
    var type: Character
    var width: Int
    var decimals = 0
  }

  var kind: Int32 = 1
  /// The contents of the records.
  var shapes: [[UInt8]] = []
  var fields: [Field] = []
  /// The rows without their first byte.
  var rows: [String] = []
  var deleted: Set<Int> = []
  var driver: UInt8 = 0
  /// The extensions and bytes of other files, or of those made here in their place; `nil` is none.
  var files: [String: [UInt8]?] = [:]

  // MARK: Contents

  static func point(_ x: Double, _ y: Double) -> [UInt8] { little(Int32(1)) + little(x, y) }

  /// A shape with parts of x and y, and of z and m behind them where they are given.
  static func parts(
    _ kind: Int32, _ parts: [[(Double, Double)]], z: [Double] = [], m: [Double] = [],
    types: [Int32] = []
  ) -> [UInt8] {
    let points = parts.flatMap(\.self)
    var starts: [Int32] = []
    var next: Int32 = 0
    for part in parts {
      starts.append(next)
      next += Int32(part.count)
    }
    var bytes = little(kind) + little(0, 0, 0, 0) + little(Int32(parts.count))
    bytes += little(Int32(points.count))
    for start in starts + types { bytes += little(start) }
    for point in points { bytes += little(point.0, point.1) }
    for ordinates in [z, m] where !ordinates.isEmpty {
      bytes += little(0, 0)
      for ordinate in ordinates { bytes += little(ordinate) }
    }
    return bytes
  }

  static func little(_ numbers: Double...) -> [UInt8] {
    numbers.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
  }

  static func little<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }

  static func big<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian, Array.init)
  }

  // MARK: Files

  private func head(_ length: Int) -> [UInt8] {
    Self.big(Int32(9994)) + [UInt8](repeating: 0, count: 20) + Self.big(Int32(length / 2))
      + Self.little(Int32(1000)) + Self.little(kind) + [UInt8](repeating: 0, count: 64)
  }

  var shp: [UInt8] {
    var body: [UInt8] = []
    for (index, shape) in shapes.enumerated() {
      body += Self.big(Int32(index + 1)) + Self.big(Int32(shape.count / 2)) + shape
    }
    return head(100 + body.count) + body
  }

  var shx: [UInt8] {
    var (body, offset): ([UInt8], Int) = ([], 100)
    for shape in shapes {
      body += Self.big(Int32(offset / 2)) + Self.big(Int32(shape.count / 2))
      offset += 8 + shape.count
    }
    return head(100 + body.count) + body
  }

  var dbf: [UInt8] {
    let count = rows.isEmpty ? shapes.count : rows.count
    let width = fields.reduce(1) { $0 + $1.width }
    var bytes: [UInt8] = [3, 124, 1, 1] + Self.little(UInt32(count))
    bytes += Self.little(UInt16(33 + 32 * fields.count)) + Self.little(UInt16(width))
    bytes += [UInt8](repeating: 0, count: 17) + [driver, 0, 0]
    for field in fields {
      let name = Array(field.name.utf8.prefix(10))
      bytes += name + [UInt8](repeating: 0, count: 11 - name.count)
      bytes += [field.type.asciiValue!, 0, 0, 0, 0, UInt8(field.width), UInt8(field.decimals)]
      bytes += [UInt8](repeating: 0, count: 14)
    }
    bytes.append(0x0D)
    for row in 0..<count {
      bytes.append(deleted.contains(row) ? 0x2A : 0x20)
      let text = rows.isEmpty ? "" : rows[row]
      // A character is a byte, as in ISO 8859-1.
      let cells = text.unicodeScalars.map { UInt8($0.value) }.prefix(width - 1)
      bytes += cells + [UInt8](repeating: 0x20, count: width - 1 - cells.count)
    }
    return bytes
  }

  /// Writes the set as `test.shp` and so on.
  func write(to folder: TemporaryFolder) throws {
    var all: [String: [UInt8]?] = ["shp": shp, "shx": shx, "dbf": dbf]
    all.merge(files) { $1 }
    for (suffix, bytes) in all {
      if let bytes { try Data(bytes).write(to: folder.file("test.\(suffix)")) }
    }
  }

  func read(
    _ suffix: String = "shp", _ change: (inout ReadOptions) -> Void = { _ in }
  ) throws -> GPXReading {
    let folder = try TemporaryFolder()
    try write(to: folder)
    return try Self.read(folder.file("test.\(suffix)").path, change)
  }

  static func read(
    _ path: String, _ change: (inout ReadOptions) -> Void = { _ in }
  ) throws -> GPXReading {
    var options = ReadOptions(layer: "test")
    change(&options)
    return try GPXReading(
      ShapefileReader(
        ByteInput(path: path, name: path.split(separator: "/").last.map(String.init)),
        options: options, identify: { (SRS($0), $0) }))
  }

  /// The error that reading ends with.
  func failure(_ change: (inout ReadOptions) -> Void = { _ in }) -> String? {
    do {
      _ = try read("shp", change)
      return nil
    } catch { return "\(error)" }
  }
}
