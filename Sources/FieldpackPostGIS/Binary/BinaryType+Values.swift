import FieldpackCore

extension BinaryType {
  /// The binary form of a value that is not NULL; `nil` where the type cannot hold it.
  func bytes(of value: Value) -> [UInt8]? {
    var bytes: [UInt8] = []
    let isWritten: Bool
    switch value {
    case .null: return nil
    case .boolean(let flag): isWritten = append(.integer, flag ? 1 : 0, to: &bytes)
    case .integer(let number):
      isWritten = append(.integer, UInt64(bitPattern: number), to: &bytes)
    case .real(let number): isWritten = append(.real, number.bitPattern, to: &bytes)
    case .text(let text): isWritten = append(.text, Array(text.utf8), to: &bytes)
    case .blob(let content): isWritten = append(.blob, content, to: &bytes)
    case .date(let day): isWritten = append(.text, Array(day.description.utf8), to: &bytes)
    case .dateTime(let instant):
      isWritten = append(.text, Array(instant.description.utf8), to: &bytes)
    }
    return isWritten ? bytes : nil
  }

  private func append(_ kind: ValueKind, _ bits: UInt64, to bytes: inout [UInt8]) -> Bool {
    append(
      RowCells.Cell(kind, bits: bits), UnsafeRawBufferPointer(start: nil, count: 0), to: &bytes)
  }

  private func append(_ kind: ValueKind, _ content: [UInt8], to bytes: inout [UInt8]) -> Bool {
    content.withUnsafeBytes { append(RowCells.Cell(kind), $0, to: &bytes) }
  }
}
