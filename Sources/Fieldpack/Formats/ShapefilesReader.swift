import FieldpackArchive
import FieldpackCore
import FieldpackFormats

/// Reads a shapefile as one layer, or each of those in a ZIP archive as a layer of its name.
struct ShapefilesReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  private let identify: ShapefileReader.Identify
  private var opened: [(layer: LayerID, reader: ShapefileReader)]?

  init(
    _ input: ByteInput, options: ReadOptions, identify: @escaping ShapefileReader.Identify
  ) {
    self.input = input
    self.options = options
    self.identify = identify
  }

  mutating func assume() throws(FieldpackError) -> [FileLayer] {
    try open()
    var found: [FileLayer] = []
    for index in opened?.indices ?? 0..<0 {
      found += try opened?[index].reader.assume() ?? []
    }
    return found
  }

  mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    try open()
    var result = FileReadResult(
      layers: [], skipped: SkippedFeatures(limit: options.skippedLimit))
    for index in opened?.indices ?? 0..<0 {
      guard let layer = opened?[index].layer,
        let part = try opened?[index].reader.read(
          as: layers.filter { $0.schema.layer == layer }, into: &sink)
      else { continue }
      result.layers += part.layers
      result.counts.merge(part.counts) { $1 }
      result.skipped.add(part.skipped)
      let isOnly = opened?.count == 1
      result.notes += isOnly ? part.notes : part.notes.map { $0.preceded(by: "layer '\(layer)': ") }
    }
    return result
  }

  private mutating func open() throws(FieldpackError) {
    guard opened == nil else { return }
    guard let packed = try PackedShapefiles(input) else {
      opened = [(options.layer, ShapefileReader(input, options: options, identify: identify))]
      return
    }
    var taken: Set<String> = []
    var names: [(stem: String, layer: LayerID)] = []
    for stem in packed.stems {
      let own = FileSystem.split(stem).name
      guard packed.stems.count > 1 else {
        names.append((stem, options.layer))
        break
      }
      let name = own.numbered { taken.insert($0.lowercased()).inserted }
      guard options.only?.contains(name) ?? true else { continue }
      let prefix = options.prefixesLayers ? "\(options.layer)_" : ""
      names.append((stem, LayerID(prefix + name)))
    }
    opened = names.enumerated().map { index, name in
      (name.layer, reader(packed, name.stem, name.layer, part: index, of: names.count))
    }
  }

  private func reader(
    _ packed: PackedShapefiles, _ stem: String, _ layer: LayerID, part: Int, of count: Int
  ) -> ShapefileReader {
    var options = options
    options.layer = layer
    if let progress = options.progress {
      let share = input.size / count
      options.progress = { (bytesRead) throws(FieldpackError) in
        try progress(part * share + min(bytesRead, share))
      }
    }
    let check = options.progress
    return ShapefileReader(input, options: options, identify: identify) {
      (_) throws(FieldpackError) in
      try packed.files(of: stem) { () throws(FieldpackError) in try check?(0) }
    }
  }
}

/// The shapefiles in a ZIP archive.
struct PackedShapefiles {
  private let input: ByteInput
  private let archive: ZipReader
  private let entries: [ZipReader.Entry]
  /// The name of each in the archive without extension: those with shapes, and tables alone.
  let stems: [String]

  /// - Returns: `nil` where the input is no archive.
  /// - Throws: `.invalidData` for a damaged archive, and for one without a shapefile.
  init?(_ input: ByteInput) throws(FieldpackError) {
    guard try input.head(2) == Array("PK".utf8) else { return nil }
    self.input = input
    archive = try ZipReader(input)
    // macOS adds files of its own, whose names begin with a dot, in a folder of their own.
    let entries = archive.entries.filter {
      !$0.isFolder && !$0.lastName.hasPrefix(".") && !$0.name.hasPrefix("__MACOSX/")
    }
    func names(_ part: ShapefileSet.Part) -> [String] {
      entries.filter { ShapefileSet.part(of: $0.name) == part }
        .map { ShapefileSet.stem(of: $0.name) }
    }
    var found: Set<String> = []
    stems = (names(.shapes) + names(.table)).filter { found.insert($0).inserted }
    self.entries = entries
    guard !stems.isEmpty else {
      throw FieldpackError(
        .invalidData, "the archive has no .shp", position: FilePosition(file: input.name))
    }
  }

  /// Unpacks the files of one.
  ///
  /// - Parameter check: throws to stop.
  func files(
    of stem: String, check: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> ShapefileSet {
    var files: [ShapefileSet.Part: ByteInput] = [:]
    for entry in entries where ShapefileSet.stem(of: entry.name) == stem {
      guard let part = ShapefileSet.part(of: entry.name), files[part] == nil else { continue }
      files[part] = try archive.open(entry, check: check)
    }
    return ShapefileSet(stem: "\(input.name)/\(stem)", files: files)
  }
}
