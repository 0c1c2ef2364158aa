public import FieldpackCore

extension MotionRequest {
  /// Reads a body: strictly, and no more than its limits.
  ///
  /// Members that the protocol does not know are passed over.
  /// - Throws: `.invalidData` for what is no JSON, no UTF-8 or no body of the protocol, with where
  ///   in it.
  public init(body: [UInt8]) throws(FieldpackError) {
    guard body.count <= Self.maximumLength else {
      throw FieldpackError(
        .invalidData,
        "the body has \(body.count) bytes, and \(Self.maximumLength) are the most that is read")
    }
    try self.init(node: try Self.document(body))
  }

  init(node: JSONValue) throws(FieldpackError) {
    self = try Self.request(MotionMember(node))
  }

  static func document(_ body: [UInt8]) throws(FieldpackError) -> JSONValue {
    guard String(validating: body, as: UTF8.self) != nil else {
      throw FieldpackError(.invalidData, "the body is not UTF-8")
    }
    let read = body.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONMistake) in try JSONValueReader.read(bytes, maximumDepth: 8) }
    }
    do throws(JSONMistake) { return try read.get() } catch {
      throw FieldpackError(
        .invalidData, "the body is not JSON: byte \(error.offset): \(error.message)")
    }
  }

  private static func request(_ root: MotionMember) throws(FieldpackError) -> MotionRequest {
    switch try root["type"].text() {
    case "start": .start(try Start(root))
    case "data": .data(try Data(root))
    case let other: throw root["type"].mistake("is '\(other.prefix(40))', not 'start' or 'data'")
    }
  }
}

extension MotionRequest.Start {
  fileprivate init(_ root: MotionMember) throws(FieldpackError) {
    timestamp = try root["timestamp"].timestamp()
    let member = root["device"]
    let identifier = try member["identifierForVendor"].text()
    device = MotionDevice(
      systemName: try member["systemName"].text(),
      systemVersion: try member["systemVersion"].text(), name: try member["name"].text(),
      identifierForVendor: identifier.isEmpty ? nil : identifier,
      model: try member["model"].text(), localizedModel: try member["localizedModel"].text())
  }
}

extension MotionRequest.Data {
  fileprivate init(_ root: MotionMember) throws(FieldpackError) {
    session = try root["uuid"].text()
    timestamp = try root["timestamp"].timestamp()
    sections = []
    readings = []
    for section in MotionSection.allCases {
      let member = root[section.rawValue]
      guard member.node != nil else { continue }
      let isFirst = sections.isEmpty
      sections.insert(MotionSections(section))
      var lists: [[Double]] = []
      for channel in section.channels {
        let array = member[channel.member]
        let list = try array.numbers(atMost: MotionRequest.maximumReadings)
        if isFirst, lists.isEmpty {
          readings = [MotionReading](repeating: MotionReading(), count: list.count)
        }
        guard list.count == readings.count else {
          throw array.mistake("has \(list.count) numbers where \(readings.count) are expected")
        }
        lists.append(list)
      }
      for index in readings.indices {
        readings[index].set(section, lists[0][index], lists[1][index], lists[2][index])
      }
    }
  }
}

/// A node of a body, with the way to it.
private struct MotionMember {
  let node: JSONValue?
  let path: String

  init(_ node: JSONValue?, path: String = "the body") {
    self.node = node
    self.path = path
  }

  subscript(name: String) -> MotionMember {
    MotionMember(node?[name], path: path == "the body" ? name : "\(path).\(name)")
  }

  func mistake(_ message: String) -> FieldpackError {
    FieldpackError(.invalidData, "\(path) \(message)")
  }

  private func missing(_ what: String) -> FieldpackError {
    guard let node else { return mistake("is missing: \(what) is expected") }
    return mistake("is \(node.kind) where \(what) is expected")
  }

  func text() throws(FieldpackError) -> String {
    guard case .text(let text)? = node else { throw missing("a text") }
    guard text.utf8.count <= MotionRequest.maximumTextLength else {
      throw mistake(
        "has \(text.utf8.count) bytes, and \(MotionRequest.maximumTextLength) are the most")
    }
    return text
  }

  /// A number, or a text that is one, as the protocol writes it.
  func timestamp() throws(FieldpackError) -> Double {
    var value = node?.number
    if case .text(let text)? = node {
      let decimal = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
      value = decimal && text.utf8.count <= 40 ? Double(text) : nil
    }
    guard let value else { throw missing("seconds since 1970 as a text") }
    guard MotionRequest.timestamps.contains(value) else {
      throw mistake("is no moment of the years 1970 to 9999")
    }
    return value
  }

  func numbers(atMost limit: Int) throws(FieldpackError) -> [Double] {
    guard case .array(let nodes)? = node else { throw missing("an array of numbers") }
    guard nodes.count <= limit else {
      throw mistake("has \(nodes.count) numbers, and \(limit) are the most")
    }
    var numbers: [Double] = []
    numbers.reserveCapacity(nodes.count)
    for (index, node) in nodes.enumerated() {
      guard let number = node.number else {
        throw mistake("has \(node.kind) at place \(index + 1) where a number is expected")
      }
      guard number.isFinite else {
        throw mistake("has a number out of range at place \(index + 1)")
      }
      numbers.append(number)
    }
    return numbers
  }
}
