import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// What `info` prints for people.
struct InfoText {
  let stores: [InfoCommand.StoreInfo]
  let forms: [FormConfig]
  let remote: RemoteConfig?
  /// What the user calls the source.
  let source: String
  /// The cells of a line; `nil` cuts nothing.
  let width: Int?
  let usesUnicode: Bool
  let showsColumns: Bool

  var text: String {
    var parts = stores.map { heading($0) + (showsColumns ? details($0) : overview($0)) }
    if parts.isEmpty { parts = ["no stores\n"] }
    return (parts + [formTable, backend].compactMap { $0 }).joined(separator: "\n")
  }

  private var formTable: String? {
    guard !forms.isEmpty else { return nil }
    let columns = [
      TableColumn("form"), TableColumn("label"), TableColumn("version", isNumeric: true),
      TableColumn("fields", isNumeric: true),
    ]
    return TextTable.text(
      columns, forms.map { [$0.key, $0.label, String($0.version), String($0.fields.count)] },
      width: width, usesUnicode: usesUnicode)
  }

  private var backend: String? {
    guard let remote else { return nil }
    let broker = remote.broker.map { ", broker \($0.host):\($0.port)" } ?? ""
    return DisplayText.visible("backend: \(StoreConfig.withoutSecrets(remote.uri))\(broker)") + "\n"
  }

  private func heading(_ store: InfoCommand.StoreInfo) -> String {
    let config = store.config
    let facts =
      [config.name == config.id.rawValue ? nil : config.name, config.typeIdentifier]
      .compactMap { $0 } + [config.folder == nil ? source : config.shownURI]
    let size = store.downloadedSize.map { ", downloaded: " + ProgressDisplay.amount($0) } ?? ""
    let state =
      switch store.state {
      case .open: "open"
      case .notDownloaded: "not downloaded"
      case .unreachable: "not reachable"
      case .failed: "failed"
      }
    var line = "\(config.id): \(state) (\(facts.joined(separator: ", "))\(size))"
    if let error = store.error {
      // The state says already what the message does.
      let advice = store.state == .notDownloaded ? error.advice : nil
      line += "\n  " + (advice.map { "Try: \(AdviceText.words($0))" } ?? error.text)
    }
    return line.split(separator: "\n", omittingEmptySubsequences: false)
      .map { DisplayText.visible($0) + "\n" }.joined()
  }

  // MARK: All layers

  private func overview(_ store: InfoCommand.StoreInfo) -> String {
    guard store.error == nil else { return "" }
    guard !store.layers.isEmpty else {
      return (store.extras.pyramids.isEmpty ? "no layers\n" : tiles(store.extras))
        + uncatalogued(store.extras)
    }
    let columns = [
      TableColumn("layer"), TableColumn("features", isNumeric: true), TableColumn("geometry"),
      TableColumn("SRS"), TableColumn("envelope"),
    ]
    return "\n"
      + TextTable.text(
        columns, store.layers.map(row), width: width, usesUnicode: usesUnicode)
      + tiles(store.extras) + uncatalogued(store.extras)
  }

  private func tiles(_ extras: StoreExtras) -> String {
    guard !extras.pyramids.isEmpty else { return "" }
    let columns = [
      TableColumn("tiles"), TableColumn("zoom"), TableColumn("SRS"), TableColumn("envelope"),
    ]
    let rows = extras.pyramids.map { pyramid in
      [
        pyramid.name.rawValue + (pyramid.kind == .tiles ? "" : " (gridded coverage)"),
        pyramid.zoomText, pyramid.srs.isUndefined ? "undefined" : pyramid.srs.description,
        pyramid.bounds.isEmpty ? "" : Self.box(pyramid.bounds),
      ]
    }
    return "\n" + TextTable.text(columns, rows, width: width, usesUnicode: usesUnicode)
  }

  private func uncatalogued(_ extras: StoreExtras) -> String {
    guard !extras.uncatalogued.isEmpty else { return "" }
    return "\n"
      + TextTable.text(
        [TableColumn("in no catalogue")], extras.uncatalogued.map { [$0] }, width: width,
        usesUnicode: usesUnicode)
  }

  private func row(_ layer: Layer) -> [String] {
    [
      layer.id.rawValue, layer.featureCount.map(String.init) ?? "",
      layer.schema.geometry.map(Self.type) ?? "none", Self.system(layer, separator: " "),
      layer.envelope.map(Self.box) ?? "",
    ]
  }

  private static func type(_ geometry: GeometryColumn) -> String {
    func letter(_ rule: OrdinateRule, _ name: String) -> String {
      switch rule {
      case .prohibited: ""
      case .mandatory: name
      case .optional: "[\(name)]"
      }
    }
    let letters = letter(geometry.z, "Z") + letter(geometry.m, "M")
    return geometry.type.name + (letters.isEmpty ? "" : " " + letters)
  }

  private static func system(_ layer: Layer, separator: String) -> String {
    guard let srs = layer.schema.geometry?.srs else { return "" }
    if srs.isUndefined { return srs == .undefinedGeographic ? "undefined geographic" : "undefined" }
    let name = layer.srsName ?? ""
    let epoch = layer.schema.geometry?.epoch.map { ", epoch \($0)" } ?? ""
    return (name.isEmpty ? srs.description : "\(srs)\(separator)\(name)") + epoch
  }

  /// As `--bbox` takes it, rounded outwards.
  static func box(_ envelope: Envelope) -> String {
    let largest = [envelope.minX, envelope.minY, envelope.maxX, envelope.maxY]
      .reduce(0) { max($0, abs($1)) }
    let digits = largest < 1000 ? 6 : 2
    let power = digits == 6 ? 1e6 : 1e2
    let low = [envelope.minX, envelope.minY].map { ($0 * power).rounded(.down) / power }
    let high = [envelope.maxX, envelope.maxY].map { ($0 * power).rounded(.up) / power }
    return (low + high).map { Decimals.short($0, digits: digits) }.joined(separator: ",")
  }

  // MARK: One layer

  private func details(_ store: InfoCommand.StoreInfo) -> String {
    store.layers.map { layer in
      "\n" + facts(layer, store.extras) + "\n" + columns(layer.schema)
        + (store.statistics[layer.id].map { statistics($0) } ?? "")
    }.joined()
  }

  private func statistics(_ statistics: LayerStatistics) -> String {
    StatisticsText(statistics: statistics, width: width ?? 80, usesUnicode: usesUnicode).text
  }

  private func facts(_ layer: Layer, _ extras: StoreExtras) -> String {
    let schema = layer.schema
    var facts: [(String, String)] = [("layer", layer.id.rawValue), ("kind", layer.kind.rawValue)]
    if let title = layer.title, title != layer.id.rawValue { facts.append(("title", title)) }
    if let text = layer.description, !text.isEmpty { facts.append(("description", text)) }
    facts.append(("features", layer.featureCount.map(String.init) ?? "unknown"))
    if let geometry = schema.geometry {
      facts.append(("geometry", "\(Self.type(geometry)) in column \(geometry.name)"))
      facts.append(("SRS", Self.system(layer, separator: ", ")))
      facts.append(("envelope", layer.envelope.map(Self.box) ?? "none"))
      facts.append(("index", layer.hasSpatialIndex ? "R-tree" : "none"))
    }
    if layer.isView { facts.append(("view", "yes, its features cannot be changed")) }
    let relations = extras.relations(at: layer.id)
    for relation in relations.from {
      facts.append(
        ("relation", "to \(relation.related) as \(relation.kind), links in \(relation.mapping)"))
    }
    for relation in relations.to {
      facts.append(
        ("relation", "from \(relation.base) as \(relation.kind), links in \(relation.mapping)"))
    }
    let documents = extras.metadataCount(of: layer.id)
    if documents > 0 {
      facts.append(("metadata", documents == 1 ? "1 document" : "\(documents) documents"))
    }
    for note in layer.notes { facts.append(("note", note.line)) }
    return facts.map {
      DisplayText.visible(DisplayText.pad($0.0, to: 12) + $0.1) + "\n"
    }.joined()
  }

  private func columns(_ schema: Schema) -> String {
    var rows: [[String]] = []
    if let id = schema.idColumn { rows.append([id, "", "feature id"]) }
    if let geometry = schema.geometry {
      rows.append([geometry.name, geometry.type.name, "geometry"])
    }
    rows += schema.columns.map { [$0.name, $0.type.title, Self.remarks($0)] }
    return TextTable.text(
      [TableColumn("column"), TableColumn("type"), TableColumn("remarks")], rows, width: width,
      usesUnicode: usesUnicode)
  }

  private static func remarks(_ column: ColumnDefinition) -> String {
    var remarks: [String] = []
    if !column.isNullable { remarks.append("not null") }
    if column.isUnique { remarks.append("unique") }
    if let value = column.defaultSQL { remarks.append("default \(value)") }
    if column.isGenerated { remarks.append("generated") }
    if column.isPrimaryKey { remarks.append("primary key") }
    if column.isSourceID { remarks.append("id of the source") }
    if let constraint = column.constraint { remarks.append(constraint.summary) }
    if let title = column.title, title != column.name { remarks.append(title) }
    if let text = column.description, !text.isEmpty { remarks.append(text) }
    return remarks.joined(separator: ", ")
  }
}
