/// The marks of an axis at round numbers.
struct PlotAxis {
  let range: ClosedRange<Double>
  let marks: [Double]
  private let decimals: Int

  /// - Parameters:
  ///   - values: what the axis holds; a single one gets room around it.
  ///   - count: about how many marks there are.
  ///   - isTight: whether the axis ends with the values, else with the marks around them.
  init(_ values: ClosedRange<Double>, count: Int, isTight: Bool) {
    let limit = 1e15
    var (low, high) = (max(values.lowerBound, -limit), min(values.upperBound, limit))
    (low, high) = (min(low, limit), max(high, -limit))
    if high - low < 1e-9 * max(1, abs(low), abs(high)) {
      let room = max(abs(low) * 0.1, 0.5)
      (low, high) = (low - room, high + room)
    }
    let (step, decimals) = Self.step((high - low) / Double(max(count, 1)))
    self.decimals = decimals
    var first = (low / step).rounded(.up)
    var last = (high / step).rounded(.down)
    if !isTight {
      first = (low / step).rounded(.down)
      last = (high / step).rounded(.up)
      (low, high) = (first * step, last * step)
    }
    range = low...high
    let many = min(max(0, Int(last - first)), 100)
    marks = (0...many).map { (first + Double($0)) * step }
  }

  /// 1, 2 or 5 times a power of ten that is no less than `least`, and how many decimals it needs.
  private static func step(_ least: Double) -> (step: Double, decimals: Int) {
    var power = 1.0
    var decimals = 0
    while power > least, decimals < 12 {
      power /= 10
      decimals += 1
    }
    while power * 10 <= least { power *= 10 }
    for factor in [1.0, 2, 5] where power * factor >= least { return (power * factor, decimals) }
    return (power * 10, max(0, decimals - 1))
  }

  /// How far along the axis a value is, 0 to 1: values beyond it are at its ends, what is no number
  /// at its beginning.
  func share(_ value: Double) -> Double {
    let share = (value - range.lowerBound) / (range.upperBound - range.lowerBound)
    return share > 0 ? min(share, 1) : 0
  }

  func label(_ mark: Double) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (mark * scale).rounded()
    guard abs(scaled) < 1e15 else { return "\(mark)" }
    let whole = Int(scaled)
    let digits = String(whole.magnitude)
    guard decimals > 0 else { return whole < 0 ? "−\(digits)" : digits }
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let text = "\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    return whole < 0 ? "−\(text)" : text
  }
}
