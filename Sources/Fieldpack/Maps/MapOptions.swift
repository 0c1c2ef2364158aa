/// What a map says beside where its features are.
///
///     var options = ExportOptions()
///     options.map.label = "name"
///     options.map.color = "depth"
public struct MapOptions: Hashable, Sendable {
  /// How the borders of classes of numbers are found.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// As many features in each class.
    case quantile
    /// Ranges of one length.
    case equal
    /// The borders that make the values of each class the most alike (Jenks' natural breaks).
    case jenks
  }

  /// The column whose values stand beside the features, as far as no label overlaps another; the
  /// others are shown where the pointer rests.
  public var label: String?
  /// The column whose values colour the features: numbers in classes from light to dark, words in
  /// a colour each.
  public var color: String?
  /// How many classes numbers have, from 1 to 12.
  public var classes = 5
  public var method = Method.quantile
  /// The column of numbers that sizes points by their areas, and lines by their widths.
  public var size: String?

  public init() {}

  /// The columns that the options name.
  var columns: [String] { [label, color, size].compactMap(\.self) }
}
