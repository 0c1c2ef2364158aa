/// A condition as far as PostgreSQL tests it.
///
/// The SQL never loses a row that meets the condition. Where it lets more rows through, they are tested
/// again here.
struct Lowered: Hashable, Sendable {
  /// `nil` where the server tests nothing.
  var sql: SQLPart?
  /// Whether the SQL is true for just the rows that meet the condition.
  var isExact: Bool

  init(_ sql: SQLPart?, isExact: Bool = true) {
    self.sql = sql
    self.isExact = isExact
  }

  static let always = Lowered(nil)
  static let never = Lowered("FALSE")
  /// A condition of which the server can test nothing.
  static let unknown = Lowered(nil, isExact: false)

  var isAlways: Bool { self == .always }
  var isNever: Bool { self == .never }

  static func all(_ parts: [Lowered]) -> Lowered {
    if parts.contains(where: \.isNever) { return .never }
    let sql = parts.compactMap(\.sql)
    let isExact = parts.allSatisfy(\.isExact)
    switch sql.count {
    case 0: return Lowered(nil, isExact: isExact)
    case 1: return Lowered(sql[0], isExact: isExact)
    default: return Lowered("(\(.joined(sql, by: " AND ")))", isExact: isExact)
    }
  }

  static func any(_ parts: [Lowered]) -> Lowered {
    if parts.contains(where: \.isAlways) { return .always }
    let possible = parts.filter { !$0.isNever }
    if possible.isEmpty { return .never }
    let sql = possible.compactMap(\.sql)
    guard sql.count == possible.count else { return .unknown }
    let isExact = possible.allSatisfy(\.isExact)
    if sql.count == 1 { return Lowered(sql[0], isExact: isExact) }
    return Lowered("(\(.joined(sql, by: " OR ")))", isExact: isExact)
  }

  /// The same test, with more rows let through than meet the condition.
  var asCandidate: Lowered { Lowered(sql, isExact: false) }
}
