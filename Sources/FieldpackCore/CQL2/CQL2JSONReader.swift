import FieldpackGeometry

extension Filter {
  /// Reads a condition in CQL2 JSON (OGC 21-065r2), the same conditions as ``init(cql2:)``.
  ///
  /// - Throws: `.invalidArgument` with line and column where the text is no JSON, else with the JSON
  ///   pointer (RFC 6901) of what is wrong: `at /args/1: …`. The limits are those of CQL2 Text.
  public init(cql2JSON: String) throws(FieldpackError) {
    let place = try JSONPlace(document: cql2JSON, maximumDepth: CQL2.maximumJSONDepth)
    var reader = CQL2JSONReader()
    self = try reader.filter(place)
  }
}

/// Makes a filter of CQL2 JSON.
struct CQL2JSONReader {
  private var depth = 0
  private var operations = 0

  mutating func filter(_ place: JSONPlace) throws(FieldpackError) -> Filter {
    let operand = try operand(place, "a condition")
    guard let filter = CQL2.condition(operand) else {
      throw place.failure("a value alone is no condition")
    }
    return filter
  }

  /// Reads a value, or a condition that stands for its truth value.
  mutating func operand(
    _ place: JSONPlace, _ what: String = "a value"
  ) throws(FieldpackError) -> Operand {
    switch place.node {
    case .boolean(let flag): return .literal(.boolean(flag))
    case .integer(let number): return .literal(.integer(number))
    case .real(let number):
      guard number.isFinite else { throw place.failure("the number is out of range") }
      return .literal(.real(number))
    case .text(let text): return .literal(.text(text))
    case .null: throw place.failure("nothing compares with NULL: use the operation isNull")
    case .array: throw place.expected(what)
    case .object: break
    }
    if let name = place.member("property") {
      try place.checkNames(["property"])
      return .column(try columnName(name))
    }
    if let moment = try moment(place) { return .literal(moment) }
    guard let name = place.member("op") else {
      throw place.failure("expected \(what) with the members op and args")
    }
    try place.checkNames(["op", "args"])
    guard case .text(let operation) = name.node else { throw name.expected("a name") }
    guard let arguments = place.member("args") else {
      throw place.failure("the member args is missing")
    }
    return try operand(
      operation.uppercasedASCII, at: name, try arguments.elements("an array of arguments"), place)
  }

  func columnName(_ place: JSONPlace) throws(FieldpackError) -> String {
    guard case .text(let name) = place.node else { throw place.expected("a column's name") }
    try place.telling { () throws(CQL2.Mistake) in try CQL2.checkColumn(name) }
    return name
  }

  /// Reads `{"date": …}` or `{"timestamp": …}`; `nil` for other objects.
  func moment(_ place: JSONPlace) throws(FieldpackError) -> Value? {
    for name in ["date", "timestamp"] {
      guard let member = place.member(name) else { continue }
      try place.checkNames([name])
      guard case .text(let text) = member.node else { throw member.expected("a text") }
      return try member.telling { () throws(CQL2.Mistake) in
        name == "date" ? try CQL2.date(text) : try CQL2.timestamp(text)
      }
    }
    return nil
  }

  // MARK: Operations

  mutating func enter(at place: JSONPlace) throws(FieldpackError) {
    depth += 1
    guard depth <= CQL2.maximumDepth else { throw place.failure(CQL2.tooDeep.message) }
  }

  mutating func leave() { depth -= 1 }

  private mutating func operand(
    _ name: String, at namePlace: JSONPlace, _ arguments: [JSONPlace], _ place: JSONPlace
  ) throws(FieldpackError) -> Operand {
    if let operation = Arithmetic(rawValue: name) {
      try check(arguments, 2, place)
      operations += 1
      guard operations <= CQL2.maximumOperations else {
        throw place.failure(CQL2.tooManyOperations.message)
      }
      return .arithmetic(try operand(arguments[0]), operation, try operand(arguments[1]))
    }
    try enter(at: place)
    defer { leave() }
    if let function = FilterFunction(rawValue: name) {
      try check(arguments, 1, place)
      return .call(function, [try operand(arguments[0])])
    }
    if let filter = try condition(name, arguments, place) { return .condition(filter) }
    let known = ["and", "or", "not", "like", "between", "in", "isNull"]
    let names = known + CQL2JSON.functionNames
    guard case .text(let written) = namePlace.node else { throw namePlace.expected("a name") }
    throw namePlace.failure(
      "operation '\(written)' is not known\(NearNames.question(written, in: names)) (there are: = <> "
        + "< > <= >= + - * / % ^, \(names.joined(separator: ", ")))")
  }

  private mutating func condition(
    _ name: String, _ arguments: [JSONPlace], _ place: JSONPlace
  ) throws(FieldpackError) -> Filter? {
    if let comparison = Comparison(rawValue: name) {
      try check(arguments, 2, place)
      return .compare(try operand(arguments[0]), comparison, try operand(arguments[1]))
    }
    if let relation = CQL2.relations[name] {
      try check(arguments, 2, place)
      return CQL2.relation(relation, try spatial(arguments[0]), try spatial(arguments[1]))
    }
    if CQL2.tests.contains(name) {
      guard arguments.count > 2 else {
        throw place.failure("the operation takes 3 arguments or more, not \(arguments.count)")
      }
      var values: [Value] = []
      for argument in arguments[2...] {
        guard let value = try operand(argument).constant else {
          throw argument.failure("expected a number or a text")
        }
        values.append(value)
      }
      let (a, b) = (try spatial(arguments[0]), try spatial(arguments[1]))
      return try place.telling { () throws(CQL2.Mistake) in
        try CQL2.test(try SpatialTest.named(name, values), a, b)
      }
    }
    if let relation = CQL2.temporalRelations[name] {
      try check(arguments, 2, place)
      return .temporal(relation, try period(arguments[0]), try period(arguments[1]))
    }
    if let relation = CQL2.arrayRelations[name] {
      try check(arguments, 2, place)
      return .array(relation, try array(arguments[0]), try array(arguments[1]))
    }
    return try logic(name, arguments, place)
  }

  private mutating func logic(
    _ name: String, _ arguments: [JSONPlace], _ place: JSONPlace
  ) throws(FieldpackError) -> Filter? {
    switch name {
    case "AND", "OR":
      guard arguments.count >= 2 else {
        throw place.failure("'\(name.lowercased())' takes two arguments or more")
      }
      var parts: [Filter] = []
      for argument in arguments { parts.append(try filter(argument)) }
      return name == "AND" ? .and(parts) : .or(parts)
    case "NOT":
      try check(arguments, 1, place)
      return .not(try filter(arguments[0]))
    case "BETWEEN":
      try check(arguments, 3, place)
      return .between(
        try operand(arguments[0]), try operand(arguments[1]), try operand(arguments[2]))
    case "IN":
      try check(arguments, 2, place)
      var items: [Operand] = []
      let list = try arguments[1].elements("an array of values")
      if list.isEmpty { throw arguments[1].failure("an empty array holds no value") }
      for item in list { items.append(try operand(item)) }
      return .isIn(try operand(arguments[0]), items)
    case "ISNULL":
      try check(arguments, 1, place)
      return .isNull(try operand(arguments[0]))
    case "LIKE":
      try check(arguments, 2, place)
      let (pattern, folding) = try pattern(arguments[1])
      return .like(try operand(arguments[0]), pattern: pattern, folding: folding)
    default: return nil
    }
  }

  private func check(
    _ arguments: [JSONPlace], _ count: Int, _ place: JSONPlace
  ) throws(FieldpackError) {
    guard arguments.count != count else { return }
    throw place.failure(
      "the operation takes \(count) argument\(count == 1 ? "" : "s"), not \(arguments.count)")
  }

  private mutating func pattern(
    _ place: JSONPlace
  ) throws(FieldpackError) -> (String, [FilterFunction]) {
    var operand = try operand(place)
    var folding: [FilterFunction] = []
    while case .call(let function, let arguments) = operand, arguments.count == 1 {
      folding.append(function)
      operand = arguments[0]
    }
    guard case .literal(.text(let pattern)) = operand else {
      throw place.failure("expected a pattern: a text, or one in casei or accenti")
    }
    return (pattern, folding)
  }
}
