/// Finds the names that someone may have meant.
public enum NearNames {
  // Longer names are not compared: the cost grows with the square of the length.
  private static let maximumLength = 64

  /// Up to three of `names` that are a slip of the keyboard away from `name`, nearest first.
  ///
  /// Case is ignored; one edit in names of up to four characters, two in longer ones, three beyond
  /// eight.
  public static func of(_ name: String, in names: some Sequence<String>) -> [String] {
    let wanted = Array(name.lowercased().unicodeScalars)
    guard !wanted.isEmpty, wanted.count <= maximumLength else { return [] }
    let allowed = wanted.count <= 4 ? 1 : wanted.count <= 8 ? 2 : 3
    var found: [(distance: Int, name: String)] = []
    for candidate in names {
      let scalars = Array(candidate.lowercased().unicodeScalars)
      guard abs(scalars.count - wanted.count) <= allowed else { continue }
      let distance = distance(wanted, scalars)
      if distance <= allowed { found.append((distance, candidate)) }
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// `, did you mean 'x' or 'y'?`, or nothing where no name is near.
  public static func question(_ name: String, in names: some Sequence<String>) -> String {
    let near = of(name, in: names).map { "'\($0)'" }
    return near.isEmpty ? "" : ", did you mean \(near.joined(separator: " or "))?"
  }

  /// Insertions, deletions, replacements and swaps of neighbours.
  private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j + 1], row[j]) + 1
        cost = min(cost, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
