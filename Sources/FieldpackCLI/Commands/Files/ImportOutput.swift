import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// What an import says it did.
struct ImportOutput {
  let report: ImportReport
  let target: String
  private let store: StoreID

  /// - Parameter store: the store of a config; `nil` is that of a GeoPackage.
  init(report: ImportReport, target: String, store: StoreID? = nil) {
    self.report = report
    self.target = target
    self.store = store ?? FileImport.storeID(of: target)
  }

  // MARK: For people

  func text(for terminal: Terminal) -> String {
    let done = report.isDryRun ? "would be imported into" : "imported into"
    var text = "\(Self.features(report.count)) \(done) \(DisplayText.visible(target))"
    if report.updatedCount > 0 {
      let created = report.count - report.updatedCount
      text += ": \(created) new, \(report.updatedCount) changed"
    }
    text += "\n"
    let columns = [
      TableColumn("layer"), TableColumn("features", isNumeric: true), TableColumn("ids"),
      TableColumn("geometry"), TableColumn("SRS"), TableColumn("from"),
    ]
    if !report.layers.isEmpty {
      text +=
        "\n"
        + TextTable.text(
          columns, report.layers.map(row), width: terminal.cutWidth,
          usesUnicode: terminal.usesUnicode)
    }
    return text + skipped
  }

  private func row(_ layer: LoadedLayer) -> [String] {
    let sources = report.imported.filter { $0.layer == layer.layer }
    let types = sources.compactMap(\.schema.geometry?.type)
    let type = types.first.map { types.reduce($0, GeometryType.holding) }
    let ids: String =
      if let range = layer.ids {
        range.lowerBound == range.upperBound
          ? "\(range.lowerBound)"
          : "\(range.lowerBound)\(layer.areConsecutive ? "-" : " … ")\(range.upperBound)"
      } else { "" }
    return [
      layer.layer.rawValue, "\(layer.count)", ids, type?.name ?? "none",
      layer.srs.map { $0.isUndefined ? "undefined" : $0.description } ?? "",
      sources.count > 3
        ? "\(sources.count) files" : sources.map(\.file).joined(separator: ", "),
    ]
  }

  private var skipped: String {
    guard report.skipped.count > 0 else { return "" }
    var text = "\n\(Self.features(report.skipped.count)) skipped:\n"
    for feature in report.skipped.listed { text += "  \(DisplayText.visible(feature.line))\n" }
    let more = report.skipped.count - report.skipped.listed.count
    return more > 0 ? text + "  and \(more) more\n" : text
  }

  /// What goes to standard error.
  var notes: [Note] { report.notes + report.transformations.map { Note("transformed \($0.line)") } }

  private static func features(_ count: Int) -> String { count.counting("feature") }

  // MARK: For programs

  var document: JSONValue {
    [
      "target": .text(target), "store": .text(store.rawValue),
      "is_dry_run": .boolean(report.isDryRun),
      "count": JSONValue(report.count), "updated_count": JSONValue(report.updatedCount),
      "layers": .array(report.layers.map(document)),
      "files": .array(report.imported.map(document)),
      "skipped": JSONValue(report.skipped),
      "notes": JSONValue(report.notes),
      "transformations": .array(report.transformations.map { JSONValue($0) }),
    ]
  }

  private func document(_ layer: LoadedLayer) -> JSONValue {
    [
      "layer": .text(layer.layer.rawValue), "count": JSONValue(layer.count),
      "renumbered_count": JSONValue(layer.renumberedCount),
      "keys": keys(of: layer),
    ]
  }

  /// The key tuples made: the first and the last where the ids between them are all taken, else
  /// each of them, up to a number.
  private func keys(of layer: LoadedLayer) -> JSONValue {
    guard let range = layer.ids else { return nil }
    func key(_ id: Int64) -> JSONValue {
      .text(KeyTuple(store: store, layer: layer.layer, feature: .integer(id)).description)
    }
    if layer.areConsecutive {
      return [
        "is_consecutive": true, "first_id": .integer(range.lowerBound),
        "last_id": .integer(range.upperBound), "first_key": key(range.lowerBound),
        "last_key": key(range.upperBound),
      ]
    }
    return [
      "is_consecutive": false, "keys": .array(layer.firstIDs.map(key)),
      "omitted_count": JSONValue(layer.count - layer.firstIDs.count),
    ]
  }

  private func document(_ imported: ImportReport.Imported) -> JSONValue {
    let geometry = imported.schema.geometry
    return [
      "file": .text(imported.file), "layer": .text(imported.layer.rawValue),
      "count": JSONValue(imported.count), "geometry_type": JSONValue(geometry?.type.name),
      "srs": JSONValue(geometry?.srs.description),
      "columns": .array(imported.schema.columns.map { JSONValue($0) }),
    ]
  }
}
