package import FieldpackCore
import FieldpackSQLite

extension GeoPackageSnapshot {
  /// The log of a layer that has to have one.
  ///
  /// - Returns: the log, and whether all edits are in it: whether its triggers are those of the layer.
  /// - Throws: `.notFound` where the layer is not logged, `.unsupported` for a log of SpatialConnect or
  ///   GeoGig, `.invalidData` for a log that lacks columns of the layer.
  package func existingLog(
    of layer: LayerID
  ) throws(FieldpackError) -> (log: EditLog, isCurrent: Bool) {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    let id = table.layer.id
    func refused(_ code: FieldpackError.Code, _ what: String) -> FieldpackError {
      FieldpackError(
        code, what, advice: .logEdits(file: file.path, layer: id.rawValue),
        location: .init(store: file.store, layer: id))
    }
    guard let log = try EditLog(of: table.table, in: file) else {
      guard try isOlderLog(of: table) else {
        throw refused(.notFound, "the edits of layer '\(id)' are not logged")
      }
      throw refused(
        .unsupported,
        "the change log of layer '\(id)' is one of SpatialConnect or GeoGig, and not upgraded")
    }
    guard try log.hasAllColumns() else {
      throw refused(
        .invalidData,
        "the change log of layer '\(id)' lacks columns of the layer, which another program changed")
    }
    return (log, try log.isCurrent())
  }

  /// The layers whose logs SpatialConnect or GeoGig made, and nobody has upgraded.
  package func layersWithOlderLogs() throws(FieldpackError) -> [LayerID] {
    var layers: [LayerID] = []
    for table in try file.catalogue().layers {
      guard try EditLog(of: table.table, in: file) == nil, try isOlderLog(of: table) else {
        continue
      }
      layers.append(table.layer.id)
    }
    return layers
  }

  /// The layers whose logs may lack edits, because another program changed the layer or the log.
  package func staleLogs() throws(FieldpackError) -> [LayerID] {
    var layers: [LayerID] = []
    for layer in try loggedLayers() {
      if try editLog(of: layer)?.isCurrent() == false { layers.append(layer) }
    }
    return layers
  }

  private func isOlderLog(of table: LayerTable) throws(FieldpackError) -> Bool {
    guard !table.layer.isView, let shape = try LogShape(of: table.table, in: file),
      try file.hasTable(shape.log)
    else { return false }
    return (try? OlderLog(of: shape, in: file)) != nil
  }

  /// The values of an edit for the columns of its log.
  package func values(
    of edit: LoggedEdit, in log: EditLog
  ) throws(FieldpackError) -> [Value] {
    let columns = try file.catalogue().layer(log.layer)?.schema.columns ?? []
    let flags = Set(columns.filter { $0.type == .boolean }.map { SQLName($0.name) })
    return zip(log.columns, edit.values).map { name, value in
      guard let number = value.integerValue, flags.contains(SQLName(name)) else {
        return Value(value)
      }
      return .boolean(number != 0)
    }
  }

  /// The number by which the log knows a feature; `nil` where the log has no edit of it.
  ///
  /// - Parameter id: the feature's id; of a layer with ids of text also its number.
  package func number(
    of id: FeatureID, in log: EditLog
  ) throws(FieldpackError) -> Int64? {
    let column = try file.catalogue().layer(log.layer)?.textID
    if let column {
      let text = "\(id)"
      if let known = try log.feature(whose: column, is: text) { return known }
    }
    guard case .integer(let number) = id else { return nil }
    return try log.last(of: number) == nil ? nil : number
  }
}

extension EditLog {
  /// The feature that last had a text in a column.
  func feature(whose column: String, is text: String) throws(FieldpackError) -> Int64? {
    try file.integer(
      "SELECT \(shape.feature) FROM \(quoted(shape.log)) WHERE \(quoted(column)) = ? "
        + "ORDER BY \(shape.own(.number)) DESC LIMIT 1", [.text(text)])
  }
}
