import FieldpackCore

/// The columns and rows of a `.dbf`, as its header describes them.
struct DBFHeader {
  /// A column as the file declares it.
  struct Field {
    var name: String
    var kind: Kind
    /// Where the value lies in the row.
    var bytes: Range<Int>
  }

  /// How a value is written.
  enum Kind {
    /// Digits; an integer where no decimals are declared.
    case number(hasDecimals: Bool)
    case logical
    /// `YYYYMMDD`.
    case date
    case text
    /// Binary values of Visual FoxPro: 32 bits, 64 bits of a real, days and milliseconds.
    case integer32
    case real64
    case moment
  }

  let rowCount: Int
  let headerLength: Int
  let rowLength: Int
  private(set) var fields: [Field] = []
  private(set) var encoding: DBFEncoding
  /// The columns whose texts are in another file.
  private(set) var memos: [String] = []

  /// - Parameter codePage: the text of the `.cpg`.
  /// - Throws: `.invalidData` naming the file.
  init(_ input: ByteInput, codePage: String?) throws(FieldpackError) {
    let head = try input.head(32)
    guard head.count == 32 else { throw Self.broken("the table ends in its header", input) }
    (rowCount, headerLength, rowLength) = head.withUnsafeBytes {
      (
        Int($0.little(4, as: UInt32.self)), Int($0.little(8, as: UInt16.self)),
        Int($0.little(10, as: UInt16.self))
      )
    }
    encoding = DBFEncoding(codePage: codePage, driver: head[29])
    guard headerLength >= 33, headerLength <= input.size, rowLength >= 1 else {
      throw Self.broken("the file does not begin as a table of dBase does", input)
    }
    let isFoxPro = [0x30, 0x31, 0x32].contains(head[0])
    let bytes = try input.head(headerLength)
    var end = 1
    for start in stride(from: 32, through: headerLength - 32, by: 32) {
      guard bytes[start] != 0x0D else { break }
      let width = Int(bytes[start + 16])
      guard end + width <= rowLength else {
        throw Self.broken(
          "the columns are wider than the rows, which have \(rowLength) bytes", input)
      }
      let name = Self.name(bytes[start..<start + 11], &encoding)
      let letter = bytes[start + 11]
      if [UInt8(ascii: "M"), UInt8(ascii: "G"), UInt8(ascii: "P")].contains(letter) {
        memos.append(name)
      }
      fields.append(
        Field(
          name: name,
          kind: Self.kind(letter, width: width, decimals: bytes[start + 17], isFoxPro: isFoxPro),
          bytes: end..<end + width))
      end += width
    }
  }

  private static func broken(_ message: String, _ input: ByteInput) -> FieldpackError {
    FieldpackError(.invalidData, message, position: FilePosition(file: input.name))
  }

  private static func name(_ bytes: ArraySlice<UInt8>, _ encoding: inout DBFEncoding) -> String {
    let own = Array(bytes.prefix { $0 != 0 })
    let end = own.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
    return own[..<end].withUnsafeBufferPointer { encoding.string($0) }
  }

  /// Letters that are not known hold text, as GDAL has it.
  private static func kind(
    _ letter: UInt8, width: Int, decimals: UInt8, isFoxPro: Bool
  ) -> Kind {
    switch (Character(Unicode.Scalar(letter)), width) {
    case ("N", _), ("F", _): .number(hasDecimals: decimals > 0)
    case ("L", 1...): .logical
    case ("D", 8): .date
    case ("I", 4) where isFoxPro: .integer32
    case ("B", 8) where isFoxPro: .real64
    case ("T", 8) where isFoxPro: .moment
    default: .text
    }
  }

  /// The rows that the file has.
  func rowsPresent(_ input: ByteInput) -> Int { (input.size - headerLength) / rowLength }
}
