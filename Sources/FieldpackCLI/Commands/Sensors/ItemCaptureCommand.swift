import Fieldpack
import FieldpackCore
import FieldpackSensors

extension FieldpackTool {
  static var itemCaptureCommand: Command {
    Command(
      "capture", abstract: "Capture items by their sensors.",
      discussion: """
        Each item takes what its sensor captures in place of what it had. Captures that a run \
        before has left at sensors are downloaded first. The command ends with status 1 where \
        something could not be captured; the other items are captured all the same.
        """,
      examples: ["fieldpack item capture field.gpkg 1 2"], body: ItemCaptureCommand.self)
  }
}

/// `fieldpack item capture`.
private struct ItemCaptureCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let items: [String]
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      items = reader.items()
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let keys = try await catalogue.itemKeys(named: options.items)
      let links = try SensorLinks(journal: GeoPackageJournal(catalogue.store))
      let desk = SensorDesk(catalogue, links, logger: invocation.logger)
      do throws(FieldpackError) {
        try await desk.begin()
        let status = try await capture(keys, catalogue, desk)
        await desk.close()
        return status
      } catch {
        await desk.close()
        throw error
      }
    }
  }

  private func capture(
    _ keys: [KeyTuple], _ catalogue: PersonCatalogue, _ desk: SensorDesk
  ) async throws(FieldpackError) -> Int32 {
    var documents: [JSONValue] = []
    var failures = 0
    for key in keys {
      if Task.isCancelled { throw FieldpackError(.interrupted, "the captures were cancelled") }
      // Before the sensor is asked: a capture that fails was a command all the same.
      try await catalogue.note("item capture", on: [key], if: options.logsInteractions)
      let problem = try await problem(capturing: try await catalogue.item("\(key.feature)"), desk)
      if problem != nil { failures += 1 }
      let item = try await catalogue.item("\(key.feature)")
      if invocation.isJSON {
        documents.append(["item": item.document, "problem": JSONValue(problem)])
      } else {
        let end = problem ?? "captured, \(item.contentType ?? "nothing")"
        try invocation.print("item \(key.feature), \(item.title): \(end)\n")
        try invocation.output.flush()
      }
    }
    if invocation.isJSON { try invocation.print(["items": .array(documents)]) }
    return failures == 0 ? ExitStatus.success : ExitStatus.failure
  }

  /// What went wrong; `nil` for a capture that is stored.
  private func problem(
    capturing item: Item, _ desk: SensorDesk
  ) async throws(FieldpackError) -> String? {
    do throws(FieldpackError) {
      switch try await desk.capture(item) {
      case .completed(let captures):
        return captures.isEmpty ? "the sensor captured nothing" : nil
      case .canceled, nil: return "the capture was cancelled"
      case .failed(_, let message): return message
      }
    } catch {
      // What the disk refuses no other item can be captured into, either.
      guard
        error.httpFailure != nil || [.constraint, .unavailable, .invalidData].contains(error.code)
      else { throw error }
      return error.message
    }
  }
}
