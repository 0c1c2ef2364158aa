package import FieldpackCore

/// One look that features of a layer have, with its name in the legend.
package struct MapSymbol: Hashable, Sendable {
  package enum Paint: Hashable, Sendable {
    /// A colour that nothing else on the map has; the same one for all symbols of a `key`.
    case automatic(key: String?)
    /// The next colour of a ramp from light to dark.
    case ramp
    /// The gray of what belongs to no class.
    case other
    case style(LayerStyle)
  }

  package var label: String
  package var paint: Paint

  package init(_ label: String, _ paint: Paint) {
    self.label = label
    self.paint = paint
  }
}

/// What a map shows of one feature beside its geometry.
package struct MapMark: Hashable, Sendable {
  /// Which of the layer's symbols the feature has.
  package var symbol = 0
  /// How large the feature is drawn, from 0 to 1; `nil` is the size of all.
  package var share: Double?
  package var label: String?
  /// The values that a page shows on a click, as the layer's columns.
  package var attributes: [Value]?

  package init() {}

  var isPlain: Bool { share == nil && label == nil && attributes == nil }
}

/// A column whose values are sizes, and some of them for the legend.
package struct MapSizes: Hashable, Sendable {
  package var name: String
  package var samples: [Sample]

  package struct Sample: Hashable, Sendable {
    package var share: Double
    package var label: String

    package init(share: Double, label: String) {
      self.share = share
      self.label = label
    }
  }

  package init(name: String, samples: [Sample]) {
    self.name = name
    self.samples = samples
  }

  /// The radius of a point in pixels: areas grow with the value.
  static func radius(_ share: Double?) -> Double {
    guard let share, share.isFinite else { return 3.5 }
    return (2.5 * 2.5 + (14.0 * 14 - 2.5 * 2.5) * max(0, min(1, share))).squareRoot()
  }

  /// The width of a line in pixels.
  static func width(_ share: Double) -> Double {
    share.isFinite ? 1 + 7 * max(0, min(1, share)) : 1
  }
}
