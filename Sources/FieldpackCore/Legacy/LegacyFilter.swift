import FieldpackGeometry

/// A filter of SpatialConnect, as its clients send it in JSON.
///
///     {"$geocontains": [-73, 18.5, -72.3, 19], "$gt": {"field": "nfi", "value": 3}, "limit": 10}
///
/// All members have to hold. `$gt $gte $lt $lte $e $ne` take a number or a text, `$between` and
/// `$notbetween` `{"upper": …, "lower": …}`, `$in` and `$notin` an array, `$like` and `$notlike` a
/// text, `$geocontains` and `$geodisjoint` a box `[west, south, east, north]` in degrees, `$and` and
/// `$or` an array of such objects. `layerIds`, or `layers`, names layers, and `limit` how many
/// features are wanted: 100 where it is absent.
///
/// SpatialConnect's objects name no column, and test a value, as FieldpackStoreKit's `accepts(_:)`
/// does. Conditions on features name a column: `{"$gt": {"field": "nfi", "value": 3}}`. An unknown member is an error;
/// SpatialConnect ignored it.
public struct LegacyFilter: Hashable, Sendable {
  /// Whose meaning the operations have; the parts of SpatialConnect differed.
  public enum Meaning: String, Hashable, Sendable, CaseIterable {
    /// Fieldpack's: `$geocontains` finds features whose envelope lies in the box, borders included;
    /// `$between` includes its bounds; `$like` takes a pattern as CQL2 does.
    case standard
    /// That of SpatialConnect's filters in memory: `$geocontains` finds features with a vertex in
    /// the box, `$between` excludes its bounds, and `$like` accepts the texts that are part of the
    /// value.
    case memory
    /// That of SpatialConnect's WFS store: `$geocontains` finds features whose envelope meets the
    /// box.
    case wfs
  }

  /// The operations of the members, in order.
  private var terms: [Term]
  private let meaning: Meaning
  /// The layers that are asked; empty for all.
  public private(set) var layers: [LayerID] = []
  public private(set) var limit = 100

  /// - Throws: `.invalidArgument` with line and column where the text is no JSON, else with the JSON
  ///   pointer of what is wrong.
  public init(json: String, meaning: Meaning = .standard) throws(FieldpackError) {
    let element = try JSONElement(document: json)
    self.meaning = meaning
    terms = []
    for member in try element.namedMembers() {
      switch member.name {
      case "limit": limit = try Self.limit(member.element)
      case "layerIds", "layers":
        guard layers.isEmpty else { throw member.element.failure("layers are named twice") }
        layers = try Self.layers(member.element)
      default: terms.append(try Term(member.name, member.element, meaning, depth: 0))
      }
    }
  }

  private static func limit(_ element: JSONElement) throws(FieldpackError) -> Int {
    guard case .integer(let number) = element.value, let limit = Int(exactly: number), limit >= 0
    else { throw element.failure("a limit is a whole number, 0 or more") }
    return limit
  }

  private static func layers(_ element: JSONElement) throws(FieldpackError) -> [LayerID] {
    var layers: [LayerID] = []
    for item in try element.elements("an array of names") {
      guard case .text(let name) = item.value else { throw item.expected("a layer's name") }
      layers.append(LayerID(name))
    }
    return layers
  }

  /// The query that the filter asks.
  ///
  /// - Throws: `.invalidArgument` where an operation names no column.
  public var query: Query {
    get throws(FieldpackError) {
      Query(layers: layers, where: try condition(on: nil)).limit(limit)
    }
  }

  /// The condition on features, or on `value` where it is given.
  package func condition(on value: Value?) throws(FieldpackError) -> Filter {
    var filter = Filter.all
    for term in terms { filter = filter && (try term.filter(meaning, of: value)) }
    return filter
  }
}

extension LegacyFilter {
  /// One operation.
  fileprivate indirect enum Term: Hashable, Sendable {
    case compare(Subject, Comparison, Value)
    case between(Subject, lower: Value, upper: Value, isNegated: Bool)
    case isIn(Subject, [Value], isNegated: Bool)
    case like(Subject, String, isNegated: Bool)
    case contains(Envelope)
    case disjoint(Envelope)
    case and([Term])
    case or([Term])
  }

  /// The value or column that an operation tests.
  fileprivate struct Subject: Hashable, Sendable {
    var name: String
    var path: String
    var field: String?
  }

  fileprivate static let comparisons: [String: Comparison] = [
    "$gt": .greater, "$gte": .greaterOrEqual, "$lt": .less, "$lte": .lessOrEqual, "$e": .equal,
    "$ne": .notEqual,
  ]
  fileprivate static let names =
    comparisons.keys.sorted() + [
      "$between", "$notbetween", "$in", "$notin", "$like", "$notlike", "$geocontains",
      "$geodisjoint", "$and", "$or", "limit", "layerIds", "layers",
    ]
}

extension LegacyFilter.Term {
  fileprivate init(
    _ name: String, _ element: JSONElement, _ meaning: LegacyFilter.Meaning, depth: Int
  ) throws(FieldpackError) {
    if let comparison = LegacyFilter.comparisons[name] {
      let (subject, value) = try Self.subject(name, element)
      self = .compare(subject, comparison, try value.legacyScalar())
      return
    }
    switch name {
    case "$between", "$notbetween":
      let (subject, bounds) = try Self.subject(name, element)
      try bounds.checkNames(["lower", "upper"])
      guard let lower = bounds.member("lower"), let upper = bounds.member("upper") else {
        throw bounds.failure("expected an object with the members lower and upper")
      }
      self = .between(
        subject, lower: try lower.legacyScalar(), upper: try upper.legacyScalar(),
        isNegated: name == "$notbetween")
    case "$in", "$notin":
      let (subject, list) = try Self.subject(name, element)
      var values: [Value] = []
      for item in try list.elements("an array of values") {
        values.append(try item.legacyScalar())
      }
      self = .isIn(subject, values, isNegated: name == "$notin")
    case "$like", "$notlike":
      let (subject, text) = try Self.subject(name, element)
      guard case .text(let pattern) = text.value else { throw text.expected("a text") }
      // In memory the condition lists every part of the pattern, whose number grows with the square
      // of its length.
      guard meaning != .memory || pattern.unicodeScalars.count <= 200 else {
        throw text.failure("a legacy \(name) takes at most 200 characters")
      }
      self = .like(subject, pattern, isNegated: name == "$notlike")
    case "$geocontains": self = .contains(try element.legacyBox())
    case "$geodisjoint": self = .disjoint(try element.legacyBox())
    case "$and", "$or":
      let terms = try Self.terms(element, meaning, depth: depth + 1)
      self = name == "$and" ? .and(terms) : .or(terms)
    default:
      throw element.failure(
        "'\(name)' is not known\(NearNames.question(name, in: LegacyFilter.names)) (there are: "
          + "\(LegacyFilter.names.joined(separator: ", ")))")
    }
  }

  private static func terms(
    _ element: JSONElement, _ meaning: LegacyFilter.Meaning, depth: Int
  ) throws(FieldpackError) -> [Self] {
    guard depth <= CQL2.maximumDepth else { throw element.failure("nested too deep") }
    var terms: [Self] = []
    for item in try element.elements("an array of objects") {
      var all: [Self] = []
      for member in try item.namedMembers() {
        all.append(try Self(member.name, member.element, meaning, depth: depth))
      }
      terms.append(.and(all))
    }
    return terms
  }

  /// The tested subject and what it is tested with, from `{"field": …, "value": …}` or from the
  /// value alone.
  private static func subject(
    _ name: String, _ element: JSONElement
  ) throws(FieldpackError) -> (LegacyFilter.Subject, JSONElement) {
    guard let field = element.member("field") else {
      return (LegacyFilter.Subject(name: name, path: element.path), element)
    }
    try element.checkNames(["field", "value"])
    guard case .text(let column) = field.value else { throw field.expected("a column's name") }
    guard let value = element.member("value") else {
      throw element.failure("the member value is missing")
    }
    return (LegacyFilter.Subject(name: name, path: element.path, field: column), value)
  }

  /// The condition on features, or on `value` where it is given.
  fileprivate func filter(
    _ meaning: LegacyFilter.Meaning, of value: Value?
  ) throws(FieldpackError) -> Filter {
    switch self {
    case .compare(let subject, let comparison, let other):
      return .compare(try subject.operand(value), comparison, .literal(other))
    case .between(let subject, let lower, let upper, let isNegated):
      let operand = try subject.operand(value)
      let isWithin: Filter =
        meaning == .memory
        ? .compare(operand, .greater, .literal(lower))
          && .compare(operand, .less, .literal(upper))
        : .between(operand, .literal(lower), .literal(upper))
      return isNegated ? .not(isWithin) : isWithin
    case .isIn(let subject, let values, let isNegated):
      let isOne = Filter.isIn(try subject.operand(value), values.map { .literal($0) })
      return isNegated ? .not(isOne) : isOne
    case .like(let subject, let text, let isNegated):
      let isLike = Self.like(try subject.operand(value), text, meaning)
      return isNegated ? .not(isLike) : isLike
    case .contains(let box):
      try refuse(value)
      switch meaning {
      case .standard: return .envelope(.within, box, srs: .wgs84)
      case .memory: return .vertex(in: box, srs: .wgs84)
      case .wfs: return .envelope(.intersects, box, srs: .wgs84)
      }
    case .disjoint(let box):
      try refuse(value)
      return .envelope(.disjoint, box, srs: .wgs84)
    case .and(let terms), .or(let terms):
      var parts: [Filter] = []
      for term in terms { parts.append(try term.filter(meaning, of: value)) }
      if case .and = self { return .and(parts) }
      return .or(parts)
    }
  }

  private func refuse(_ value: Value?) throws(FieldpackError) {
    guard value != nil else { return }
    throw FieldpackError(.invalidArgument, "a box tests features, not a value")
  }

  /// The condition of `$like`. In memory `text` has to contain the tested value, so the condition
  /// lists every part of `text`.
  private static func like(
    _ operand: Operand, _ text: String, _ meaning: LegacyFilter.Meaning
  ) -> Filter {
    guard meaning == .memory else { return .like(operand, pattern: text) }
    let scalars = Array(text.unicodeScalars)
    var parts: Set<String> = []
    for start in scalars.indices {
      for end in start..<scalars.count {
        var part = String.UnicodeScalarView()
        part.append(contentsOf: scalars[start...end])
        parts.insert(String(part))
      }
    }
    return .isIn(operand, parts.sorted().map { .literal(.text($0)) })
  }
}

extension LegacyFilter.Subject {
  fileprivate func operand(_ value: Value?) throws(FieldpackError) -> Operand {
    switch (field, value) {
    case (let field?, nil): return .column(field)
    case (nil, let value?): return .literal(value)
    case (nil, nil):
      throw FieldpackError(
        .invalidArgument,
        "at \(path): \(name) names no column: write {\"\(name)\": {\"field\": …, \"value\": …}}")
    case (let field?, _?):
      throw FieldpackError(
        .invalidArgument, "at \(path): \(name) tests the column '\(field)', not a value")
    }
  }
}

extension JSONElement {
  fileprivate func namedMembers() throws(FieldpackError) -> [(name: String, element: JSONElement)] {
    let members = try members("an object")
    var names: Set<String> = []
    for member in members where !names.insert(member.name).inserted {
      throw failure("the member '\(member.name)' comes twice")
    }
    return members
  }

  fileprivate func legacyScalar() throws(FieldpackError) -> Value {
    switch value {
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .real(let number) where number.isFinite: return .real(number)
    case .text(let text): return .text(text)
    default: throw expected("a number, a text or a truth value")
    }
  }

  fileprivate func legacyBox() throws(FieldpackError) -> Envelope {
    var bounds: [Double] = []
    for bound in try elements("an array of four numbers") {
      bounds.append(try GeoJSONShape.number(bound))
    }
    guard bounds.count == 4 else {
      throw failure("a box is west, south, east and north, not \(bounds.count) numbers")
    }
    guard bounds[1] <= bounds[3] else {
      throw failure("the south of the box, \(bounds[1]), lies above its north, \(bounds[3])")
    }
    return Envelope(minX: bounds[0], minY: bounds[1], maxX: bounds[2], maxY: bounds[3])
  }
}
