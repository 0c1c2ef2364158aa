import Fieldpack
import FieldpackCore

/// How fast the fixes of a file or layer are replayed.
enum ReplayArguments {
  static let speedForm = ValueForm<ReplaySource.Speed>(
    "speed", completion: .choices(["1x", "10x", "max"])
  ) { (text) throws(ValueError) in try read(text) }
  static let speed = Option<ReplaySource.Speed>.value(
    "speed", speedForm, default: .max, shownAs: "max",
    help: "Replay at the pace of the times, 1x, or faster, 10x; max does not wait.")
  static let rate = Option<Double?>.value(
    "rate", .number("n", atLeast: 0.001),
    help: "Fixes a second at 1x, whatever their times; needed at a pace where there are none.")

  static let group = OptionGroup("Replay options", [speed, rate])

  static func options(_ arguments: ParsedArguments) -> ReplaySource.Options {
    ReplaySource.Options(speed: arguments[speed], rate: arguments[rate])
  }

  /// `1x`, `0.5x`, `10`, `max`.
  private static func read(_ text: String) throws(ValueError) -> ReplaySource.Speed {
    if text == "max" { return .max }
    let digits = text.hasSuffix("x") ? text.dropLast() : text[...]
    guard let factor = Double(digits), factor > 0, factor <= 1e6 else {
      throw ValueError("is not a speed like 1x, 10x or max")
    }
    return .times(factor)
  }
}
