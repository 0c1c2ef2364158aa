import FieldpackCore
import FieldpackSQLite

/// The SQL functions that conditions in CQL2 need and SQLite lacks.
extension SQLFunctions {
  private static let flags: FunctionFlags = [.deterministic, .innocuous]

  static func name(of relation: TemporalRelation) -> String {
    "fieldpack_t_\(relation.rawValue.lowercased())"
  }

  static func name(of relation: ArrayRelation) -> String {
    "fieldpack_a_\(relation.rawValue.lowercased())"
  }

  // Printing a case by its name uses reflection, which took a third of the time to open a file.
  static func name(of operation: Arithmetic) -> String {
    switch operation {
    case .add: "fieldpack_add"
    case .subtract: "fieldpack_subtract"
    case .multiply: "fieldpack_multiply"
    case .divide: "fieldpack_divide"
    case .remainder: "fieldpack_remainder"
    case .divideWhole: "fieldpack_divideWhole"
    case .power: "fieldpack_power"
    }
  }

  static func registerFilterFunctions(on connection: Connection) throws(SQLiteError) {
    for function in FilterFunction.allCases {
      try connection.register(
        function: "fieldpack_\(function.rawValue.lowercased())", arguments: 1, flags: flags
      ) { context in
        guard context.kind(0) == .text, let text = context.string(0) else { return }
        context.set(function.folding(text))
      }
    }
    for operation in [Arithmetic.remainder, .divideWhole, .power] {
      try connection.register(function: name(of: operation), arguments: 2, flags: flags) {
        compute(operation, $0)
      }
    }
    for relation in TemporalRelation.allCases {
      try connection.register(function: name(of: relation), arguments: 5, flags: flags) {
        let answer = relation.answer(period(0, $0), period(2, $0))
        if let answer { $0.set(answer) }
      }
    }
    for relation in ArrayRelation.allCases {
      try connection.register(function: name(of: relation), arguments: 2, flags: flags) {
        let answer = relation.answer(items(0, $0), items(1, $0))
        if let answer { $0.set(answer) }
      }
    }
    try connection.register(function: "fieldpack_list", arguments: -1, flags: flags, list)
  }

  private static func compute(_ operation: Arithmetic, _ context: FunctionContext) {
    switch operation.apply(number(0, context), number(1, context)) {
    case .integer(let value): context.set(value)
    case .real(let value): context.set(value)
    default: break
    }
  }

  private static func number(_ index: Int, _ context: FunctionContext) -> Scalar {
    switch context.kind(index) {
    case .integer: .integer(context.integer(index))
    case .real: .real(context.real(index))
    default: .null
    }
  }

  // MARK: Time

  /// What an argument for a bound of a period holds. The first argument has two bits per bound.
  enum BoundKind: Int {
    case text
    /// Milliseconds since 1970.
    case instant
    /// The milliseconds of a day's start.
    case day
    case open
  }

  /// The period whose start and end are the arguments after `index`.
  private static func period(_ index: Int, _ context: FunctionContext) -> Period? {
    var bounds: [Moment?] = []
    for index in index...index + 1 {
      switch BoundKind(rawValue: Int(context.integer(0) >> (2 * index)) & 3) {
      case .instant?: bounds.append(Moment(milliseconds: context.integer(index + 1), isDay: false))
      case .day?: bounds.append(Moment(milliseconds: context.integer(index + 1), isDay: true))
      case .open?: bounds.append(nil)
      case .text?, nil:
        guard context.kind(index + 1) == .text else { return nil }
        let moment = context.withBytes(index + 1) { span in
          span.withUnsafeBytes { Moment($0.assumingMemoryBound(to: UInt8.self)) }
        }
        guard let moment else { return nil }
        bounds.append(moment)
      }
    }
    return Period(from: bounds[0], to: bounds[1])
  }

  // MARK: Arrays

  private final class KeptItems {
    let items: [ListItem]?
    init(_ items: [ListItem]?) { self.items = items }
  }

  /// The elements of a JSON array. Those of a constant array are kept for the statement.
  private static func items(_ index: Int, _ context: FunctionContext) -> [ListItem]? {
    if let kept = context.auxiliary(index) as? KeptItems { return kept.items }
    guard context.kind(index) == .text else { return nil }
    let items = context.withBytes(index) { span in
      span.withUnsafeBytes { ListItem.items(json: $0.assumingMemoryBound(to: UInt8.self)) }
    }
    context.setAuxiliary(KeptItems(items), index)
    return items
  }

  /// `fieldpack_list(kinds, …)`: a JSON array, or NULL where an argument is NULL. Each letter of
  /// `kinds` tells what an argument is: `v` a value, `t` a value whose text may name a moment, `l`
  /// a list.
  private static func list(_ context: FunctionContext) {
    let kinds = Array((context.string(0) ?? "").utf8)
    guard kinds.count == context.argumentCount - 1 else { return }
    var list = ListText()
    for (index, kind) in kinds.enumerated() {
      let value: Value
      switch context.kind(index + 1) {
      case .null: return
      case .integer: value = .integer(context.integer(index + 1))
      case .real: value = .real(context.real(index + 1))
      case .text: value = .text(context.string(index + 1) ?? "")
      case .blob: value = .blob([])
      }
      if kind == UInt8(ascii: "l"), case .text(let text) = value {
        list.append(list: text.utf8)
      } else {
        list.append(value, isTemporal: kind == UInt8(ascii: "t"))
      }
    }
    list.close()
    context.set(String(decoding: list.bytes, as: UTF8.self))
  }
}
