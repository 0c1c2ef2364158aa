import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// What the values of a column are, as far as a map's colours and sizes depend on it.
struct ColumnSurvey {
  /// Words beyond so many are not counted: they would have no colour anyway.
  private static let mostWords = 20_000

  private(set) var numbers: [Double] = []
  private(set) var words: [String: Int] = [:]
  /// The styles of features that have their own.
  private(set) var styles: [LayerStyle: Int] = [:]

  mutating func add(_ value: Value) {
    switch value {
    case .null: return
    case .integer(let number): numbers.append(Double(number))
    case .real(let number): if number.isFinite { numbers.append(number) }
    default: break
    }
    guard let word = Self.word(value) else { return }
    if words.count < Self.mostWords || words[word] != nil { words[word, default: 0] += 1 }
  }

  mutating func add(_ style: LayerStyle?) {
    guard let style else { return }
    if styles.count < Self.mostWords || styles[style] != nil { styles[style, default: 0] += 1 }
  }

  /// The value as a word; `nil` for numbers and where there is none.
  static func word(_ value: Value) -> String? {
    switch value {
    case .null, .integer, .real: nil
    case .text(let text): text
    case .boolean(let value): value ? "true" : "false"
    case .blob: "binary"
    case .date(let date): "\(date)"
    case .dateTime(let time): "\(time)"
    }
  }

  static func number(_ value: Value) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number.isFinite ? number : nil
    default: nil
    }
  }

  var isNumeric: Bool { words.isEmpty && !numbers.isEmpty }

  /// The most frequent words in alphabetical order, and how many others there are.
  func commonWords(most: Int) -> (words: [String], others: Int) {
    let ranked = words.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return (ranked.prefix(most).map(\.key).sorted(), max(0, ranked.count - most))
  }
}

/// What is known of all features before the first is drawn.
struct MapSurvey {
  var extent: MapExtent
  /// The colours' column of each layer; `nil` where a layer has none.
  var colors: [ColumnSurvey?]
  /// The least and the greatest size of all layers.
  var sizes: ClosedRange<Double>?

  init(_ scene: MapScene, _ themes: [MapThemePlan], _ options: MapOptions)
    async throws(FieldpackError)
  {
    extent = MapExtent(isGeographic: scene.isGeographic)
    let ownColors = themes.map { if case .ownColors = $0 { true } else { false } }
    colors = zip(themes, ownColors).map { $0.column == nil && !$1 ? nil : ColumnSurvey() }
    var sizes: ClosedRange<Double>?
    _ = try await scene.eachBatch { (batch, number) throws(FieldpackError) in
      extent.add(batch)
      let schema = batch.schema
      if let number, let column = themes[number].column.flatMap({ schema.columnIndex($0) }) {
        let type = schema.columns[column].type
        for index in 0..<batch.count {
          colors[number]?.add(batch[index].value(at: column, of: type))
        }
      }
      if let number, ownColors[number] {
        for index in 0..<batch.count {
          colors[number]?.add(FeatureStyle.style(of: batch[index], schema))
        }
      }
      guard let column = options.size.flatMap({ schema.columnIndex($0) }) else { return }
      for index in 0..<batch.count {
        guard let value = ColumnSurvey.number(batch[index].stored(at: column)) else { continue }
        sizes = min(sizes?.lowerBound ?? value, value)...max(sizes?.upperBound ?? value, value)
      }
    }
    self.sizes = sizes
  }

  /// How large a value is drawn: areas grow with it, from 0 where no value is negative.
  func share(_ value: Double?) -> Double? {
    guard let sizes, let value else { return sizes == nil ? nil : 0 }
    let least = min(0, sizes.lowerBound)
    let range = sizes.upperBound - least
    return range > 0 && range.isFinite ? (value - least) / range : 1
  }

  /// The sizes that the legend shows.
  func samples(_ name: String) -> MapSizes? {
    guard let sizes else { return nil }
    let range = sizes.upperBound - sizes.lowerBound
    var values = [sizes.lowerBound, sizes.lowerBound + range / 2, sizes.upperBound]
    if !(range > 0 && range.isFinite) { values = [sizes.upperBound] }
    return MapSizes(
      name: name,
      samples: values.map {
        .init(share: share($0) ?? 0, label: NumberName.text($0, in: range))
      })
  }
}
