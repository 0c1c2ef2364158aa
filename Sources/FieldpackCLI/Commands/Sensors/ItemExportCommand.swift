import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var itemExportCommand: Command {
    Command(
      "export", abstract: "Write persons with their items as a folder, GeoJSON or a page.",
      discussion: """
        An --output in .geojson has a feature for each item, one in .html is a page with the \
        thumbnails that loads nothing; all else is a folder of media and session.json, which is \
        made. The command says how many files and which details leave the GeoPackage, but not \
        their values. All persons are written where none is named.
        """,
      examples: [
        "fieldpack item export field.gpkg --output session",
        "fieldpack item export field.gpkg 1 2 --output session.html",
      ],
      body: ItemExportCommand.self)
  }
}

/// `fieldpack item export`.
private struct ItemExportCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let persons: [String]
    @Required var output: String
    let overwrites: Bool
    let logsInteractions: Bool

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      persons = reader.persons()
      _output = reader.required(
        "output", short: "o",
        .text("folder|geojson|html", completion: .files(["geojson", "html"])),
        help: "The folder or the file to write.")
      overwrites = reader.flag("overwrite", help: "Replace a file that exists.")
      logsInteractions = reader.logsInteractions()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let form = form
    let isFile = form != .folder
    if options.overwrites, !isFile {
      throw FieldpackError(
        .invalidArgument,
        "--overwrite replaces a file; a folder is never replaced. "
          + "Try: another folder")
    }
    // Refused before anything is read, where the file exists.
    let file =
      isFile ? try ByteOutput(replacing: options.output, overwrite: options.overwrites) : nil
    return try await invocation.withPersons(options.file) { (catalogue) throws(FieldpackError) in
      let persons =
        options.persons.isEmpty
        ? try await catalogue.persons() : try await catalogue.persons(named: options.persons)
      let export = try await ItemExport(of: persons, in: catalogue)
      if let file {
        let text = form == .page ? try await export.page() : export.geoJSON
        try file.write(Array(text.utf8))
        try file.finish()
      } else {
        try await export.writeFolder(to: options.output)
      }
      await invocation.log(
        "item export", on: persons.map(\.key), in: catalogue, if: options.logsInteractions)
      try show(export, as: form)
      return ExitStatus.success
    }
  }

  private var form: ItemExport.Form {
    let name = options.output.lowercased()
    if name.hasSuffix(".html") { return .page }
    return name.hasSuffix(".geojson") ? .geoJSON : .folder
  }

  private func show(_ export: ItemExport, as form: ItemExport.Form) throws(FieldpackError) {
    if invocation.isJSON {
      return try invocation.print([
        "output": .text(options.output), "person_count": JSONValue(export.personCount),
        "item_count": JSONValue(export.itemCount), "names": JSONValue(export.names(as: form)),
      ])
    }
    let summary = export.summary(as: form)
    try invocation.print("\(DisplayText.visible(options.output)): \(summary)\n")
  }
}
