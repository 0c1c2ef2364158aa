import FieldpackArchive
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry

/// Imports files into one GeoPackage in one transaction; blocks its thread.
///
/// What the layers are is guessed from the heads of the files and checked while everything is
/// read. A wrong guess costs a second reading, whose shape is then known.
struct Importer {
  let options: ImportOptions
  let store: StoreID
  let stop: Cancellation
  /// Gives features without ids of their own a text made from their contents.
  var hashesContents = false
  /// Stores the notes in the GeoPackage, for those who open it later.
  var keepsNotes = false
  /// Called when nobody else can change an existing file any more, each time that it is begun on.
  var didLock: @Sendable () -> Void = {}

  /// A file to import with what is known of it.
  struct Source {
    var reader: any FileReader
    var name: String
    var size: Int
    /// The layers as the file asks for them, guessed at first.
    var found: [FileLayer]

    var geoPackage: GeoPackageReader? { reader as? GeoPackageReader }
  }

  /// Where the features go.
  enum Target {
    case new(path: String)
    /// A new file of this process alone, which stays under its hidden name.
    case hidden(PendingFile)
    case existing(path: String)

    var path: String {
      switch self {
      case .new(let path), .existing(let path): path
      case .hidden(let file): file.path
      }
    }
  }

  /// - Parameter layers: the one layer that is imported of a file, by the file's index.
  func run(
    _ files: [ByteInput], layers: [Int: LayerID] = [:], into target: Target
  ) throws(FieldpackError) -> ImportReport {
    let log = ImportLog(options.logger, store: store, files: files)
    do throws(FieldpackError) {
      let report = try imported(files, layers, into: target)
      log.end(report)
      return report
    } catch {
      log.fail(error)
      throw error
    }
  }

  private func imported(
    _ files: [ByteInput], _ layers: [Int: LayerID], into target: Target
  ) throws(FieldpackError) -> ImportReport {
    var sources: [Source] = []
    for (index, file) in files.enumerated() { sources.append(try source(file, layers[index])) }
    var pass = 1
    while true {
      let writer = try open(target)
      stop.interrupting(writer.interrupt)
      defer { stop.interrupting(nil) }
      let attempt = try load(&sources, with: writer, pass: pass)
      if let report = attempt {
        return try finish(report, writer)
      }
      pass += 1
      guard pass <= 4 else {
        throw FieldpackError(.io, "the input changed while it was read. Try again")
      }
    }
  }

  private func open(_ target: Target) throws(FieldpackError) -> GeoPackageBulkWriter {
    switch target {
    case .new(let path):
      try GeoPackageBulkWriter(
        creating: path, version: options.version, overwrite: false, store: store,
        logger: options.logger)
    case .hidden(let pending):
      try GeoPackageBulkWriter(
        filling: pending, version: options.version, store: store, logger: options.logger)
    case .existing(let path):
      try GeoPackageBulkWriter(
        changing: path, store: store, profile: options.profile, logger: options.logger,
        didLock: didLock)
    }
  }

  private func source(_ file: ByteInput, _ layer: LayerID?) throws(FieldpackError) -> Source {
    let stop = stop
    let file = try file.unpacked { () throws(FieldpackError) in try stop.check() }
    let format =
      if let given = options.format { given } else { try Format.detect(file) }
    guard let imported = format.file.imported else {
      throw FieldpackError(
        .unsupported, "\(file.name) is a \(format) file, which cannot be imported",
        advice: .exportFirst(file: file.name), position: FilePosition(file: file.name))
    }
    guard layer == nil || format == .geoPackage else {
      throw FieldpackError(
        .invalidArgument,
        "one layer is taken out of a GeoPackage alone, and \(file.name) is \(format.title)",
        position: FilePosition(file: file.name))
    }
    guard options.only == nil || format != .geoPackage else {
      throw FieldpackError(
        .invalidArgument,
        "only from GPX files and logs a layer is chosen by its kind, and \(file.name) is a GeoPackage",
        advice: .nameSourceLayer(file: file.name), position: FilePosition(file: file.name))
    }
    var reading = ReadOptions(layer: options.layer ?? Self.stem(file.name))
    let holdsLayers = try imported.holdsLayers(in: file)
    reading.prefixesLayers = holdsLayers && options.layer != nil
    reading.only = format == .geoPackage ? layer.map { [$0.rawValue] } : options.only
    reading.sourceSRS = options.sourceSRS
    reading.skipsErrors = options.skipsErrors
    reading.idColumn = options.idColumn
    reading.csv = options.csv
    reading.boxes = options.boxes
    let (name, size, progress) = (file.name, file.size, options.progress)
    reading.progress = { (bytesRead) throws(FieldpackError) in
      try stop.check()
      progress?(stop.progress(file: name, bytesRead: bytesRead, of: size))
    }
    var reader: any FileReader = imported.reader(file, options: reading)
    do throws(FieldpackError) {
      let found = try reader.assume()
      return Source(reader: reader, name: name, size: size, found: found)
    } catch {
      throw error.adding(position: FilePosition(file: name))
    }
  }

  /// The file's name without folder and extension, `.gz` and the `.zip` of `.shp.zip` included.
  static func stem(_ path: String) -> LayerID {
    let name = Format.unpackedName(path.split(separator: "/").last.map(String.init) ?? path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return LayerID(name) }
    let stem = name[..<dot]
    let isPacked = name[dot...].lowercased() == ".zip" && stem.lowercased().hasSuffix(".shp")
    return LayerID(String(isPacked && stem.count > 4 ? stem.dropLast(4) : stem))
  }

  // MARK: One attempt

  /// Reads all sources; `nil` where what was found differs from what was assumed.
  private func load(
    _ sources: inout [Source], with writer: GeoPackageBulkWriter, pass: Int
  ) throws(FieldpackError) -> ImportReport? {
    var plan = ImportPlan(options: options, existing: try writer.layers())
    plan.hashesContents = hashesContents
    for source in sources {
      let isCopy = source.geoPackage != nil
      try plan.add(
        try defined(source, writer), from: source.name, isCopy: isCopy,
        media: source.geoPackage?.media ?? [])
    }
    var report = ImportReport()
    writer.loader.skipsErrors = options.skipsErrors
    try plan.prepare(writer, into: &report)
    try reserveIDs(sources, plan, writer)
    stop.begin(pass: pass, sizes: sources.map(\.size))
    var isAsAssumed = true
    let columns = GPXReader.pathColumns
    var paths = (
      tracks: try writer.loader.highestNumber(in: columns.tracks),
      routes: try writer.loader.highestNumber(in: columns.routes)
    )
    for index in sources.indices {
      let asked = plan.asked(index)
      let name = sources[index].name
      var sink = writer.loader
      let result: FileReadResult
      sources[index].reader.numberPaths(
        after: Self.paths(in: asked, of: writer.loader, others: paths))
      try leaveEquals(sources[index], index, plan, asked, writer)
      do throws(FieldpackError) {
        result = try sources[index].reader.read(as: asked, into: &sink)
      } catch {
        throw error.adding(position: FilePosition(file: name))
      }
      stop.endFile(sources[index].size)
      let read = sources[index].reader.pathsRead
      paths = (paths.tracks + read.tracks, paths.routes + read.routes)
      if result.layers != sources[index].found {
        sources[index].found = result.layers
        isAsAssumed = false
      }
      try merge(sources[index], index, plan, asked, writer)
      if let text = result.gpxMetadata {
        writer.add(
          document: text, standard: GPXWriter.metadataStandard,
          about: asked.indices.map { plan.target(index, $0) })
      }
      note(result, name, plan, index, &report)
    }
    return isAsAssumed ? report : nil
  }

  /// How many tracks and routes are stored, or `others` where only their points are.
  private static func paths(
    in layers: [FileLayer], of loader: BulkLoader, others: (tracks: Int, routes: Int)
  ) -> (tracks: Int, routes: Int) {
    func last(_ suffix: String, _ other: Int) -> Int {
      let layer = layers.map(\.schema.layer).first { $0.rawValue.hasSuffix(suffix) }
      return layer.map { Int(clamping: loader.lastID(of: $0)) } ?? other
    }
    return (last("tracks", others.tracks), last("routes", others.routes))
  }

  private func note(
    _ result: FileReadResult, _ file: String, _ plan: ImportPlan, _ index: Int,
    _ report: inout ImportReport
  ) {
    report.notes += result.notes.map { $0.preceded(by: "\(file): ") }
    report.skipped.add(result.skipped)
    for (number, layer) in result.layers.enumerated() {
      report.imported.append(
        .init(
          file: file, layer: plan.target(index, number), schema: layer.schema,
          count: result.counts[layer.schema.layer] ?? 0, hasOwnIDs: layer.ids != .ordinal))
    }
  }

  private func finish(
    _ report: ImportReport, _ writer: GeoPackageBulkWriter
  ) throws(FieldpackError) -> ImportReport {
    var report = report
    try stop.check()
    report.isDryRun = options.isDryRun
    if options.isDryRun {
      report.add(try writer.finish())
    } else {
      _ = try writer.commit { layers in
        report.add(layers)
        if keepsNotes { keep(report.notes, in: writer) }
      }
    }
    report.skipped.add(writer.loader.skipped)
    report.notes += writer.notes.map { Note($0) }
    return report
  }

  // MARK: Notes

  /// What marks a document as a note of the import.
  private static let noteStandard = "fieldpack:import-note"

  private func keep(_ notes: [Note], in writer: GeoPackageBulkWriter) {
    for note in notes {
      writer.add(document: KeptNote.text(of: note), standard: Self.noteStandard, about: [])
    }
  }

  /// The notes of the import that made a GeoPackage, where the import kept them.
  static func notes(keptIn store: GeoPackageStore) async throws(FieldpackError) -> [Note] {
    try await store.metadata().documents.filter { $0.standardURI == noteStandard }.compactMap {
      KeptNote.note(of: $0.content)
    }
  }
}

extension ImportReport {
  /// Adds the layers that were stored, and what is to be said of them.
  fileprivate mutating func add(_ layers: [LoadedLayer]) {
    self.layers = layers
    notes += layers.compactMap(\.noteBeyondDegrees) + layers.compactMap(\.noteRenumbered)
    if layers.isEmpty { notes.append("no features were found, so there is no layer") }
  }
}

extension LoadedLayer {
  /// Rows of a GeoPackage whose ids were taken.
  fileprivate var noteRenumbered: Note? {
    guard renumberedCount > 0 else { return nil }
    let subject = renumberedCount.counting("feature")
    return Note("\(subject) of layer '\(layer)' got other ids, because their own ids were taken")
  }

  /// Coordinates that are no longitudes and latitudes, though the file says so.
  fileprivate var noteBeyondDegrees: Note? {
    guard let beyondDegrees else { return nil }
    let (count, first) = (beyondDegrees.count, beyondDegrees.first)
    return Note(
      "layer '\(layer)' is in WGS 84, but "
        + (count == 1
          ? "feature \(first) lies" : "\(count) features, the first with the id \(first), lie")
        + " beyond 180° of longitude or 90° of latitude", advice: .nameOtherSourceSRS)
  }
}
