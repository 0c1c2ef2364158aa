import FieldpackArchive
import FieldpackCore
import FieldpackFormats
import FieldpackProjection

/// Writes the files of a shapefile beside each other, and gives them their names when all are whole;
/// or packs them in a ZIP archive.
struct ShapefileExport: FormatWriter {
  /// Features come one by one: a place in the file depends on what is before it.
  typealias Encoder = GeoPackageEncoder

  private var writer: ShapefileWriter
  private let outputs: ShapefileWriter.Outputs
  /// The `.cpg` and the `.prj`.
  private var texts: [ByteOutput] = []
  /// The archive that has the files, and where it goes.
  private let packed: (archive: ZipWriter, output: ByteOutput)?
  private let stem: String
  private let overwrite: Bool
  private let hasProjection: Bool
  private(set) var notes: [String] = []

  /// Extensions of indexes of the features that were there before.
  private static let indexes: Set<String> = [
    "qix", "sbn", "sbx", "fbn", "fbx", "ain", "aih", "atx", "ixs", "mxs", "idm", "ind",
  ]

  init(_ plan: ExportPlan, to path: String) throws(FieldpackError) {
    let (target, overwrite) = (plan.targets.first, plan.options.overwrite)
    let hasShapes = target?.schema.geometry != nil
    let isPacked = Format.fileExtension(path) == "zip"
    let stem = isPacked ? Importer.stem(path).rawValue : ShapefileSet.stem(of: path)
    let own =
      isPacked ? hasShapes ? "shp" : "dbf" : String(path.dropFirst(stem.count + 1))
    guard hasShapes == (own.lowercased() != "dbf") else {
      throw FieldpackError(
        .invalidArgument,
        hasShapes
          ? "a .dbf holds attributes alone, and the layer has a geometry. Try: \(stem).shp"
          : "the layer has no geometry, and a .dbf is the place for it. Try: \(stem).dbf")
    }
    packed =
      isPacked
      ? (try ZipWriter(), try ByteOutput(replacing: path, overwrite: overwrite)) : nil
    let archive = packed?.archive
    func output(_ suffix: String) throws(FieldpackError) -> ByteOutput {
      let name = "\(stem).\(own == own.uppercased() ? suffix.uppercased() : suffix)"
      if let archive { return archive.output(name) }
      return try ByteOutput(replacing: name, overwrite: overwrite)
    }
    outputs = ShapefileWriter.Outputs(
      shapes: hasShapes ? try output(own) : nil,
      index: hasShapes ? try output("shx") : nil,
      table: try output(hasShapes ? "dbf" : own))
    writer = ShapefileWriter(outputs, skipsErrors: plan.options.skipsErrors)
    texts = [try output("cpg")]
    texts[0].buffer += "UTF-8".utf8
    let definition = target.flatMap(Self.definition)
    if let definition {
      let projection = try output("prj")
      projection.buffer += definition.utf8
      texts.append(projection)
    }
    (self.stem, self.overwrite, hasProjection) = (stem, overwrite, definition != nil)
    if hasShapes, definition == nil {
      notes = ["there is no .prj, since WKT of ESRI has no text for the layer's reference system"]
    }
  }

  /// What PROJ writes for the system's code, else for the definition in the store.
  private static func definition(of target: ExportTarget) -> String? {
    guard let srs = target.schema.geometry?.srs, !srs.isUndefined else { return nil }
    let catalogue = SRSCatalogue()
    if let known = try? catalogue.esriDefinition(of: SRSReference(srs)) { return known }
    guard let system = target.system,
      let reference = try? SRSReference(wkt: system.wkt2 ?? system.definition)
    else { return nil }
    return try? catalogue.esriDefinition(of: reference)
  }

  var skipped: SkippedFeatures { SkippedFeatures(writer.skipped) }
  var interrupt: (@Sendable () -> Void)? { nil }

  mutating func begin(_ target: ExportTarget) throws(FieldpackError) {
    try writer.begin(target.schema)
  }

  mutating func write(_ batch: FeatureBatch) throws(FieldpackError) { try batch.drive(&writer) }

  func encoder(skipsErrors: Bool) -> GeoPackageEncoder? { nil }

  mutating func take(from encoder: inout GeoPackageEncoder) {}

  /// The `.shp` gets its name last: who sees it finds the others.
  mutating func finish() throws(FieldpackError) -> [String] {
    try writer.finish()
    for output in texts + [outputs.table] { try output.finish() }
    try outputs.index?.finish()
    try outputs.shapes?.finish()
    if let packed {
      try packed.archive.finish(into: packed.output)
      try packed.output.finish()
    } else if overwrite {
      removeOld()
    }
    return writer.notes
  }

  /// Removes what belonged to the features that were replaced.
  private func removeOld() {
    let (folder, name) = FileSystem.split(stem)
    for other in FileSystem.names(in: folder) ?? [] where other.hasPrefix(name + ".") {
      let suffix = other.dropFirst(name.count + 1).lowercased()
      if Self.indexes.contains(suffix) || suffix == "prj" && !hasProjection {
        FileSystem.remove(folder + other)
      }
    }
  }
}
