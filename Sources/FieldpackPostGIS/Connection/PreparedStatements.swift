/// The statements that a connection was asked more than once, which the server keeps with their plans.
///
/// A statement is prepared when it comes the second time: most come once, and preparing takes a round
/// trip. A connection that is made anew begins with none.
struct PreparedStatements {
  struct Key: Hashable {
    let sql: String
    /// The types of the values.
    let types: [UInt32]
    /// Tells the columns of the answer apart, with which the server prepared the statement.
    let form: Int
  }

  private var names: [Key: String] = [:]
  /// What came last, because it is likely to come again.
  private var last: (key: Key, name: String)?
  /// The hashes of statements that came once.
  private var asked: Set<Int> = []
  private var lastNumber = 0
  /// Behind a pooler, connections of other clients may prepare statements in the same session.
  private let prefix = "fieldpack_\(UInt64.random(in: .min ... .max))_"
  /// Whether the server keeps statements that have no name here any more.
  private(set) var hasLeftovers = false

  /// The server needs some 50 KB for each, and more for those that are longer or have more values than
  /// are kept.
  static let most = 64
  private static let (longest, mostValues) = (16 << 10, 64)
  private static let mostAsked = 1_024

  /// The name of a prepared statement; `nil` where it is not prepared.
  mutating func name(of key: Key) -> String? {
    if let last, last.key == key { return last.name }
    guard let name = names[key] else { return nil }
    last = (key, name)
    return name
  }

  /// Whether a statement came before and can be kept; from now on it did.
  mutating func isAskedAgain(_ key: Key) -> Bool {
    guard key.types.count <= Self.mostValues, key.sql.utf8.count <= Self.longest else {
      return false
    }
    if asked.count >= Self.mostAsked { asked.removeAll(keepingCapacity: true) }
    return !asked.insert(key.hashValue).inserted
  }

  /// A name for a statement that is to be prepared. Where there are too many, none is kept.
  mutating func newName() -> String {
    if names.count >= Self.most { forget() }
    lastNumber += 1
    return prefix + "\(lastNumber)"
  }

  mutating func keep(_ name: String, for key: Key) {
    names[key] = name
    last = (key, name)
  }

  /// Forgets all statements: the server has others, or refuses them because a table has changed.
  mutating func forget() {
    hasLeftovers = hasLeftovers || !names.isEmpty
    names = [:]
    last = nil
  }

  /// The server has dropped what is forgotten here.
  mutating func clearedLeftovers() { hasLeftovers = false }
}
