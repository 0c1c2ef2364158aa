import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var layerCommand: Command {
    Command(
      "layer", abstract: "List, rename, delete and change the layers of a GeoPackage.",
      discussion: """
        A change happens whole or not at all. All that belongs to a layer follows it: the spatial \
        index, constraints, metadata, relations, styles that QGIS stored, and change logs, also those of \
        SpatialConnect and GeoGig. A table with a trigger that Fieldpack does not know is not changed.
        """,
      subcommands: [
        layerListCommand, layerShowCommand, layerExportCommand, layerRenameCommand,
        layerDeleteCommand, layerAddColumnCommand, layerRenameColumnCommand,
        layerDropColumnCommand, layerRetypeCommand,
      ], family: editFamily)
  }

  private static var layerListCommand: Command {
    Command(
      "list", abstract: "List the layers of a file, as 'fieldpack info' does.",
      examples: ["fieldpack layer list field.gpkg"], body: InfoCommand.self)
  }

  private static var layerShowCommand: Command {
    Command(
      "show", abstract: "Show a layer with its columns, as 'fieldpack info' does.",
      examples: ["fieldpack layer show field.gpkg:wells"], body: InfoCommand.self)
  }

  private static var layerExportCommand: Command {
    Command(
      "export", abstract: "Write layers to a file, as 'fieldpack export' does.",
      examples: ["fieldpack layer export field.gpkg:wells --output wells.geojson"],
      body: ExportCommand.self)
  }

  private static var layerRenameCommand: Command {
    Command(
      "rename", abstract: "Give a layer another name.",
      examples: ["fieldpack layer rename field.gpkg:wells brunnen"], body: RenameLayerCommand.self)
  }

  private static var layerDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete layers with all their features.",
      discussion: "All of the layers are deleted, or none is.",
      examples: ["fieldpack layer delete field.gpkg wells remarks"],
      body: DeleteLayerCommand.self)
  }

  private static var layerAddColumnCommand: Command {
    Command(
      "add-column", abstract: "Add a column to a layer.",
      discussion: """
        The type is one of GeoPackage: BOOLEAN, TINYINT, SMALLINT, MEDIUMINT, INTEGER, FLOAT, REAL, \
        TEXT, TEXT(length), BLOB, DATE, DATETIME, or JSON. The features that there are get the \
        value of --default, and none without it.
        """,
      examples: [
        "fieldpack layer add-column field.gpkg:wells owner TEXT",
        "fieldpack layer add-column field.gpkg:wells checked BOOLEAN --default false",
      ], body: AddColumnCommand.self)
  }

  private static var layerRenameColumnCommand: Command {
    Command(
      "rename-column", abstract: "Give a column of a layer another name.",
      examples: ["fieldpack layer rename-column field.gpkg:wells depth depth_m"],
      body: RenameColumnCommand.self)
  }

  private static var layerDropColumnCommand: Command {
    Command(
      "drop-column", abstract: "Remove a column of a layer with its values.",
      discussion: "Indexes of SQLite that hold the column go with it.",
      examples: ["fieldpack layer drop-column field.gpkg:wells owner"],
      body: DropColumnCommand.self)
  }

  private static var layerRetypeCommand: Command {
    Command(
      "retype", abstract: "Give a column of a layer another type.",
      discussion: """
        The column keeps its place, and its values become values of the new type: a text that is a \
        number becomes that number. Where one value has no form in the new type, nothing is \
        changed. The geometry column takes a type such as POINT, MULTIPOLYGON or GEOMETRY, with \
        Z, M or ZM after it where geometries may have these.
        """,
      examples: [
        "fieldpack layer retype field.gpkg:wells depth REAL",
        "fieldpack layer retype field.gpkg:wells geom \"GEOMETRY Z\"",
      ], body: RetypeCommand.self)
  }
}

extension OptionReader {
  fileprivate mutating func layer() -> Required<SourceName> {
    geoPackageLayer("A GeoPackage, and after a colon its layer.")
  }

  fileprivate mutating func column() -> Required<String> {
    argument(.text("column", completion: .column), help: "The column.")
  }

  fileprivate mutating func name(of what: String) -> Required<String> {
    argument(.text("name"), help: "The new name of the \(what).")
  }
}

extension SourceName {
  /// The layer, which must be named.
  func namedLayer() throws(FieldpackError) -> LayerID {
    if let layer { return layer }
    throw FieldpackError(
      .invalidArgument, "'\(path)' names no layer. Try: \(path):LAYER")
  }
}

extension Invocation {
  /// Changes a layer in one transaction, and says what was done, or prints its columns as a
  /// document.
  fileprivate func change(
    _ source: SourceName, _ profile: OpeningProfile, named name: LayerID? = nil, done: String,
    _ body: @escaping @Sendable (GeoPackageWriter, LayerID) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> Int32 {
    let layer = try source.namedLayer()
    return try await withGeoPackage(source.path, profile, usesWAL: false) {
      (store) throws(FieldpackError) in
      try await store.write { (writer) throws(FieldpackError) in try body(writer, layer) }
      guard isJSON else {
        try print("\(done)\n")
        return ExitStatus.success
      }
      let schema = try await store.schemas().first {
        $0.layer.rawValue.lowercased() == (name ?? layer).rawValue.lowercased()
      }
      try print([
        "layer": .text((schema?.layer ?? name ?? layer).rawValue),
        "columns": .array((schema?.columns ?? []).map { .text($0.name) }),
      ])
      return ExitStatus.success
    }
  }
}

/// A name as messages show it.
private func shown(_ name: some CustomStringConvertible) -> String {
  DisplayText.visible("\(name)")
}

/// `fieldpack layer rename`.
private struct RenameLayerCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var name: String
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.layer()
      _name = reader.name(of: "layer")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let name = LayerID(options.name)
    let old = try options.source.namedLayer()
    return try await invocation.change(
      options.source, options.profile, named: name, done: "\(shown(old)) is now \(shown(name))"
    ) { (writer, layer) throws(FieldpackError) in try writer.renameLayer(layer, to: name) }
  }
}

/// `fieldpack layer delete`.
private struct DeleteLayerCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let words: [LayerID]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.geoPackageLayer("A GeoPackage; a layer of it may stand after a colon.")
      words = reader.arguments(
        .text("layer", completion: .layer), help: "The layers, where none stands after the file."
      ).map { LayerID($0) }
      profile = reader.profile()
    }

    func layers() throws(FieldpackError) -> [LayerID] {
      let named = (source.layer.map { [$0] } ?? []) + words
      guard !named.isEmpty else { return [try source.namedLayer()] }
      return named.enumerated().filter { !named.prefix($0.offset).contains($0.element) }
        .map(\.element)
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let layers = try options.layers()
    return try await invocation.withGeoPackage(
      options.source.path, options.profile, usesWAL: false
    ) { (store) throws(FieldpackError) in
      try await store.write { (writer) throws(FieldpackError) in
        // A layer that is not there is told before others are gone.
        for layer in layers where try writer.schema(of: layer) == nil {
          try writer.removeLayer(layer)
        }
        for layer in layers { try writer.removeLayer(layer) }
      }
      if invocation.isJSON {
        try invocation.print(["deleted": .array(layers.map { .text($0.rawValue) })])
      } else {
        try invocation.print("\(layers.count.counting("layer")) deleted\n")
      }
      return ExitStatus.success
    }
  }
}

/// `fieldpack layer add-column`.
private struct AddColumnCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var name: String
    @Required var type: ColumnType
    let value: String?
    let isNotNull: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.layer()
      _name = reader.name(of: "column")
      _type = reader.argument(.columnType, help: "The type of its values.")
      value = reader.value(
        "default", .text("value"), help: "The value of features that are given none.")
      isNotNull = reader.flag("not-null", help: "Let no feature be without a value.")
      profile = reader.profile()
    }

    func column() throws(FieldpackError) -> ColumnDefinition {
      var column = ColumnDefinition(name, type, isNullable: !isNotNull)
      guard let value else {
        if isNotNull {
          throw FieldpackError(
            .invalidArgument,
            "--not-null needs a value for the features that there are. "
              + "Try: --default")
        }
        return column
      }
      guard let sql = type.sqlLiteral(value) else {
        throw FieldpackError(.invalidArgument, "--default '\(value)' is no \(type.sql)")
      }
      column.defaultSQL = sql
      return column
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let column = try options.column()
    return try await invocation.change(
      options.source, options.profile,
      done: "\(shown(try options.source.namedLayer())) has the column \(shown(column.name))"
    ) { (writer, layer) throws(FieldpackError) in try writer.addColumns([column], to: layer) }
  }
}

/// `fieldpack layer rename-column`.
private struct RenameColumnCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var column: String
    @Required var name: String
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.layer()
      _column = reader.column()
      _name = reader.name(of: "column")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (column, name) = (options.column, options.name)
    return try await invocation.change(
      options.source, options.profile, done: "\(shown(column)) is now \(shown(name))"
    ) { (writer, layer) throws(FieldpackError) in
      try writer.renameColumn(column, to: name, in: layer)
    }
  }
}

/// `fieldpack layer drop-column`.
private struct DropColumnCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var column: String
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.layer()
      _column = reader.column()
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let column = options.column
    return try await invocation.change(
      options.source, options.profile, done: "\(shown(column)) is removed"
    ) { (writer, layer) throws(FieldpackError) in try writer.removeColumn(column, from: layer) }
  }
}

/// `fieldpack layer retype`.
private struct RetypeCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var column: String
    @Required var type: DeclaredType
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.layer()
      _column = reader.column()
      _type = reader.argument(.declaredType, help: "The new type.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (column, type) = (options.column, options.type)
    return try await invocation.change(
      options.source, options.profile, done: "\(shown(column)) is now \(type)"
    ) { (writer, layer) throws(FieldpackError) in
      switch type {
      case .attribute(let type): try writer.retypeColumn(column, as: type, in: layer)
      case .geometry(let type, let hasZ, let hasM):
        let geometry = try writer.schema(of: layer)?.geometry
        guard geometry.map({ $0.name.lowercased() == column.lowercased() }) ?? true else {
          throw FieldpackError(
            .invalidArgument,
            "column '\(column)' of layer '\(layer)' holds no geometries, so it "
              + "cannot be \(type.name)", location: .init(layer: layer))
        }
        try writer.retypeGeometry(
          of: layer, as: type, z: hasZ ? .optional : nil, m: hasM ? .optional : nil)
      }
    }
  }
}
