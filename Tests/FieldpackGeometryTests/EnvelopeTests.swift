import FieldpackGeometry
import FieldpackTestSupport
import Testing

@Suite struct EnvelopeTests {
  @Test func `many positions extend a box as each of them does`() {
    var random = FilterGenerator.SplitMix(state: 7)
    let odd = [Double.nan, .infinity, -.infinity, 0, -0.0]
    for round in 0..<400 {
      let ordinates = (0..<2 * (round % 12)).map { _ in
        Int.random(in: 0..<20, using: &random) == 0
          ? odd.randomElement(using: &random)! : Double.random(in: -9...9, using: &random)
      }
      var (one, many) = (Envelope.empty, Envelope.empty)
      if round % 3 == 0 { one = Envelope(minX: -1, minY: 2, maxX: 3, maxY: 4) }
      many = one
      for index in stride(from: 0, to: ordinates.count, by: 2)
      where !ordinates[index].isNaN && !ordinates[index + 1].isNaN {
        one.extend(x: ordinates[index], y: ordinates[index + 1])
      }
      ordinates.withUnsafeBytes { many.extend(positions: $0) }
      #expect(one == many)
    }
  }
}
