import FieldpackCore
import FieldpackField
import FieldpackFormats
import FieldpackMaps

/// How the features of a layer get their symbols, before their values are known.
enum MapThemePlan {
  /// All features alike.
  case plain(LayerStyle?)
  /// By a column that the user names, or by the devices of tracks.
  case column(String, key: String)
  /// Detections by what happened.
  case kinds(String)
  /// As QGIS draws them.
  case stored(QGISStyle)
  /// Each feature in the colours that its columns name.
  case ownColors

  var column: String? {
    switch self {
    case .plain, .ownColors: nil
    case .column(let name, _), .kinds(let name): name
    case .stored(let style): style.attribute
    }
  }

  init(_ target: ExportTarget, _ options: MapOptions, stored: QGISStyle?) {
    let schema = target.schema
    if let name = options.color, schema.columnIndex(name) != nil {
      self = .column(name, key: "\(target.store)/\(target.layer)")
    } else if let style = schema.style {
      self = .plain(style)
    } else if let stored, stored.attribute.map({ schema.columnIndex($0) != nil }) ?? true {
      self = .stored(stored)
    } else if let kind = FieldDrawing.kindColumn(of: schema) {
      self = .kinds(kind)
    } else if let device = FieldDrawing.deviceColumn(of: schema) {
      self = .column(device, key: "device")
    } else if !FeatureStyle.columns(of: schema).isEmpty {
      self = .ownColors
    } else {
      self = .plain(FieldDrawing.style(of: target.layer))
    }
  }
}

/// The symbols of a layer, and which of them a feature has.
struct MapTheme {
  /// Words beyond so many share one colour.
  private static let mostWords = 12
  /// Styles of features beyond so many are not drawn.
  private static let mostStyles = 100

  private(set) var heading: String?
  private(set) var symbols: [MapSymbol] = []
  private let column: String?
  private var classes: NumberClasses?
  private var numbers: [String: Int] = [:]
  private var stored: QGISStyle?
  private var ownStyles: [LayerStyle: Int]?
  private var rest = 0

  /// - Parameter survey: of the plan's column.
  init(
    _ plan: MapThemePlan, _ survey: ColumnSurvey?, name: String, layer: LayerID,
    _ options: MapOptions
  ) {
    column = plan.column
    let survey = survey ?? ColumnSurvey()
    switch plan {
    case .plain(let style): addPlain(name, style)
    case .kinds: addKinds(survey, name, layer)
    case .ownColors: addOwnStyles(survey, name)
    case .column(let column, let key):
      // One device is no news.
      if key == "device", survey.words.count < 2 {
        addPlain(name, FieldDrawing.style(of: layer))
        return
      }
      heading = "\(name): \(column)"
      if survey.isNumeric { addClasses(survey, options) } else { addWords(survey, key: key) }
    case .stored(let style):
      heading = style.attribute.map { "\(name): \($0)" }
      stored = style
      symbols = style.entries.map { entry in
        MapSymbol(entry.label.isEmpty ? name : entry.label, .style(entry.style))
      }
      addRest(of: name)
    }
  }

  private mutating func addPlain(_ name: String, _ style: LayerStyle?) {
    symbols = [MapSymbol(name, style.map { .style($0) } ?? .automatic(key: nil))]
  }

  /// The style that most features have comes first.
  private mutating func addOwnStyles(_ survey: ColumnSurvey, _ name: String) {
    func label(_ style: LayerStyle) -> String { "\(name): \(style.strokeColor?.hex ?? "")" }
    let ranked = survey.styles.sorted {
      ($1.value, label($0.key), $0.key.order) < ($0.value, label($1.key), $1.key.order)
    }
    var numbers: [LayerStyle: Int] = [:]
    for (style, _) in ranked.prefix(Self.mostStyles) {
      numbers[style] = symbols.count
      symbols.append(MapSymbol(ranked.count == 1 ? name : label(style), .style(style)))
    }
    ownStyles = numbers
    rest = symbols.count
    symbols.append(MapSymbol(name, .automatic(key: nil)))
  }

  private mutating func addKinds(_ survey: ColumnSurvey, _ name: String, _ layer: LayerID) {
    // A file with any number of kinds is none of ours.
    for kind in survey.commonWords(most: Self.mostWords).words {
      numbers[kind] = symbols.count
      symbols.append(symbol(kind, name, layer))
    }
    rest = symbols.count
    symbols.append(symbol("other", name, layer))
  }

  private func symbol(_ kind: String, _ name: String, _ layer: LayerID) -> MapSymbol {
    let style = FieldDrawing.style(of: layer, kind: kind)
    return MapSymbol("\(name): \(kind)", style.map { .style($0) } ?? .other)
  }

  private mutating func addClasses(_ survey: ColumnSurvey, _ options: MapOptions) {
    let method = NumberClasses.Method(rawValue: options.method.rawValue) ?? .quantile
    classes = NumberClasses(survey.numbers, count: options.classes, by: method)
    symbols = classes?.names.map { MapSymbol($0, .ramp) } ?? []
    addRest(of: "no value")
  }

  private mutating func addWords(_ survey: ColumnSurvey, key: String) {
    let (words, others) = survey.commonWords(most: Self.mostWords)
    for word in words {
      numbers[word] = symbols.count
      symbols.append(
        MapSymbol(word.isEmpty ? "(empty)" : word, .automatic(key: "\(key)\u{0}\(word)")))
    }
    addRest(of: others == 0 ? "no value" : "\(others) others, and no value")
  }

  private mutating func addRest(of name: String) {
    rest = symbols.count
    symbols.append(MapSymbol(name, .other))
  }

  /// Which symbol a row of a batch has.
  func symbol(of row: FeatureBatch.Row, _ schema: Schema) -> Int {
    if let ownStyles {
      return FeatureStyle.style(of: row, schema).flatMap { ownStyles[$0] } ?? rest
    }
    if let stored, stored.attribute == nil { return stored.entries.isEmpty ? rest : 0 }
    guard let column, symbols.count > 1, let index = schema.columnIndex(column) else { return 0 }
    let value = row.value(at: index, of: schema.columns[index].type)
    if let stored { return stored.entry(for: value) ?? rest }
    if let classes {
      return ColumnSurvey.number(value).flatMap { classes.index(of: $0) } ?? rest
    }
    if let word = ColumnSurvey.word(value) { return numbers[word] ?? rest }
    return rest
  }
}

extension LayerStyle {
  /// A text that puts styles of one line colour in an order.
  fileprivate var order: String {
    let colors = [fillColor, iconColor].map { $0?.description ?? "" }
    return "\(colors) \(strokeWidth ?? 0) \(strokeOpacity ?? 0) \(fillOpacity ?? 0)"
  }
}
