import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// What a request asks of the features of a collection.
struct ItemsRequest: Sendable {
  let layer: ServedLayer
  /// The condition, without that of the cursor.
  var filter = Filter.all
  var order: [Order] = []
  /// `nil` for all columns.
  var properties: [String]?
  /// `nil` where none was asked for.
  var limit: Int?
  var offset = 0
  var cursor: PageCursor?
  var crs = CRSName.crs84
  /// Whether the request names the system.
  private(set) var isInAskedSystem = false
  /// Whether the system has latitude or northing first.
  var swapsAxes = false
  /// The boxes that features without geometry meet, too; kept apart, because an R-tree cannot find them.
  var box: Filter?

  /// Reads the parameters of a query.
  ///
  /// - Parameter maximum: the largest page.
  /// - Throws: `.invalidArgument`.
  init(
    _ query: [ServerRequest.Parameter], of layer: ServedLayer, maximum: Int,
    by axes: CRSAxes
  ) throws(FieldpackError) {
    self.layer = layer
    try ServerOperation.getItems.check(query, in: layer)
    // A client may repeat a parameter of a link: the last counts.
    var values: [String: String] = [:]
    for parameter in query { values[parameter.name] = parameter.value }
    func value(_ parameter: QueryParameter) -> String? { values[parameter.rawValue] }
    limit = try Self.number(value(.limit), .limit, from: 1).map { min($0, maximum) }
    offset = try Self.number(value(.offset), .offset, from: 0) ?? 0
    try read(crs: value(.crs), by: axes)
    if let text = value(.bbox) {
      box = try BoxParameter.filter(text, crs: value(.bboxCRS), of: layer, by: axes)
    } else if let text = value(.bboxCRS) {
      _ = try axes.isNorthFirst(try BoxParameter.system(text), for: layer)
    }
    if let text = value(.datetime) {
      filter = filter && (try DatetimeParameter.filter(text, of: layer))
    }
    if let text = value(.filter) {
      filter =
        filter
        && (try FilterParameter.filter(
          text, language: value(.filterLanguage), crs: value(.filterCRS), of: layer, by: axes))
    }
    if value(.filter) == nil, let text = value(.filterCRS) {
      _ = try axes.isNorthFirst(try BoxParameter.system(text), for: layer)
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard QueryParameter(rawValue: name) == nil, let column = layer.parameterColumn(name) else {
        continue
      }
      filter = filter && (try Self.comparison(column, value, of: layer))
    }
    if let text = value(.sortBy) { order = try Self.order(text, of: layer) }
    if let text = value(.properties) { properties = try Self.columns(text, of: layer) }
    if let text = value(.after) { cursor = try PageCursor(text, order: order, of: layer) }
  }

  /// A request for features in a reference system, by its name; `nil` is CRS84.
  ///
  /// - Throws: `.invalidArgument`.
  init(crs: String?, of layer: ServedLayer, by axes: CRSAxes) throws(FieldpackError) {
    self.layer = layer
    try read(crs: crs, by: axes)
  }

  private mutating func read(
    crs text: String?, by axes: CRSAxes
  ) throws(FieldpackError) {
    guard let text else { return }
    let name = try BoxParameter.system(text)
    // Positions of a system without an authority code cannot be transformed.
    guard layer.systems.contains(name) || layer.storageCRS != nil else {
      throw FieldpackError(
        .invalidArgument, "collection '\(layer.collectionID)' is not given in the system '\(text)'")
    }
    swapsAxes = try axes.isNorthFirst(name, for: layer)
    crs = name
    isInAskedSystem = true
  }

  private static func number(
    _ text: String?, _ parameter: QueryParameter, from least: Int
  ) throws(FieldpackError) -> Int? {
    guard let text else { return nil }
    guard let number = Int(text), number >= least else {
      throw FieldpackError(
        .invalidArgument, "\(parameter.rawValue) is no integer of \(least) or more: '\(text)'")
    }
    return number
  }

  private static func comparison(
    _ column: String, _ text: String, of layer: ServedLayer
  ) throws(FieldpackError) -> Filter {
    let type = layer.valueType(of: column)
    guard let value = Value.text(text).converted(to: type) else {
      throw FieldpackError(.invalidArgument, "'\(text)' is no value of '\(column)'")
    }
    return .compare(.column(column), .equal, .literal(value))
  }

  private static func order(
    _ text: String, of layer: ServedLayer
  ) throws(FieldpackError) -> [Order] {
    var order: [Order] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let isDescending = part.first == "-"
      let name = part.first == "-" || part.first == "+" ? part.dropFirst() : part
      order.append(
        Order(
          try column(String(name), of: layer.sortableProperties, "sorted by", layer),
          descending: isDescending))
    }
    return order
  }

  static func columns(
    _ text: String, of layer: ServedLayer
  ) throws(FieldpackError) -> [String] {
    var names: [String] = []
    for part in text.split(separator: ",") {
      names.append(try column(String(part), of: layer.properties, "given", layer))
    }
    return names
  }

  private static func column(
    _ name: String, of properties: [LayerProperty], _ use: String, _ layer: ServedLayer
  ) throws(FieldpackError) -> String {
    let known = properties.map(\.name)
    if let exact = known.first(where: { $0.utf8.elementsEqual(name.utf8) }) { return exact }
    if let folded = known.first(where: { SQLName($0) == SQLName(name) }) { return folded }
    throw FieldpackError(
      .invalidArgument,
      "collection '\(layer.collectionID)' has no property '\(name)' that could be \(use)"
        + NearNames.question(name, in: known))
  }

  /// Whether the request asks for the whole layer, as it is stored.
  var isWhole: Bool {
    filter == .all && box == nil && properties == nil && limit == nil && offset == 0
      && cursor == nil && (layer.schema.geometry == nil || layer.schema.geometry?.srs == crs.srs)
  }

  /// The query for rows from the cursor on.
  func query(limit: Int?, box: Filter?) -> Query {
    var condition = box.map { $0 && filter } ?? filter
    if let cursor, let id = layer.schema.idColumn {
      condition = condition && cursor.filter(order, id: id)
    }
    var query = Query(layers: [layer.id], where: condition)
    if let properties {
      let columns = layer.schema.columns.map(\.name)
      query = query.select(properties.filter(columns.contains))
    }
    if !order.isEmpty { query = query.order(by: order) }
    if layer.schema.geometry?.srs != crs.srs, layer.storageCRS != nil {
      query = query.transformed(to: crs.srs)
    }
    if let limit { query = query.limit(limit) }
    return offset > 0 && cursor == nil ? query.offset(offset) : query
  }
}

extension ServedLayer {
  /// The type of a column's values, or of the ids where the layer has no such column.
  func valueType(of column: String) -> ColumnType {
    if let index = schema.columnIndex(column) { return schema.columns[index].type }
    return hasTextIDs ? .text() : .integer
  }

  /// The name of the feature id, where `name` is that.
  func idName(_ name: String) -> String? {
    guard let id = schema.idColumn, SQLName(id) == SQLName(name) else { return nil }
    return id
  }
}
