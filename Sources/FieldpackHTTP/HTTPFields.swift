import FieldpackCore

/// The header fields of a request or a response, in order.
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// One line of a header.
  public struct Field: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public var fields: [Field]

  public init(_ fields: [Field] = []) { self.fields = fields }

  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0.0, $0.1) }
  }

  /// The first value of that name, in upper or lower case. Setting it replaces all values of the
  /// name.
  public subscript(name: String) -> String? {
    get { fields.first { Self.isSame($0.name, name) }?.value }
    set {
      fields.removeAll { Self.isSame($0.name, name) }
      if let newValue { fields.append(Field(name, newValue)) }
    }
  }

  /// Whether two names differ at most in the case of ASCII letters, of which names of fields are made.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    func small(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
    return a.utf8.count == b.utf8.count
      && a.utf8.elementsEqual(b.utf8) { small($0) == small($1) }
  }

  /// All values of that name, in order.
  public func values(of name: String) -> [String] {
    fields.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  /// Leaves out all but the fields that say what is asked for, whatever the names of others mean.
  mutating func keepWhatIsNoSecret() {
    let kept: Set = [
      "accept", "accept-encoding", "accept-language", "range", "if-range", "if-match",
      "if-none-match", "if-modified-since", "if-unmodified-since",
    ]
    fields.removeAll { !kept.contains($0.name.lowercased()) }
  }
}

extension HTTPFields.Field {
  /// Whether it can stand in a request without becoming more than one line.
  var isSound: Bool {
    HTTPSyntax.isToken(name)
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
  }
}

/// The signs of HTTP messages (RFC 9110).
enum HTTPSyntax {
  /// Whether a name of a method or field has only the signs that such names have.
  static func isToken(_ text: String) -> Bool {
    let marks = Array("!#$%&'*+-.^_`|~".utf8)
    return !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: marks.contains(byte)
        }
      }
  }

  /// A line of a header without its end as a field; `nil` where it is none.
  static func field(_ line: some StringProtocol) -> HTTPFields.Field? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let name = String(line[..<colon])
    guard isToken(name) else { return nil }
    return HTTPFields.Field(name, line[line.index(after: colon)...].trimmedOfSpace)
  }

  /// The first parameter of that name of a field's value, such as `form-data; name="a"`, without its
  /// quotes.
  static func parameter(_ name: String, of value: String) -> String? {
    let bytes = Array(value.utf8)
    var offset = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
    while offset < bytes.count {
      let start = offset + 1
      offset =
        bytes[start...].firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
        ?? bytes.count
      guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else { continue }
      let found = String(decoding: bytes[start..<offset], as: UTF8.self).trimmedOfSpace
      offset += 1
      let text = parameterValue(bytes, &offset)
      if found.lowercased() == name { return text }
    }
    return nil
  }

  /// - Parameter offset: where it begins; comes to stand at the semicolon after it, or at the end.
  private static func parameterValue(_ bytes: [UInt8], _ offset: inout Int) -> String {
    func end(_ start: Int) -> Int {
      bytes[start...].firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
    }
    let start = offset
    offset = bytes[start...].firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else {
      offset = end(start)
      return String(decoding: bytes[start..<offset], as: UTF8.self).trimmedOfSpace
    }
    offset += 1
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
      // Some programs write the backslashes of a path as they are: only these two stand for another.
      let isEscape =
        bytes[offset] == UInt8(ascii: "\\") && offset + 1 < bytes.count
        && [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(bytes[offset + 1])
      if isEscape { offset += 1 }
      text.append(bytes[offset])
      offset += 1
    }
    offset = end(min(offset, bytes.count))
    return String(decoding: text, as: UTF8.self)
  }

  /// A number of nothing but digits.
  static func number(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}
