import FieldpackCore
import Testing

@testable import FieldpackPostGIS

/// What is written in one go is what each type writes.
@Suite struct PlainFieldsTests {
  private static let types: [BinaryType] = [
    .bool, .int2, .int4, .int8, .float8, .text(), .text(maximumLength: 3), .bytea, .timestamptz,
  ]

  private static let values: [Value] = [
    .null, .integer(0), .integer(1), .integer(2), .integer(-40_000), .integer(.min), .real(0.5),
    .real(-.infinity), .text(""), .text("ab"), .text("abcd"), .text("äöü"), .text("äöüß"),
    .text("eight ch"), .text("more than eight"), .text("a\0b"), .text("12345678\0"),
    .blob([0, 255]),
    .text("2024-02-29T23:59:59Z"), .text("2024-02-29T23:59:59.999Z"), .text("2023-02-29T00:00:00Z"),
    .text("1969-12-31T23:59:59.001Z"), .text("2024-02-29T24:00:00Z"), .text("0000-01-01T00:00:00Z"),
    .text("2024-02-29T23:59:60Z"), .text("2024-02-29 23:59:59Z"), .text("2024-02-29T23:59:59.9Z"),
    .text("2024-02-29T23:59:59.9x9Z"), .text("2024-02-29T23:59:59+01:00"), .text("infinity"),
    .text("2024-02-29"), .text("2024-99-29T23:59:59Z"), .text("9999-12-31T23:59:59.999Z"),
  ]

  private static func append(_ value: Value, to cells: inout RowCells) {
    switch value {
    case .integer(let number): cells.append(integer: number)
    case .real(let number): cells.append(real: number)
    case .text(let text): Array(text.utf8).withUnsafeBytes { cells.append(.text, $0) }
    case .blob(let bytes): bytes.withUnsafeBytes { cells.append(.blob, $0) }
    default: cells.appendNull()
    }
  }

  @Test(arguments: types.indices) func `values are written as their type does`(index: Int) throws {
    let type = Self.types[index]
    let plain = try #require(PlainFields([.int4, type]))
    var handled = 0
    for value in Self.values {
      var cells = RowCells()
      cells.append(integer: 7)
      Self.append(value, to: &cells)
      var written: [UInt8] = [1]
      var expected: [UInt8] = [1, 0, 0, 0, 4, 0, 0, 0, 7]
      if value == .null {
        expected += [255, 255, 255, 255]
      } else {
        let cell = cells.cells[1]
        var field: [UInt8] = []
        let fits = cells.bytes.withUnsafeBytes {
          type.append(cell, UnsafeRawBufferPointer(rebasing: $0[cell.range]), to: &field)
        }
        expected.append(big: Int32(field.count))
        expected += field
        // Whatever does not fit is left to the type, which tells why.
        if !fits { expected = [1] }
      }
      if plain.append(cells, to: &written) {
        handled += 1
        #expect(written == expected, "\(type.name) \(value)")
      } else {
        #expect(written == [1], "\(type.name) \(value)")
      }
    }
    #expect(handled > 1)
  }

  @Test func `other types are not plain`() {
    #expect(PlainFields([.int4, .json]) == nil)
    #expect(PlainFields([.numeric]) == nil)
    #expect(PlainFields([]) != nil)
  }
}
