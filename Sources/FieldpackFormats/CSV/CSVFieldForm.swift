import FieldpackCore
import FieldpackGeometry

/// How the numbers and dates of a file look, where they do not look as usual.
struct CSVFieldForm {
  var hasDecimalComma = false
  var dateForm: CSVDateForm?
  /// The text of the last field in the usual form.
  private(set) var usual: [UInt8] = []

  /// Whether there is nothing to do: fields then need not come here.
  var isUsual: Bool { !hasDecimalComma && dateForm == nil }

  /// What a field is; ``usual`` then is its text in the usual form.
  mutating func infer(_ bytes: UnsafeBufferPointer<UInt8>) -> InferredValue {
    usual.removeAll(keepingCapacity: true)
    if let dateForm, dateForm.append(bytes, to: &usual) {
      let value = inferred()
      switch value {
      case .date, .dateTime: return value
      default: usual.removeAll(keepingCapacity: true)
      }
    }
    usual.append(contentsOf: bytes)
    guard hasDecimalComma else { return inferred() }
    guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
      let value = inferred()
      // A point stands between thousands, or in a version: only a person knows.
      if case .real = value, bytes.contains(UInt8(ascii: ".")) { return .text }
      return value
    }
    guard !bytes.contains(UInt8(ascii: ".")) else { return .text }
    usual[comma] = UInt8(ascii: ".")
    let value = inferred()
    if case .real = value { return value }
    return .text
  }

  private func inferred() -> InferredValue {
    usual.withUnsafeBufferPointer { InferredValue(inferring: $0) }
  }

  /// A coordinate; `nil` where it is no number.
  mutating func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    guard hasDecimalComma else { return NumberParser.double(bytes) }
    guard !bytes.contains(UInt8(ascii: ".")) else { return nil }
    usual.removeAll(keepingCapacity: true)
    usual.append(contentsOf: bytes)
    if let comma = usual.firstIndex(of: UInt8(ascii: ",")) { usual[comma] = UInt8(ascii: ".") }
    return usual.withUnsafeBufferPointer { NumberParser.double($0) }
  }
}
