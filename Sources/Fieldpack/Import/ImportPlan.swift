import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry

/// Which layers of which files go where, and as what.
///
/// Several files may go into one layer: its columns are then those of all of them, each wide
/// enough for all.
struct ImportPlan {
  let options: ImportOptions
  let existing: [Layer]

  /// A layer that is created or appended to.
  fileprivate struct Destination {
    var name: LayerID
    /// The layer that is there already and is appended to.
    var existing: Layer?
    var schema: Schema
    var ids: FileLayer.IDSource
    /// By what rows find the features that they change.
    var key: ReplacedKey?
    /// Whether all rows come from GeoPackages.
    var isCopy = false
    /// Whether the rows are media that come with the features that they are linked to. Those that
    /// the layer has already are left out, so no row changes another.
    var leavesEquals = false
  }

  /// Gives features without ids of their own a text made from their contents.
  var hashesContents = false
  fileprivate var destinations: [Destination] = []
  /// For each file, its layers with the index of their destination.
  private var files: [[(layer: FileLayer, destination: Int)]] = []

  init(options: ImportOptions, existing: [Layer]) {
    self.options = options
    self.existing = existing
  }

  // MARK: Planning

  /// - Parameters:
  ///   - isCopy: whether the file is a GeoPackage.
  ///   - media: the layers that come only because others are linked to them, by their indexes.
  mutating func add(
    _ layers: [FileLayer], from file: String, isCopy: Bool = false, media: Set<Int> = []
  ) throws(FieldpackError) {
    var assigned: [(FileLayer, Int)] = []
    for (index, var layer) in layers.enumerated() {
      let destination = try assign(
        &layer, from: file, isCopy: isCopy, isMedia: media.contains(index))
      assigned.append((layer, destination))
    }
    files.append(assigned)
  }

  private mutating func assign(
    _ layer: inout FileLayer, from file: String, isCopy: Bool, isMedia: Bool
  ) throws(FieldpackError) -> Int {
    let name = layer.schema.layer
    let folded = name.rawValue.lowercased()
    if let index = destinations.firstIndex(where: { $0.name.rawValue.lowercased() == folded }) {
      let joins = isCopy && (options.mode == .append || options.mode == .upsert)
      guard options.layer != nil || files.isEmpty || joins else {
        throw FieldpackError(
          .cannotCreate,
          "two files give a layer '\(name)', the second is \(file)", advice: .nameLayer,
          location: .init(layer: name), position: FilePosition(file: file))
      }
      // Features are found by the same ids in all files where they are to be changed.
      if destinations[index].key != .id {
        takeIDsAsColumn(in: index)
        layer = layer.withIDsAsColumn
      }
      try destinations[index].widen(by: layer, from: file, isCopy: isCopy)
      return index
    }
    let known = existing.first { $0.id.rawValue.lowercased() == folded }
    // What is there already may have the same ids.
    if options.mode == .append, known != nil { layer = layer.withIDsAsColumn }
    var destination = Destination(
      name: name, existing: nil, schema: layer.schema, ids: layer.ids, isCopy: isCopy)
    if options.mode == .append || options.mode == .upsert {
      destination.existing = known
      try destination.adoptExisting(from: file)
    }
    destination.leavesEquals = isMedia && options.mode == .upsert
    // Layers of a GeoPackage that are not there yet come with their ids.
    if options.mode == .upsert, known != nil || !isCopy, !destination.leavesEquals {
      try destination.match(by: options.matchColumn, from: file)
    }
    destinations.append(destination)
    return destinations.count - 1
  }

  /// Makes a column of the property that has the ids of a destination so far.
  private mutating func takeIDsAsColumn(in index: Int) {
    let destination = destinations[index]
    let layer = FileLayer(schema: destination.schema, ids: destination.ids).withIDsAsColumn
    (destinations[index].schema, destinations[index].ids) = (layer.schema, layer.ids)
    for file in files.indices {
      for number in files[file].indices where files[file][number].destination == index {
        files[file][number].layer = files[file][number].layer.withIDsAsColumn
      }
    }
  }

  // MARK: Carrying out

  /// Creates or readies the layers in the file.
  func prepare(
    _ writer: GeoPackageBulkWriter, into report: inout ImportReport
  ) throws(FieldpackError) {
    for destination in destinations {
      let hasOwn = destination.schema.columns.contains(where: \.isSourceID)
      let hashes = hashesContents && !hasOwn && !isReferred(to: destination.name)
      let own: LoadedIDs = destination.isCopy && destination.key == nil ? .preferred : .given
      let ids: LoadedIDs = destination.ids != .ordinal ? own : hashes ? .hashed : .assigned
      let clusters = options.clusters && self.clusters(destination, ids, &report)
      // A copy may have values that are older than its constraints, and wrong envelopes.
      writer.loader.enforcesConstraints = !destination.isCopy || destination.existing != nil
      writer.loader.trustsEnvelopes = !destination.isCopy
      let transformation: TransformationReport?
      if let layer = destination.existing {
        if let note = destination.noteOnIDs { report.notes.append(note) }
        transformation = try writer.append(
          destination.schema, to: layer.id, ids: ids, clusters: clusters,
          replacing: destination.key)
      } else {
        if options.mode == .replace,
          let old = existing.first(where: {
            $0.id.rawValue.lowercased() == destination.name.rawValue.lowercased()
          })
        {
          try writer.remove(old.id, isReplaced: true)
        }
        transformation = try writer.create(
          destination.schema, in: options.srs, ids: ids, clusters: clusters)
      }
      if let transformation { report.transformations.append(transformation) }
    }
  }

  /// Whether the order of a layer's features is ours to choose; notes why it is not.
  private func clusters(
    _ destination: Destination, _ ids: LoadedIDs, _ report: inout ImportReport
  ) -> Bool {
    guard destination.schema.geometry != nil else { return false }
    let reason: String? =
      if ids == .given || ids == .preferred {
        "its ids are the file's"
      } else if isReferred(to: destination.name) {
        "its ids are referred to by another layer"
      } else {
        nil
      }
    if let reason {
      report.notes.append("layer '\(destination.name)' keeps the file's order: \(reason)")
    }
    return reason == nil
  }

  /// Whether features of another layer name those of this one by number, as track points do with
  /// their track in `track_fid`.
  private func isReferred(to layer: LayerID) -> Bool {
    destinations.contains { $0.schema.numbersFeatures(of: layer) }
      || existing.contains { $0.schema.numbersFeatures(of: layer) }
  }

  /// The layers as the reader of a file is to give them.
  func asked(_ file: Int) -> [FileLayer] {
    files[file].map { layer, index in
      let destination = destinations[index]
      var asked = layer
      asked.schema.layer = destination.name
      asked.schema.geometry = destination.schema.geometry
      asked.ids = destination.ids
      for (number, column) in asked.schema.columns.enumerated() {
        if let wide = destination.schema.columnIndex(column.name) {
          asked.schema.columns[number].type = destination.schema.columns[wide].type
        }
      }
      return asked
    }
  }

  func target(_ file: Int, _ layer: Int) -> LayerID {
    guard layer < files[file].count else { return "" }
    let destination = destinations[files[file][layer].destination]
    return destination.existing?.id ?? destination.name
  }
}

extension ImportPlan {
  /// What became of a layer of a GeoPackage.
  ///
  /// - Parameters:
  ///   - name: the layer's name in its file.
  ///   - renumbered: the rows that got other ids.
  ///   - equals: the rows that were left out, with the equal rows of the target.
  func part(
    _ file: Int, _ layer: Int, named name: LayerID, renumbered: [Int64: Int64],
    equals: [Int64: [Int64]]
  ) -> LayerMerge.Part {
    let destination = destinations[files[file][layer].destination]
    let ids: LayerMerge.IDs =
      if let column = destination.key?.column {
        .matched(column: column)
      } else if destination.ids == .file {
        .kept(renumbered: renumbered)
      } else {
        .unknown
      }
    return .init(
      source: name, target: target(file, layer), isNew: destination.existing == nil, ids: ids,
      equals: equals)
  }

  /// Whether the rows of a layer are left out where the target has equal ones.
  func leavesEquals(_ file: Int, _ layer: Int) -> Bool {
    let destination = destinations[files[file][layer].destination]
    return destination.leavesEquals && destination.ids == .file
  }
}

extension ReplacedKey {
  fileprivate var column: String? {
    if case .column(let name) = self { name } else { nil }
  }
}

extension ImportPlan.Destination {
  /// Says by what rows find the features that they change.
  ///
  /// - Parameter column: `nil` is by the feature ids.
  fileprivate mutating func match(
    by column: String?, from file: String
  ) throws(FieldpackError) {
    guard let column else {
      guard ids == .file else {
        throw FieldpackError(
          .invalidArgument, "the features have no integer ids to be found by",
          advice: .nameMatchColumn, location: .init(layer: name),
          position: FilePosition(file: file))
      }
      key = .id
      return
    }
    guard let index = schema.columnIndex(column) else {
      throw schema.unknownColumn(column).adding(position: FilePosition(file: file))
    }
    if let existing, existing.schema.columnIndex(column) == nil {
      throw existing.schema.unknownColumn(column)
    }
    ids = .ordinal
    key = .column(schema.columns[index].name)
  }

  /// Makes room for another file's layer.
  fileprivate mutating func widen(
    by layer: FileLayer, from file: String, isCopy: Bool
  ) throws(FieldpackError) {
    self.isCopy = self.isCopy && isCopy
    // The files' rules are of their own features, and one may lack a column.
    for index in schema.columns.indices {
      let other = layer.schema.columnIndex(schema.columns[index].name)
      let allowsNull = other.map { layer.schema.columns[$0].isNullable } ?? true
      schema.columns[index].isNullable = schema.columns[index].isNullable || allowsNull
      schema.columns[index].isUnique = false
    }
    for column in layer.schema.columns {
      if let index = schema.columnIndex(column.name) {
        schema.columns[index].type = try ColumnWidening.type(
          for: schema.columns[index], and: column,
          isFixed: existing?.schema.columnIndex(column.name) != nil,
          file: file)
      } else {
        schema.columns.append(column)
        schema.columns[schema.columns.count - 1].loosen()
      }
    }
    schema.freeIDColumn()
    // Two files' own ids may be the same, which is what is asked for where features are replaced.
    let renumbers = self.isCopy && ids == .file && layer.ids == .file && key == nil
    if !renumbers, key != .id || layer.ids != .file { ids = .ordinal }
    if key != nil { try match(by: key?.column, from: file) }
    guard let other = layer.schema.geometry else { return }
    try checkExisting(takes: other, from: file)
    guard let own = schema.geometry else {
      schema.geometry = other
      return
    }
    guard own.srs == other.srs else {
      throw FieldpackError(
        .invalidData,
        "\(file) is in \(other.srs), files before it in \(own.srs): one layer has one SRS",
        position: FilePosition(file: file))
    }
    schema.geometry?.type = GeometryType.holding(own.type, other.type)
    schema.geometry?.z = OrdinateRule.holding(own.z, other.z)
    schema.geometry?.m = OrdinateRule.holding(own.m, other.m)
  }

  /// Takes over the types of the layer that is appended to, as far as they can hold the file's.
  fileprivate mutating func adoptExisting(from file: String) throws(FieldpackError) {
    guard let existing else { return }
    for (index, column) in schema.columns.enumerated() {
      guard let known = existing.schema.columnIndex(column.name) else {
        schema.columns[index].loosen()
        continue
      }
      schema.columns[index].type = try ColumnWidening.type(
        for: existing.schema.columns[known], and: column, isFixed: true, file: file)
      schema.columns[index].name = existing.schema.columns[known].name
    }
    guard let new = schema.geometry else { return }
    try checkExisting(takes: new, from: file)
    if let own = existing.schema.geometry, new.type.multi == own.type {
      schema.geometry?.type = own.type
    }
  }

  /// What becomes of a column that is named as the ids of the layer that is appended to.
  fileprivate var noteOnIDs: Note? {
    guard let id = existing?.schema.idColumn,
      let column = schema.columns.first(where: { $0.name.lowercased() == id.lowercased() })
    else { return nil }
    return Note(
      "column '\(column.name)' is left out: it is the feature id in layer '\(name)'",
      advice: .nameIDColumn(column.name))
  }

  /// Refuses geometries that the layer that is appended to cannot hold.
  private func checkExisting(
    takes new: GeometryColumn, from file: String
  ) throws(FieldpackError) {
    guard let existing, let own = existing.schema.geometry else { return }
    guard own.type.accepts(new.type) || new.type.multi == own.type else {
      throw FieldpackError(
        .invalidData,
        "layer '\(existing.id)' takes \(own.type.name), \(file) has \(new.type.name)",
        location: .init(layer: existing.id), position: FilePosition(file: file))
    }
    for (name, rule, found) in [("z", own.z, new.z), ("m", own.m, new.m)]
    where rule == .prohibited && found != .prohibited {
      throw FieldpackError(
        .invalidData, "layer '\(existing.id)' takes no \(name), \(file) has it",
        location: .init(layer: existing.id), position: FilePosition(file: file))
    }
  }
}

extension ColumnDefinition {
  /// Takes away the rules that features from elsewhere, or rows that are there already, would break.
  fileprivate mutating func loosen() { (isNullable, isUnique, defaultSQL) = (true, false, nil) }
}

extension Schema {
  /// Gives the ids' column a name that no other column has.
  fileprivate mutating func freeIDColumn() {
    let taken = Set(columns.map { $0.name.lowercased() })
    idColumn = idColumn.map { $0.numbered { !taken.contains($0.lowercased()) } }
  }
}
