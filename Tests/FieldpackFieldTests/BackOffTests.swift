import FieldpackField
import Testing

@Suite struct BackOffTests {
  private static let uploads = BackOff(first: .milliseconds(500), limit: .seconds(30))

  private static let doubled: [(Int, Double)] = [
    (-1, 0.5), (0, 0.5), (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 30), (8, 30),
    (.max, 30),
  ]

  @Test(arguments: doubled)
  func `a pause is doubled up to the limit`(failures: Int, seconds: Double) {
    #expect(Self.uploads.pause(after: failures) == .seconds(seconds))
  }

  @Test func `a factor of one gives the same pause each time`() {
    let steady = BackOff(first: .seconds(2), factor: 1, limit: .seconds(30))
    #expect([1, 2, Int.max].map { steady.pause(after: $0) } == [2, 2, 2].map { .seconds($0) })
  }

  @Test(arguments: [(0.0, 30.0), (0.5, 22.5), (1.0, 15.0)])
  func `chance takes away no more than the jitter`(chance: Double, seconds: Double) {
    var backOff = Self.uploads
    backOff.jitter = 0.5
    #expect(backOff.pause(after: 9, random: { chance }) == .seconds(seconds))
    #expect((.seconds(15)...(.seconds(30))).contains(backOff.pause(after: 9)))
  }

  @Test(arguments: [(0, 2), (1, 2), (2, 2), (3, 3), (86_400, 86_400)])
  func `no pause is shorter than the server asked for`(asked: Int, seconds: Int) {
    let pause = Self.uploads.pause(after: 3, asked: .seconds(asked))
    #expect(pause == .seconds(seconds))
  }
}
