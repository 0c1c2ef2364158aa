import FieldpackCore
import FieldpackNMEA

/// What an I record adds to every B record: a code and where its value stands.
struct IGCExtension: Hashable, Sendable {
  let code: String
  /// In bytes of the B record, from 0.
  let range: Range<Int>

  /// The extensions of `I083638FXA3941ENL…`: their count, then first and last byte, from 1, and the
  /// code of each.
  static func read(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> [IGCExtension] {
    guard line.count >= 3, let count = NMEASentence.digits(line[1..<3]),
      line.count >= 3 + count * 7
    else { throw FieldpackError(.invalidData, "the I record is cut") }
    var extensions: [IGCExtension] = []
    for index in 0..<count {
      let start = 3 + index * 7
      guard let first = NMEASentence.digits(line[start..<start + 2]),
        let last = NMEASentence.digits(line[start + 2..<start + 4]), first >= 36, last >= first
      else {
        throw FieldpackError(.invalidData, "extension \(index + 1) of the I record has no place")
      }
      let code = String(decoding: line[start + 4..<start + 7], as: UTF8.self)
      extensions.append(IGCExtension(code: code, range: first - 1..<last))
    }
    return extensions
  }

  /// The value in a B record; `nil` where the record is too short for it.
  private func value(_ line: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    guard range.upperBound <= line.count else { return nil }
    let text = trimmed(UnsafeBufferPointer(rebasing: line[range]))
    return text.isEmpty ? nil : text
  }

  /// Digits behind those of the record: `LAD` 7 is 0.7 of a thousandth of a minute.
  static func fraction(
    _ code: String, _ line: UnsafeBufferPointer<UInt8>, _ extensions: [IGCExtension]
  ) -> Double {
    guard let found = extensions.first(where: { $0.code == code }),
      let value = found.value(line), let digits = NMEASentence.digits(value[...])
    else { return 0 }
    return value.reduce(Double(digits)) { scaled, _ in scaled / 10 }
  }

  /// Thousandths of a second that `TDS` adds to the time.
  static func milliseconds(
    _ line: UnsafeBufferPointer<UInt8>, _ extensions: [IGCExtension]
  ) -> Int {
    min(999, Int((fraction("TDS", line, extensions) * 1000).rounded(.down)))
  }

  /// Sets the column of the extension; a number loses its leading zeros.
  func set(
    _ line: UnsafeBufferPointer<UInt8>, in row: inout GPXLayerBuilder,
    _ columns: inout [String: Int]
  ) {
    guard !["LAD", "LOD", "TDS"].contains(code), let text = value(line) else { return }
    let number = NumberParser.integer(text)
    switch (code, number) {
    case ("SIU", let number?): row.set(.sat, Int(number))
    case ("TRT", let number?) where 0...360 ~= number: row.set(.course, real: Double(number % 360))
    default:
      let column = columns[code] ?? row.extra(code.lowercased())
      columns[code] = column
      if let number {
        row.set(extra: column, .integer(number))
      } else {
        row.set(extra: column, text: text)
      }
    }
  }
}
