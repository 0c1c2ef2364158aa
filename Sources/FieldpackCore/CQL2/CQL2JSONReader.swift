import FieldpackGeometry

extension Filter {
  /// Reads a condition in CQL2 JSON (OGC 21-065r2), the same conditions as ``init(cql2:)``.
  ///
  /// - Throws: `.invalidArgument` with line and column where the text is no JSON, else with the JSON
  ///   pointer (RFC 6901) of what is wrong: `at /args/1: …`. The limits are those of CQL2 Text.
  public init(cql2JSON: String) throws(FieldpackError) {
    let element = try JSONElement(document: cql2JSON, maximumDepth: CQL2.maximumJSONDepth)
    var reader = CQL2JSONReader()
    self = try reader.filter(element)
  }
}

/// Makes a filter of CQL2 JSON.
struct CQL2JSONReader {
  private var depth = 0
  private var operations = 0

  mutating func filter(_ element: JSONElement) throws(FieldpackError) -> Filter {
    let operand = try operand(element, "a condition")
    guard let filter = CQL2.condition(operand) else {
      throw element.failure("a value alone is no condition")
    }
    return filter
  }

  /// Reads a value, or a condition that stands for its truth value.
  mutating func operand(
    _ element: JSONElement, _ what: String = "a value"
  ) throws(FieldpackError) -> Operand {
    switch element.value {
    case .boolean(let flag): return .literal(.boolean(flag))
    case .integer(let number): return .literal(.integer(number))
    case .real(let number):
      guard number.isFinite else { throw element.failure("the number is out of range") }
      return .literal(.real(number))
    case .text(let text): return .literal(.text(text))
    case .null: throw element.failure("nothing compares with NULL: use the operation isNull")
    case .array: throw element.expected(what)
    case .object: break
    }
    if let name = element.member("property") {
      try element.checkNames(["property"])
      return .column(try columnName(name))
    }
    if let moment = try moment(element) { return .literal(moment) }
    guard let name = element.member("op") else {
      throw element.failure("expected \(what) with the members op and args")
    }
    try element.checkNames(["op", "args"])
    guard case .text(let operation) = name.value else { throw name.expected("a name") }
    guard let arguments = element.member("args") else {
      throw element.failure("the member args is missing")
    }
    return try operand(
      operation.uppercasedASCII, at: name, try arguments.elements("an array of arguments"), element)
  }

  func columnName(_ element: JSONElement) throws(FieldpackError) -> String {
    guard case .text(let name) = element.value else { throw element.expected("a column's name") }
    try element.telling { () throws(CQL2.Mistake) in try CQL2.checkColumn(name) }
    return name
  }

  /// Reads `{"date": …}` or `{"timestamp": …}`; `nil` for other objects.
  func moment(_ element: JSONElement) throws(FieldpackError) -> Value? {
    for name in ["date", "timestamp"] {
      guard let member = element.member(name) else { continue }
      try element.checkNames([name])
      guard case .text(let text) = member.value else { throw member.expected("a text") }
      return try member.telling { () throws(CQL2.Mistake) in
        name == "date" ? try CQL2.date(text) : try CQL2.timestamp(text)
      }
    }
    return nil
  }

  // MARK: Operations

  mutating func enter(at element: JSONElement) throws(FieldpackError) {
    depth += 1
    guard depth <= CQL2.maximumDepth else { throw element.failure(CQL2.tooDeep.message) }
  }

  mutating func leave() { depth -= 1 }

  private mutating func operand(
    _ name: String, at nameElement: JSONElement, _ arguments: [JSONElement], _ element: JSONElement
  ) throws(FieldpackError) -> Operand {
    if let operation = Arithmetic(rawValue: name) {
      try check(arguments, 2, element)
      operations += 1
      guard operations <= CQL2.maximumOperations else {
        throw element.failure(CQL2.tooManyOperations.message)
      }
      return .arithmetic(try operand(arguments[0]), operation, try operand(arguments[1]))
    }
    try enter(at: element)
    defer { leave() }
    if let function = FilterFunction(rawValue: name) {
      try check(arguments, 1, element)
      return .call(function, [try operand(arguments[0])])
    }
    if let filter = try condition(name, arguments, element) { return .condition(filter) }
    let known = ["and", "or", "not", "like", "between", "in", "isNull"]
    let names = known + CQL2JSON.functionNames
    guard case .text(let written) = nameElement.value else { throw nameElement.expected("a name") }
    throw nameElement.failure(
      "operation '\(written)' is not known\(NearNames.question(written, in: names)) (there are: = <> "
        + "< > <= >= + - * / % ^, \(names.joined(separator: ", ")))")
  }

  private mutating func condition(
    _ name: String, _ arguments: [JSONElement], _ element: JSONElement
  ) throws(FieldpackError) -> Filter? {
    if let comparison = Comparison(rawValue: name) {
      try check(arguments, 2, element)
      return .compare(try operand(arguments[0]), comparison, try operand(arguments[1]))
    }
    if let relation = CQL2.relations[name] {
      try check(arguments, 2, element)
      return CQL2.relation(relation, try spatial(arguments[0]), try spatial(arguments[1]))
    }
    if CQL2.tests.contains(name) {
      guard arguments.count > 2 else {
        throw element.failure("the operation takes 3 arguments or more, not \(arguments.count)")
      }
      var values: [Value] = []
      for argument in arguments[2...] {
        guard let value = try operand(argument).constant else {
          throw argument.failure("expected a number or a text")
        }
        values.append(value)
      }
      let (a, b) = (try spatial(arguments[0]), try spatial(arguments[1]))
      return try element.telling { () throws(CQL2.Mistake) in
        try CQL2.test(try SpatialTest.named(name, values), a, b)
      }
    }
    if let relation = CQL2.temporalRelations[name] {
      try check(arguments, 2, element)
      return .temporal(relation, try period(arguments[0]), try period(arguments[1]))
    }
    if let relation = CQL2.arrayRelations[name] {
      try check(arguments, 2, element)
      return .array(relation, try array(arguments[0]), try array(arguments[1]))
    }
    return try logic(name, arguments, element)
  }

  private mutating func logic(
    _ name: String, _ arguments: [JSONElement], _ element: JSONElement
  ) throws(FieldpackError) -> Filter? {
    switch name {
    case "AND", "OR":
      guard arguments.count >= 2 else {
        throw element.failure("'\(name.lowercased())' takes two arguments or more")
      }
      var parts: [Filter] = []
      for argument in arguments { parts.append(try filter(argument)) }
      return name == "AND" ? .and(parts) : .or(parts)
    case "NOT":
      try check(arguments, 1, element)
      return .not(try filter(arguments[0]))
    case "BETWEEN":
      try check(arguments, 3, element)
      return .between(
        try operand(arguments[0]), try operand(arguments[1]), try operand(arguments[2]))
    case "IN":
      try check(arguments, 2, element)
      var items: [Operand] = []
      let list = try arguments[1].elements("an array of values")
      if list.isEmpty { throw arguments[1].failure("an empty array holds no value") }
      for item in list { items.append(try operand(item)) }
      return .isIn(try operand(arguments[0]), items)
    case "ISNULL":
      try check(arguments, 1, element)
      return .isNull(try operand(arguments[0]))
    case "LIKE":
      try check(arguments, 2, element)
      let (pattern, folding) = try pattern(arguments[1])
      return .like(try operand(arguments[0]), pattern: pattern, folding: folding)
    default: return nil
    }
  }

  private func check(
    _ arguments: [JSONElement], _ count: Int, _ element: JSONElement
  ) throws(FieldpackError) {
    guard arguments.count != count else { return }
    throw element.failure(
      "the operation takes \(count) argument\(count == 1 ? "" : "s"), not \(arguments.count)")
  }

  private mutating func pattern(
    _ element: JSONElement
  ) throws(FieldpackError) -> (String, [FilterFunction]) {
    var operand = try operand(element)
    var folding: [FilterFunction] = []
    while case .call(let function, let arguments) = operand, arguments.count == 1 {
      folding.append(function)
      operand = arguments[0]
    }
    guard case .literal(.text(let pattern)) = operand else {
      throw element.failure("expected a pattern: a text, or one in casei or accenti")
    }
    return (pattern, folding)
  }
}
