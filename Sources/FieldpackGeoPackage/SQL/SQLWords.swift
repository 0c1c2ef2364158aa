/// The identifiers that a piece of SQL mentions; what stands in texts and comments is left out.
struct SQLWords {
  private(set) var names: Set<SQLName> = []

  init(_ sql: String) {
    var rest = Array(sql.utf8)[...]
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "'"): _ = Self.takeQuoted(&rest, until: byte)
      case UInt8(ascii: "\""), UInt8(ascii: "`"): add(Self.takeQuoted(&rest, until: byte))
      case UInt8(ascii: "["): add(Self.takeQuoted(&rest, until: UInt8(ascii: "]")))
      case UInt8(ascii: "-") where rest.starts(with: "--".utf8): rest = rest.drop { $0 != 10 }
      case UInt8(ascii: "/") where rest.starts(with: "/*".utf8): Self.dropComment(&rest)
      case _ where Self.isNameByte(byte):
        let word = rest.prefix(while: Self.isNameByte)
        rest = rest.dropFirst(word.count)
        add(Array(word))
      default: rest.removeFirst()
      }
    }
  }

  func contains(_ name: String) -> Bool { names.contains(SQLName(name)) }

  private mutating func add(_ bytes: [UInt8]) {
    names.insert(SQLName(String(decoding: bytes, as: UTF8.self)))
  }

  /// What is between the quotes; a doubled quote stands for one.
  private static func takeQuoted(_ rest: inout ArraySlice<UInt8>, until end: UInt8) -> [UInt8] {
    rest.removeFirst()
    var taken: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == end {
        guard rest.first == end, end != UInt8(ascii: "]") else { break }
        rest.removeFirst()
      }
      taken.append(byte)
    }
    return taken
  }

  private static func dropComment(_ rest: inout ArraySlice<UInt8>) {
    rest = rest.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
    rest = rest.dropFirst(2)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
      true
    default: false
    }
  }
}
