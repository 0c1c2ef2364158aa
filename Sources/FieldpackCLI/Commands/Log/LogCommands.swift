import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var logCommand: Command {
    Command(
      "log", abstract: "Log the edits of layers; list them, show them, and take them back.",
      discussion: """
        The log of a layer is a table beside it, and triggers write it: also edits by QGIS, GDAL and \
        sqlite3 are in it. An edit is one row of the log: what was done to which feature, when, \
        and by whom as far as that is known. The commands that edit take the author from --author, \
        else from the environment variable FIELDPACK_AUTHOR, else they name nobody.
        """,
      subcommands: [
        logEnableCommand, logListCommand, logShowCommand, logUndoCommand, logDisableCommand,
      ], family: editFamily)
  }

  private static var logEnableCommand: Command {
    Command(
      "enable", abstract: "Begin to log the edits of layers.",
      discussion: """
        A log that SpatialConnect or GeoGig made is upgraded with all its rows. A log whose layer \
        another program has changed is mended. A layer that is logged already stays as it is.
        """,
      examples: ["fieldpack log enable field.gpkg:wells"], body: LogEnableCommand.self)
  }

  private static var logDisableCommand: Command {
    Command(
      "disable", abstract: "End the logs of layers, and delete the edits in them.",
      examples: ["fieldpack log disable field.gpkg:wells"], body: LogDisableCommand.self)
  }

  private static var logListCommand: Command {
    Command(
      "list", abstract: "List the edits of a layer, or of all layers that are logged.",
      discussion: """
        The oldest edit of each layer comes first. An edit is pending until a synchronisation has \
        had it acknowledged.
        """,
      examples: [
        "fieldpack log list field.gpkg:wells --pending",
        "fieldpack log list field.gpkg --since 2026-05-01 --author ann",
      ], body: LogListCommand.self)
  }

  private static var logShowCommand: Command {
    Command(
      "show", abstract: "Show what each edit of a feature changed.",
      discussion: """
        The feature is one of an id in a layer, or of a key tuple, and may have been deleted. \
        Geometries are WKT in the layer's SRS.
        """,
      examples: ["fieldpack log show field.gpkg:wells 7"], body: LogShowCommand.self)
  }

  private static var logUndoCommand: Command {
    Command(
      "undo", abstract: "Take the last edit of a feature back, as a new edit.",
      discussion: """
        A feature that was deleted is there again, and one that was created is deleted. Because the \
        undoing is an edit itself, the next 'undo' takes it back.
        """,
      examples: ["fieldpack log undo field.gpkg:wells 7"], body: LogUndoCommand.self)
  }
}

/// The layers whose logs are begun or ended.
private struct LoggedLayers: OptionGroup {
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

  func names() throws(FieldpackError) -> [LayerID] {
    let named = (source.layer.map { [$0] } ?? []) + words
    return named.isEmpty ? [try source.namedLayer()] : named
  }
}

/// `fieldpack log enable`.
private struct LogEnableCommand: CommandBody {
  let invocation: Invocation
  let options: LoggedLayers

  func run() async throws(FieldpackError) -> Int32 {
    let layers = try options.names()
    return try await invocation.withGeoPackage(
      options.source.path, options.profile, usesWAL: false
    ) { (store) throws(FieldpackError) in
      try await store.write { (writer) throws(FieldpackError) in
        for layer in layers { try writer.enableLog(of: layer) }
      }
      if invocation.isJSON {
        try invocation.print(["layers": .array(layers.map { .text($0.rawValue) })])
      } else {
        for layer in layers {
          try invocation.print("the edits of \(DisplayText.visible("\(layer)")) are logged\n")
        }
      }
      return ExitStatus.success
    }
  }
}

/// `fieldpack log disable`.
private struct LogDisableCommand: CommandBody {
  let invocation: Invocation
  let options: LoggedLayers

  func run() async throws(FieldpackError) -> Int32 {
    let layers = try options.names()
    return try await invocation.withGeoPackage(
      options.source.path, options.profile, usesWAL: false
    ) { (store) throws(FieldpackError) in
      let counts = try await store.write { (writer) throws(FieldpackError) in
        var counts: [Int] = []
        for layer in layers {
          counts.append(try writer.existingLog(of: layer).log.count())
          try writer.removeLog(of: layer)
        }
        return counts
      }
      if invocation.isJSON {
        try invocation.print([
          "layers": .array(
            zip(layers, counts).map {
              ["layer": .text($0.rawValue), "edit_count": JSONValue($1)]
            })
        ])
      } else {
        for (layer, count) in zip(layers, counts) {
          let name = DisplayText.visible("\(layer)")
          try invocation.print("the log of \(name) is deleted, with \(count.counting("edit"))\n")
        }
      }
      return ExitStatus.success
    }
  }
}
