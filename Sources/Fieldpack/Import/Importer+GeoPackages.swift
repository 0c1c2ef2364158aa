import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

extension Importer {
  /// The layers of a source, with their reference systems as the target calls them.
  func defined(
    _ source: Source, _ writer: GeoPackageBulkWriter
  ) throws(FieldpackError) -> [FileLayer] {
    var layers = source.found
    guard let file = source.geoPackage else { return layers }
    for index in layers.indices {
      guard let system = file.system(of: index, as: layers[index]) else { continue }
      layers[index].schema.geometry?.srs = try writer.define(system)
    }
    return layers
  }

  /// Keeps the ids of all files' features from features whose own ids are taken.
  func reserveIDs(
    _ sources: [Source], _ plan: ImportPlan, _ writer: GeoPackageBulkWriter
  ) throws(FieldpackError) {
    for (number, source) in sources.enumerated() {
      guard let file = source.geoPackage else { continue }
      for (index, layer) in plan.asked(number).enumerated() where layer.ids == .file {
        if let highest = try file.highestID(of: index) {
          writer.loader.reserveIDs(upTo: highest, in: layer.schema.layer)
        }
      }
    }
  }

  /// Has the reader of a GeoPackage leave out the media that the target has already.
  func leaveEquals(
    _ source: Source, _ number: Int, _ plan: ImportPlan, _ asked: [FileLayer],
    _ writer: GeoPackageBulkWriter
  ) throws(FieldpackError) {
    guard let file = source.geoPackage else { return }
    file.equals = [:]
    for index in asked.indices where plan.leavesEquals(number, index) {
      file.equals[index] = try writer.equals(
        of: file.name(of: index), in: file.source, to: plan.target(number, index))
    }
  }

  /// Has the target take over what belongs to the layers of a GeoPackage when all rows are stored.
  func merge(
    _ source: Source, _ number: Int, _ plan: ImportPlan, _ asked: [FileLayer],
    _ writer: GeoPackageBulkWriter
  ) throws(FieldpackError) {
    guard let file = source.geoPackage else { return }
    var parts: [LayerMerge.Part] = []
    for (index, layer) in asked.enumerated() {
      let renumbered = try writer.loader.takeRenumbered(in: layer.schema.layer)
      parts.append(
        plan.part(
          number, index, named: file.name(of: index), renumbered: renumbered,
          equals: file.equals[index] ?? [:]))
    }
    writer.add(LayerMerge(from: try file.source, parts))
  }
}
