import FieldpackSQLite
import Testing

@Suite struct SQLFragmentTests {
  private let name = quoted("how? \"it's\" n")

  @Test func `a fragment carries the values of its parts in order`() {
    let part: SQLFragment = "\(name) > \(bind: 1)"
    let whole: SQLFragment = "\(bind: "é?") = a AND \(part) AND b IN (\(bind: [2, 3]))"
    #expect(whole.text == "? = a AND \(name) > ? AND b IN (?, ?)")
    #expect(whole.parameters == ["é?", 1, 2, 3])
  }

  @Test func `values are written in their places, whatever the text holds`() {
    var fragment = SQLFragment.and(["'?' = \(name)", "\(name) = \(bind: "'?")"])
    fragment += " OR \(bind: 7) = ?"
    let text = fragment.text { $0 == 7 ? "7" : "é'?" }
    #expect(text == "('?' = \(name) AND \(name) = é'?) OR 7 = ?")
  }

  @Test func `many terms are put into groups`() {
    let values = (0..<70).map { SQLiteValue.integer($0) }
    let sum = SQLFragment.or(values.map { "\(bind: $0)" })
    #expect(sum.text.hasPrefix("((? OR ? OR ?) OR ("))
    #expect(sum.parameters == values)
  }
}
