import FieldpackCore

extension GeoJSONParser {
  /// Takes the value of a `properties` member.
  mutating func parseProperties() throws(FieldpackError) {
    switch try scanner.peek() {
    case UInt8(ascii: "n"): _ = try scanner.scanLiteral()
    case UInt8(ascii: "["): try parseEmptyArray()
    case UInt8(ascii: "{"):
      // Of two members with this name the last counts.
      properties.restart()
      row.clearColumns()
      try scanner.enter()
      var isFirst = true
      while let name = try scanner.nextMember(&isFirst) {
        guard let number = properties.number(of: name) else { throw tooManyProperties() }
        try parseValue(of: number)
      }
    default: try refuseProperties()
    }
  }

  /// PHP writes an empty object as `[]`.
  private mutating func parseEmptyArray() throws(FieldpackError) {
    let start = scanner.offset
    try scanner.enter()
    var isFirst = true
    if try !scanner.nextElement(&isFirst) {
      facts.emptyArrays += 1
      return
    }
    complain("properties are not an object (RFC 7946 section 3.2)", at: start)
    repeat { try scanner.skipValue() } while try scanner.nextElement(&isFirst)
  }

  private mutating func refuseProperties() throws(FieldpackError) {
    complain("properties are not an object (RFC 7946 section 3.2)", at: scanner.offset)
    try scanner.skipValue()
  }

  private func tooManyProperties() -> FieldpackError {
    scanner.failure(
      "the features have more than \(PropertyColumns.maximumCount) different properties, which is"
        + " more columns than a table can have", offset: scanner.offset)
  }

  @inline(__always)
  private mutating func parseValue(of number: Int) throws(FieldpackError) {
    let form = properties.properties[number].form
    let column = properties.properties[number].columnIndex
    let byte = try scanner.peek()
    let kinds: PropertyKinds
    switch byte {
    case UInt8(ascii: "\""):
      kinds = try parseText(form, column, known: properties.properties[number].kinds)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      kinds = try parseNumber(form, column)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      kinds = try parseNested(form, column)
    default:
      kinds = try parseLiteral(form, column)
    }
    properties.note(kinds, of: number)
    if row.bytes.count > GeoJSONRow.maximumBytes {
      throw scanner.failure(
        "a feature has more than \(GeoJSONRow.maximumBytes) bytes of text", offset: scanner.offset)
    }
  }

  private mutating func parseNumber(
    _ form: PropertyForm, _ column: Int
  ) throws(FieldpackError) -> PropertyKinds {
    try scanner.scanNumber()
    let integer = scanner.integer
    let real = integer == nil ? scanner.real : 0
    switch form {
    case .integer:
      if let integer { row.set(column, integer: integer) } else { row.setNull(column) }
    case .real:
      let value = integer.map(Double.init) ?? real
      if value.isFinite { row.set(column, real: value) } else { row.setNull(column) }
    case .text, .json: row.set(column, text: scanner.numberText)
    case .featureID:
      sourceID = integer.map(SourceID.integer) ?? .text
      return .integer
    case .propertyID: if let integer { propertyID = integer }
    case .absent: break
    default: row.setNull(column)
    }
    if integer != nil { return .integer }
    if !real.isFinite { return .hugeNumber }
    return scanner.isWhole ? .wideInteger : .real
  }

  private mutating func parseLiteral(
    _ form: PropertyForm, _ column: Int
  ) throws(FieldpackError) -> PropertyKinds {
    let first = try scanner.scanLiteral()
    if form == .featureID { sourceID = .absent }
    if first == UInt8(ascii: "n") {
      if form != .absent, form != .featureID, form != .propertyID { row.setNull(column) }
      return .null
    }
    let isTrue = first == UInt8(ascii: "t")
    switch form {
    case .boolean: row.set(column, integer: isTrue ? 1 : 0)
    case .text, .json:
      let word: StaticString = isTrue ? "true" : "false"
      row.set(
        column, text: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    case .absent, .featureID, .propertyID: break
    default: row.setNull(column)
    }
    return .boolean
  }

  private mutating func parseNested(
    _ form: PropertyForm, _ column: Int
  ) throws(FieldpackError) -> PropertyKinds {
    switch form {
    case .text, .json: row.set(column, text: try scanner.compactValue())
    case .featureID:
      sourceID = .absent
      try scanner.skipValue()
    case .absent, .propertyID: try scanner.skipValue()
    default:
      try scanner.skipValue()
      row.setNull(column)
    }
    return .nested
  }

  private mutating func parseText(
    _ form: PropertyForm, _ column: Int, known: PropertyKinds
  ) throws(FieldpackError) -> PropertyKinds {
    let text = try scanner.scanString()
    if form == .dateTime, moments.wholeSeconds(text) != nil {
      row.set(column, wholeSeconds: text)
      return .dateTime
    }
    // Once a column has other text, what looks like a date changes nothing.
    let isJudged = form == .date || form == .dateTime || !known.contains(.text)
    let judged = isJudged ? TemporalText(text) : .other
    switch (form, judged) {
    case (.text, _): row.set(column, text: text)
    case (.json, _): row.set(column, text: scanner.tokenText)
    case (.date, .date): row.set(column, text: text)
    case (.dateTime, .instant(let instant)): row.set(column, instant: instant)
    case (.featureID, _): sourceID = .text
    case (.absent, _), (.propertyID, _): break
    default: row.setNull(column)
    }
    return switch judged {
    case .date: .date
    case .instant: .dateTime
    case .other: .text
    }
  }
}

/// What a text is as a date or time.
enum TemporalText {
  case date
  /// With a zone and at most three digits of fraction, so that GeoPackage's DATETIME keeps it.
  case instant(Instant)
  case other

  @inline(__always)
  init(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-") else {
      self = .other
      return
    }
    self.init(judging: text)
  }

  private init(judging text: UnsafeBufferPointer<UInt8>) {
    if text.count == 10 {
      self = DateTimeParser.date(text) == nil ? .other : .date
      return
    }
    guard let parsed = DateTimeParser.dateTime(text), parsed.hasZone, parsed.fractionDigits <= 3,
      InstantText.canWrite(parsed.instant)
    else {
      self = .other
      return
    }
    self = .instant(parsed.instant)
  }
}
