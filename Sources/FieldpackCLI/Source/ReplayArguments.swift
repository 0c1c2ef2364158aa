import Fieldpack
import FieldpackCore

/// How fast the fixes of a file or layer are replayed.
struct ReplayArguments: OptionGroup {
  static let title: String? = "Replay options"

  let speed: ReplaySource.Speed
  let rate: Double?

  init(_ reader: inout OptionReader) {
    speed = reader.value(
      "speed", .speed, default: .max, shownAs: "max",
      help: "Replay at the pace of the times, 1x, or faster, 10x; max does not wait.")
    rate = reader.value(
      "rate", .number("n", atLeast: 0.001),
      help: "So many fixes a second at 1x, whatever their times; needed where fixes have no times.")
  }

  private init(speed: ReplaySource.Speed) {
    self.speed = speed
    rate = nil
  }

  /// Of commands that do not wait.
  static let unpaced = ReplayArguments(speed: .max)

  /// At the pace of the times.
  static let lifelike = ReplayArguments(speed: .times(1))

  /// Whether fixes wait for their time.
  var isPaced: Bool { speed != .max }
}

extension ValueForm where Value == ReplaySource.Speed {
  /// `1x`, `0.5x`, `10`, `max`.
  static var speed: ValueForm {
    ValueForm("speed", completion: .choices(["1x", "10x", "max"])) { (text) throws(ValueError) in
      if text == "max" { return .max }
      let digits = text.hasSuffix("x") ? text.dropLast() : text[...]
      guard let factor = Double(digits), factor > 0, factor <= 1e6 else {
        throw ValueError("is not a speed like 1x, 10x or max")
      }
      return .times(factor)
    }
  }
}
