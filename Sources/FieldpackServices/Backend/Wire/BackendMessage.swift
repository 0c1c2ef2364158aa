package import FieldpackCore

/// The protobuf messages that backends speak, by their age.
package enum WireGeneration: Hashable, Sendable, CaseIterable {
  /// `SCMessage`, whose action is a number: until SpatialConnect 0.11.
  case numbered
  /// `Msg`, whose action is a name: since 0.12.
  case named
}

/// A message from or to a backend: an envelope of protobuf around JSON.
package struct BackendMessage: Hashable, Sendable {
  /// How many bytes a message may have that is no config.
  package static let usualLimit = 1 << 20

  /// The number that a reply has in common with its request; `nil` where there is none, which backends
  /// also write as −1.
  package var correlation: Int64?
  /// The topic that a reply goes to.
  package var replyTo: String?
  package var action: BackendAction?
  /// JSON; `nil` where there is none, which some servers write as `"{}"`, in quotes.
  package var payload: String?
  package var token: String?
  /// Only ``WireGeneration/numbered`` carries it.
  package var time: Instant?

  package init(
    correlation: Int64? = nil, replyTo: String? = nil, action: BackendAction? = nil,
    payload: String? = nil, token: String? = nil, time: Instant? = nil
  ) {
    (self.correlation, self.replyTo, self.action) = (correlation, replyTo, action)
    (self.payload, self.token, self.time) = (payload, token, time)
  }
}

// MARK: Writing

extension BackendMessage {
  package func bytes(_ generation: WireGeneration) -> [UInt8] {
    var writer = ProtobufWriter()
    switch generation {
    case .numbered:
      writer.add(1, correlation)
      writer.add(2, replyTo)
      writer.add(3, (action?.number).map(Int64.init))
      writer.add(4, payload)
      writer.add(5, token)
      if let time { writer.add(6, Self.timestamp(time)) }
    case .named:
      writer.add(1, "MOBILE")
      writer.add(2, correlation)
      writer.add(3, replyTo)
      writer.add(4, (action?.name).map { "v1/\($0)" })
      writer.add(5, payload)
      writer.add(6, token)
    }
    return writer.bytes
  }

  /// `google.protobuf.Timestamp`, whose nanoseconds count forward also before 1970.
  private static func timestamp(_ time: Instant) -> [UInt8] {
    let (seconds, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
    var writer = ProtobufWriter()
    writer.add(1, rest < 0 ? seconds - 1 : seconds)
    writer.add(2, (rest < 0 ? rest + 1000 : rest) * 1_000_000)
    return writer.bytes
  }
}

// MARK: Reading

extension BackendMessage {
  /// Reads a message of either generation.
  ///
  /// The message itself tells of which it is: its fields 1, 2 and 3 are number, text, number in one and
  /// text, number, text in the other. No setting is needed, and a backend may change over.
  /// - Parameters:
  ///   - generation: what is assumed of a message without these fields, then what the message is of.
  ///   - limit: how many bytes the message may have.
  /// - Throws: `.invalidData` for what is no such message.
  package init(
    _ bytes: [UInt8], _ generation: inout WireGeneration, limit: Int = usualLimit
  ) throws(FieldpackError) {
    guard bytes.count <= limit else {
      throw FieldpackError(
        .invalidData, "the message has \(bytes.count) bytes, more than the limit of \(limit)")
    }
    var fields: [ProtobufField] = []
    var reader = ProtobufReader(bytes[...])
    while let field = try reader.next() {
      // Of a field that comes twice the last one counts.
      guard 1...6 ~= field.number else { continue }
      fields.removeAll { $0.number == field.number }
      fields.append(field)
    }
    generation = Self.generation(of: fields) ?? generation
    self.init()
    for field in fields {
      switch generation {
      case .numbered: try readNumbered(field)
      case .named: try readNamed(field)
      }
    }
    if correlation == -1 { correlation = nil }
    if payload == "\"{}\"" || payload?.isEmpty == true { payload = nil }
  }

  private static func generation(of fields: [ProtobufField]) -> WireGeneration? {
    for field in fields where field.number <= 3 {
      switch field.content {
      case .varint: return field.number == 2 ? .named : .numbered
      case .bytes: return field.number == 2 ? .numbered : .named
      case .other: continue
      }
    }
    return nil
  }

  private mutating func readNumbered(_ field: ProtobufField) throws(FieldpackError) {
    switch field.number {
    case 1: correlation = Int64(Int32(truncatingIfNeeded: try field.integer()))
    case 2: replyTo = try field.text()
    case 3: action = BackendAction(number: Int32(truncatingIfNeeded: try field.integer()))
    case 4: payload = try field.text()
    case 5: token = try field.text()
    default: time = try Self.time(field.bytes())
    }
  }

  private mutating func readNamed(_ field: ProtobufField) throws(FieldpackError) {
    switch field.number {
    // The context, such as `MOBILE`, changes nothing.
    case 1: _ = try field.text()
    case 2: correlation = try field.integer()
    case 3: replyTo = try field.text()
    case 4: action = BackendAction(name: try field.text())
    case 5: payload = try field.text()
    default: token = try field.text()
    }
  }

  private static func time(_ bytes: ArraySlice<UInt8>) throws(FieldpackError) -> Instant {
    var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
    var reader = ProtobufReader(bytes)
    while let field = try reader.next() {
      if field.number == 1 { seconds = try field.integer() }
      if field.number == 2 { nanoseconds = try field.integer() }
    }
    let years = -62_135_596_800..<Int64(253_402_300_800)
    guard years.contains(seconds), 0..<1_000_000_000 ~= nanoseconds else {
      throw FieldpackError(.invalidData, "the time of the message is not in the years 1 to 9999")
    }
    return Instant(milliseconds: seconds * 1000 + nanoseconds / 1_000_000)
  }
}
