import FieldpackCore

/// How a CSV file is written: as its options say, and else as its beginning tells for certain.
struct CSVDialect {
  private(set) var delimiter = CSVReader.delimiters[0]
  /// `nil` for UTF-8.
  private(set) var encoding: String?
  private(set) var fields = CSVFieldForm()
  private(set) var notes: [Note] = []
  private let options: CSVOptions
  /// Whether the first line tells the delimiter, as Excel reads it: `sep=;`.
  private var hasDelimiterLine = false

  /// How many rows are looked at.
  private static let rowLimit = 1000

  init(of input: ByteInput, _ options: CSVOptions) throws(FieldpackError) {
    self.options = options
    if let dateFormat = options.dateFormat { fields.dateForm = try CSVDateForm(dateFormat) }
    fields.hasDecimalComma = options.decimalSign == .comma
    let head = try input.head(min(input.size, CSVReader.headLength))
    findEncoding(head, isWhole: head.count == input.size)
    if let given = options.delimiter {
      delimiter = given
    } else if let stated = Self.statedDelimiter(head) {
      delimiter = stated
      hasDelimiterLine = true
    } else {
      delimiter = try likeliestDelimiter(input)
    }
  }

  /// A scanner that stands before the header.
  func scanner(_ input: ByteInput) throws(FieldpackError) -> CSVScanner {
    var scanner = try CSVScanner(input, delimiter: delimiter, encoding: encoding)
    if hasDelimiterLine { _ = try scanner.nextRecord() }
    return scanner
  }

  // MARK: Encoding

  private mutating func findEncoding(_ head: [UInt8], isWhole: Bool) {
    if let given = options.encoding {
      encoding = ["utf-8", "utf8"].contains(given.lowercased()) ? nil : given
      return
    }
    switch TextEncoding(of: head, isWhole: isWhole) {
    // What is not UTF-8 shows in the row that has it.
    case .utf8, .unknown: return
    case .utf16(let isBigEndian): encoding = isBigEndian ? "UTF-16BE" : "UTF-16LE"
    case .windows1252: encoding = "windows-1252"
    }
    if let encoding {
      notes.append(Note("the file was read as \(encoding)", advice: .nameEncoding))
    }
  }

  // MARK: Delimiter

  private static func statedDelimiter(_ head: [UInt8]) -> UInt8? {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let start = head.starts(with: mark) ? mark.count : 0
    let line = head[start...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return line.count == 5 && line.starts(with: "sep=".utf8) ? line.last : nil
  }

  /// The delimiter that cuts most of the first rows like the header, then into most fields. A
  /// delimiter that leaves quotes inside unquoted names of the header is taken only where no other
  /// one cuts the header: writers put quotes around a name that holds a delimiter.
  private func likeliestDelimiter(_ input: ByteInput) throws(FieldpackError) -> UInt8 {
    var (best, bestRank) = (delimiter, (0, 0.0, 1))
    for delimiter in CSVReader.delimiters {
      var scanner = try CSVScanner(input, delimiter: delimiter, encoding: encoding)
      guard try scanner.nextRecord() else { break }
      let fields = scanner.fields.count
      guard fields > 1 else { continue }
      let headerRank = scanner.hasInnerQuote ? 0 : 1
      var (rows, equal) = (1, 1)
      while rows < 20, try scanner.nextRecord() {
        rows += 1
        if scanner.fields.count == fields { equal += 1 }
      }
      let rank = (headerRank, Double(equal) / Double(rows), fields)
      if rank > bestRank { (best, bestRank) = (delimiter, rank) }
    }
    return best
  }

  // MARK: The first rows

  /// Looks through the first rows: at decimal commas where nothing says the sign, and at another
  /// delimiter where there is but one column.
  ///
  /// - Returns: the first row.
  mutating func sniff(
    _ input: ByteInput, header: [String]
  ) throws(FieldpackError) -> [String] {
    var scanner = try scanner(input)
    var decimals = DecimalSigns()
    var others = header.count == 1 ? OtherDelimiters(header[0], delimiter) : nil
    var sample: [String] = []
    var rows = 0
    _ = try scanner.nextRecord()
    let limit = seeksDecimals || others != nil ? Self.rowLimit : 1
    while rows < limit, scanner.bytesRead <= CSVReader.headLength, try scanner.nextRecord() {
      if rows == 0 { sample = scanner.texts }
      rows += 1
      others?.narrow(by: scanner.text)
      if seeksDecimals { decimals.look(at: scanner) }
    }
    if rows > 0, let other = others?.likeliest {
      notes.append(
        Note(
          "each row was read as one column, and '\(other)' stands in all",
          advice: .nameDelimiter(other)))
      return sample
    }
    if seeksDecimals, let example = decimals.comma {
      fields.hasDecimalComma = true
      notes.append(
        Note(
          "numbers such as '\(example)' were read with a decimal comma",
          advice: .nameDecimalSign(".")))
    }
    return sample
  }

  private var seeksDecimals: Bool {
    options.decimalSign == nil && delimiter != UInt8(ascii: ",")
  }
}

/// The signs that stand before the decimals of numbers.
private struct DecimalSigns {
  private var hasPoint = false
  private var example: String?

  /// A number with a comma that cannot stand between thousands, where no number has a point.
  var comma: String? { hasPoint ? nil : example }

  mutating func look(at scanner: CSVScanner) {
    guard !hasPoint else { return }
    for field in scanner.fields.indices {
      let range = scanner.trimmedRange(field)
      guard range.count > 2, let sign = Self.sign(scanner.text[range]) else { continue }
      if sign.byte == UInt8(ascii: ".") {
        hasPoint = true
        return
      }
      if example == nil, !sign.mayPartThousands {
        example = String(decoding: scanner.text[range], as: UTF8.self)
      }
    }
  }

  /// The one sign between the digits of a number.
  private static func sign(
    _ text: ArraySlice<UInt8>
  ) -> (byte: UInt8, mayPartThousands: Bool)? {
    let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
    let whole = digits.prefix { $0 &- UInt8(ascii: "0") <= 9 }
    let rest = digits.dropFirst(whole.count)
    guard !whole.isEmpty, let sign = rest.first,
      sign == UInt8(ascii: ",") || sign == UInt8(ascii: "."), rest.count > 1,
      rest.dropFirst().allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 })
    else { return nil }
    let isGroup = rest.count == 4 && whole.count <= 3 && whole.first != UInt8(ascii: "0")
    return (sign, isGroup)
  }
}

/// Signs that may be the delimiter of a file that was read as one column.
private struct OtherDelimiters {
  /// How often each stands in every row so far.
  private var counts: [UInt8: Int] = [:]

  init(_ header: String, _ delimiter: UInt8) {
    for byte in CSVReader.delimiters + ":^~".utf8 where byte != delimiter {
      let count = header.utf8.count { $0 == byte }
      if count > (CSVReader.delimiters.contains(byte) ? 0 : 1) { counts[byte] = count }
    }
  }

  mutating func narrow(by row: [UInt8]) {
    counts = counts.filter { byte, count in row.count { $0 == byte } == count }
  }

  var likeliest: String? {
    counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
      .map { $0.key == UInt8(ascii: "\t") ? "tab" : String(Unicode.Scalar($0.key)) }
  }
}
