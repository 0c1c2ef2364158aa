import FieldpackCore
import FieldpackGeometry

/// Takes features for what they tell of themselves.
struct NoSink: FeatureSink {
  mutating func begin(_ schema: Schema) {}
  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {}
}

extension GeoJSONParser {
  /// Reads every document of the file, or as many as the head asks for.
  ///
  /// A file is one document, documents one after the other, or a sequence of them (RFC 8142, or a
  /// document a line).
  mutating func run(into sink: inout some FeatureSink) throws(FieldpackError) {
    do throws(FieldpackError) {
      try scanner.begin()
      while !isHeadRead, !isBroken {
        let byte = try scanner.peek()
        if byte == 0 { break }
        if byte == UInt8(ascii: ","), facts.documents > 0 {
          // Lines cut out of a collection keep their commas.
          facts.commas += 1
          scanner.takeByte()
        } else {
          try record(into: &sink)
        }
      }
      try judgeWhole()
    } catch {
      throw scanner.locate(error)
    }
  }

  var isHeadRead: Bool {
    guard let head else { return false }
    return facts.count >= head.features || scanner.offset >= head.bytes
  }

  /// What only the end tells.
  private mutating func judgeWhole() throws(FieldpackError) {
    scanner.feature = nil
    if facts.documents == 0 {
      let offset = facts.typelessOffset ?? scanner.offset
      throw scanner.failure(
        facts.typelessOffset == nil
          ? "the file is empty" : "this is no GeoJSON object: it has no type (RFC 7946 section 3)",
        offset: offset)
    }
    guard options.sourceSRS == nil else { return }
    if let name = geometry.crs.unknown {
      throw scanner.failure(
        "the coordinate reference system '\(name)' is not known", advice: .nameOtherSourceSRS,
        offset: 0)
    }
    if let other = geometry.crs.other, let srs = geometry.crs.srs {
      throw scanner.failure(
        "the file names two coordinate reference systems, \(srs) and \(other)",
        advice: .nameOtherSourceSRS, offset: 0)
    }
  }

  // MARK: Documents

  /// Reads one document, and where errors are passed over, the next if it is a broken line.
  private mutating func record(into sink: inout some FeatureSink) throws(FieldpackError) {
    let start = scanner.offset
    let hasFeature: Bool
    do throws(FieldpackError) {
      hasFeature = try document(into: &sink)
    } catch {
      guard error.code == .invalidData, !isGiving else { throw error }
      guard !isStreaming else { return try breakOff(at: error) }
      guard options.skipsErrors else {
        throw facts.documents > 0 ? error.advisingToSkip() : error
      }
      return try skipRecord(from: start, after: error)
    }
    if hasFeature { try give(to: &sink) }
  }

  /// Ends the file where it cannot be read any further, and where that is asked for; the features
  /// before that stay.
  private mutating func breakOff(at error: FieldpackError) throws(FieldpackError) {
    guard ids.hasFeatures else { throw error }
    guard options.skipsErrors else { throw error.advisingToSkip() }
    isBroken = true
    facts.skipped.add(SkippedFeature(breakingOff: error, layer: options.layer))
  }

  /// Passes over a broken document of a sequence, to the next separator (RFC 8142 section 2.3) or
  /// line.
  ///
  /// It is a sequence if a document follows, or if documents came before and the file ends.
  private mutating func skipRecord(
    from start: Int, after error: FieldpackError
  ) throws(FieldpackError) {
    let errorFeature = error.position?.byteOffset ?? start
    try scanner.seek(to: start)
    try scanner.skip(past: scanner.hasRecordSeparators ? 0x1E : UInt8(ascii: "\n"))
    let next = try scanner.peek()
    guard next == UInt8(ascii: "{") || (next == 0 && facts.documents > 0) else {
      return try breakOff(at: error)
    }
    featureNumber += 1
    facts.documents += 1
    note(FeatureProblem(message: error.message, offset: errorFeature))
  }

  /// Reads one document; true where it is a feature to be given.
  private mutating func document(
    into sink: inout some FeatureSink
  ) throws(FieldpackError) -> Bool {
    scanner.feature = featureNumber + 1
    isStreaming = false
    beginFeature()
    guard try scanner.peek() == UInt8(ascii: "{") else {
      throw scanner.unexpected("a GeoJSON object")
    }
    var object = Object(geometry: geometry.begin(at: scanner.offset), isTop: true)
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      if name.equals("features") {
        try collection(&object, into: &sink)
        if isHeadRead { return false }
      } else {
        try parseMember(name, of: &object)
        if object.type == .featureCollection { scanner.feature = nil }
      }
    }
    return try judge(&object)
  }

  /// Reads the array of features and gives each.
  private mutating func collection(
    _ object: inout Object, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    scanner.feature = nil
    guard !object.hasFeatures else {
      throw scanner.failure("a second member 'features'", offset: scanner.offset)
    }
    object.hasFeatures = true
    guard try scanner.peek() == UInt8(ascii: "[") else {
      throw scanner.failure(
        "features are not an array (RFC 7946 section 3.3)", offset: scanner.offset)
    }
    isStreaming = true
    facts.documents += 1
    try scanner.enter()
    var isFirst = true
    while try scanner.nextElement(&isFirst) {
      try parseFeature()
      isGiving = true
      try give(to: &sink)
      isGiving = false
      if isHeadRead { return }
    }
    scanner.feature = nil
    beginFeature()
  }

  /// What an object is, now that all of its members are known; true for a feature to be given.
  private mutating func judge(_ object: inout Object) throws(FieldpackError) -> Bool {
    let start = object.geometry.offset
    if object.hasFeatures {
      guard object.type == .featureCollection else {
        throw scanner.failure(
          "an object with features is no FeatureCollection (RFC 7946 section 7.1)", offset: start)
      }
      return false
    }
    switch object.type {
    case .featureCollection:
      throw scanner.failure(
        "a FeatureCollection has no features (RFC 7946 section 3.3)", offset: start)
    case .missing:
      // Files of a document a line may begin with a remark; alone it is an error.
      facts.typelessOffset = facts.typelessOffset ?? start
      facts.typeless += 1
      return false
    case .unknown(let name):
      throw scanner.failure("'\(name)' is no type of GeoJSON (RFC 7946 section 1.4)", offset: start)
    case .feature: break
    case .geometry: judgeGeometry(&object)
    }
    facts.documents += 1
    featureNumber += 1
    return true
  }

  /// A geometry that stands alone is a feature without attributes.
  private mutating func judgeGeometry(_ object: inout Object) {
    properties.restart()
    row.clearColumns()
    forgetIdentity()
    if object.hasGeometry {
      return complain(
        "a geometry has a member 'geometry' (RFC 7946 section 7.1)", at: featureOffset)
    }
    object.geometry.type = object.type
    geometry.finishWhole(geometry.finish(object.geometry))
  }

  // MARK: Giving

  private mutating func give(to sink: inout some FeatureSink) throws(FieldpackError) {
    if let problem = featureProblem {
      guard options.skipsErrors else {
        throw scanner.failure(problem.message, advice: .skipErrors, offset: problem.offset)
      }
      return note(problem)
    }
    try complete()
    if collectsIDs { return }
    do throws(FieldpackError) {
      try sink.feature(row)
    } catch {
      throw error.adding(position: featurePosition)
    }
  }

  private mutating func note(_ problem: FeatureProblem) {
    var position = featurePosition
    position.byteOffset = problem.offset
    facts.skipped.add(
      SkippedFeature(
        location: .init(layer: options.layer), position: position, reason: problem.message))
  }
}
