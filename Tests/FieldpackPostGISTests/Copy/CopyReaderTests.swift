import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackPostGIS

@Suite struct CopyReaderTests {
  /// Two rows of two fields, an integer and a text, with NULL in the second.
  private static let stream = bytes(header + twoRows + "ffff")

  /// The fields of each row in hexadecimal.
  private static func rows(
    _ stream: [UInt8], piece: Int, fieldCount: Int = 2
  ) throws -> [[String?]] {
    var reader = CopyReader(fieldCount: fieldCount)
    var rows: [[String?]] = []
    for start in stride(from: 0, to: stream.count, by: piece) {
      try stream[start..<min(start + piece, stream.count)].withUnsafeBytes {
        try reader.read($0) { (bytes, fields) throws(FieldpackError) in
          rows.append(fields.map { range in range.map { bytes[$0].hex } })
        }
      }
    }
    try reader.finish()
    return rows
  }

  @Test(arguments: [1, 2, 3, 7, 19, 20, 1000])
  func `rows come whole whatever the pieces are`(piece: Int) throws {
    #expect(
      try Self.rows(Self.stream, piece: piece) == [["00000001", "61"], ["00000002", nil]])
  }

  private static let header = "5047434f50590aff0d0a00" + "0000000000000000"
  private static let twoRows = "0002 00000004 00000001 00000001 61 0002 00000004 00000002 ffffffff"

  static let hostile: [(name: String, hex: String)] = [
    ("no signature", "5047434f50590a"),
    ("another signature", "4e4f434f50590aff0d0a00" + "0000000000000000"),
    ("flags", "5047434f50590aff0d0a00" + "00010000" + "00000000"),
    ("a long header", "5047434f50590aff0d0a00" + "00000000" + "7fffffff"),
    ("no end", header + twoRows), ("half a row", header + twoRows.dropLast(6)),
    ("bytes behind the end", header + twoRows + "ffff" + "0002"),
    ("three fields", header + "0003"), ("minus two fields", header + "fffe"),
    ("a negative length", header + "0002 fffffffe"),
    ("a length of 2 GiB", header + "0002 7fffffff 00"),
  ]

  @Test(arguments: hostile)
  func `a hostile stream is a typed error`(name: String, hex: String) {
    let stream = bytes(hex)
    for piece in [1, 4096] {
      let error = #expect(throws: FieldpackError.self) {
        try Self.rows(stream, piece: piece)
      }
      #expect(error?.code == .invalidData)
    }
  }
}
