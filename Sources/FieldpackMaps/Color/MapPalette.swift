import FieldpackCore

/// Gives colours that readers tell apart, colour-blind readers as well, and none of them twice.
struct MapPalette {
  /// After Okabe and Ito, "Color Universal Design", without what a white or a dark ground swallows.
  private static let preferred = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
  ].compactMap(StyleColor.init)
  /// Two colours that are nearer than this are easily taken for each other.
  private static let least = 0.07
  /// Of what has no class of its own.
  static let other = StyleColor(red: 0x88, green: 0x88, blue: 0x88)

  private var taken: Set<StyleColor> = []
  private var seen: [Seen] = []
  /// The distance of each candidate to the nearest colour that is taken.
  private var distances = [Double](repeating: .infinity, count: candidates.count)
  private var rampCount = 0

  /// Says that a colour is on the map, so that it is not given as well.
  mutating func take(_ color: StyleColor) {
    let color = StyleColor(red: color.red, green: color.green, blue: color.blue)
    guard taken.insert(color).inserted else { return }
    let new = Seen(color)
    seen.append(new)
    for index in Self.candidates.indices {
      distances[index] = min(distances[index], Self.candidates[index].distance(to: new))
    }
  }

  /// The next colour, which nothing else on the map has.
  mutating func next() -> StyleColor {
    let color = free(Self.preferred.first { distance(of: $0) >= Self.least } ?? farthest)
    take(color)
    return color
  }

  /// Colours from light to dark for classes of numbers, of hues that no other classes have.
  mutating func ramp(_ count: Int) -> [StyleColor] {
    let hues: [(Double, Double)] = [(105, 275), (80, 5), (200, 310), (140, 200)]
    let (from, to) = hues[rampCount % hues.count]
    rampCount += 1
    return (0..<count).map { index in
      let share = count > 1 ? Double(index) / Double(count - 1) : 0.6
      let color = free(
        OKLab(
          lightness: 0.84 - 0.44 * share, chroma: 0.15, hue: from + (to - from) * share
        ).shown)
      take(color)
      return color
    }
  }

  private func distance(of color: StyleColor) -> Double {
    let color = Seen(color)
    return seen.map { $0.distance(to: color) }.min() ?? .infinity
  }

  private var farthest: StyleColor {
    var best = 0
    for index in distances.indices where distances[index] > distances[best] { best = index }
    return Self.candidates[best].color
  }

  /// The colour itself, or the next one by its numbers that is not taken.
  private func free(_ color: StyleColor) -> StyleColor {
    var color = color
    while taken.contains(color) {
      color.blue &+= 5
      if color.blue < 5 { color.green &+= 3 }
    }
    return color
  }

  /// Of a lightness that stands out on a white ground and on a dark one.
  private static let candidates: [Seen] = [0.48, 0.56, 0.64, 0.7].flatMap { lightness in
    [0.06, 0.14].flatMap { chroma in
      stride(from: 0.0, to: 360, by: 15).map { hue in
        Seen(OKLab(lightness: lightness, chroma: chroma, hue: hue).shown)
      }
    }
  }

  /// A colour as readers see it.
  private struct Seen {
    let color: StyleColor
    let visions: [OKLab]

    init(_ color: StyleColor) {
      self.color = color
      let light = LinearRGB(color)
      visions = [OKLab(light)] + light.asColorBlindReadersSee.map(OKLab.init)
    }

    /// For the reader who sees the least of it.
    func distance(to other: Seen) -> Double {
      zip(visions, other.visions).map { $0.distance(to: $1) }.min() ?? 0
    }
  }
}

extension StyleColor {
  /// The colour that stands for this one on a dark ground; `nil` where it stands out there itself.
  var onDark: StyleColor? {
    var lab = OKLab(self)
    guard lab.lightness < 0.5 else { return nil }
    lab.lightness = 0.82 - lab.lightness * 0.4
    var color = lab.shown
    color.opacity = opacity
    return color
  }
}
