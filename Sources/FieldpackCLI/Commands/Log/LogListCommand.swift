import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// `fieldpack log list`.
struct LogListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    let isPending: Bool
    let since: Instant?
    let author: String?
    let limit: Int?

    init(_ reader: inout OptionReader) {
      _source = reader.geoPackageLayer("A GeoPackage; a layer of it may stand after a colon.")
      isPending = reader.flag("pending", help: "Only edits that no synchronisation has sent.")
      since = reader.value(
        "since", .moment, help: "Only edits of this moment and later; a date begins at 0:00 UTC.")
      author = reader.value("author", .text("name"), help: "Only edits of this author.")
      limit = reader.value("limit", .integer("n", in: 0...Int.max), help: "At most so many edits.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.source.path) { (store) throws(FieldpackError) in
      let layers = try await layers(of: store)
      var output = Output(invocation, showsLayer: options.source.layer == nil)
      var left = options.limit ?? .max
      for layer in layers where left > 0 {
        left -= try await print(layer, of: store, atMost: left, to: &output)
      }
      try output.finish(noting: !layers.isEmpty)
      return ExitStatus.success
    }
  }

  /// The layer that is named, else all that are logged.
  private func layers(of store: GeoPackageStore) async throws(FieldpackError) -> [LayerID] {
    if let layer = options.source.layer { return [layer] }
    let (logged, older) = try await store.read { (snapshot) throws(FieldpackError) in
      (try snapshot.loggedLayers(), try snapshot.layersWithOlderLogs())
    }
    for layer in older {
      invocation.console.note(
        "the log of layer '\(layer)' is one of SpatialConnect or GeoGig. "
          + "Try: fieldpack log enable \(options.source.path):\(layer)")
    }
    if logged.isEmpty, older.isEmpty {
      invocation.console.note(
        "no layer is logged. Try: fieldpack log enable \(options.source.path):LAYER")
    }
    return logged
  }

  /// How many edits are read at once: no more of them are in memory.
  private static let step = 1000

  /// - Returns: the number of edits.
  private func print(
    _ layer: LayerID, of store: GeoPackageStore, atMost limit: Int, to output: inout Output
  ) async throws(FieldpackError) -> Int {
    var chosen = EditLog.Selection()
    (chosen.isPending, chosen.since) = (options.isPending, options.since)
    chosen.author = options.author
    var (last, count): (Int64, Int) = (0, 0)
    while count < limit {
      let (after, wanted) = (last, min(Self.step, limit - count))
      let (edits, isCurrent) = try await store.read { [chosen] (snapshot) throws(FieldpackError) in
        let (log, isCurrent) = try snapshot.existingLog(of: layer)
        return (try log.edits(chosen, after: after, limit: wanted), isCurrent)
      }
      if after == 0, !isCurrent { invocation.noteStale(layer, of: options.source.path) }
      for edit in edits { try output.add(edit, of: layer) }
      count += edits.count
      guard edits.count == wanted, let number = edits.last?.number else { break }
      last = number
      try checkCancellation()
    }
    return count
  }

  /// A table or a document that is written while edits are read.
  private struct Output {
    private let invocation: Invocation
    private let showsLayer: Bool
    private var table: TextTable
    private var count = 0

    init(_ invocation: Invocation, showsLayer: Bool) {
      self.invocation = invocation
      self.showsLayer = showsLayer
      let columns = [
        TableColumn("edit", isNumeric: true), TableColumn("time"),
        TableColumn("feature", isNumeric: true), TableColumn("operation"), TableColumn("author"),
        TableColumn("sent"), TableColumn("device"),
      ]
      let terminal = invocation.console.terminal
      table = TextTable(
        (showsLayer ? [TableColumn("layer")] : []) + columns, width: terminal.cutWidth,
        usesUnicode: terminal.usesUnicode)
    }

    mutating func add(_ edit: LoggedEdit, of layer: LayerID) throws(FieldpackError) {
      let output = invocation.output
      if invocation.isJSON {
        output.buffer += (count == 0 ? "{\"edits\":[" : ",").utf8
        edit.document(of: layer).append(to: &output.buffer)
      } else {
        let cells = [
          "\(edit.number)", edit.time?.description ?? "", "\(edit.feature)",
          edit.operation.word, edit.author ?? "", edit.sent?.description ?? "pending",
          edit.device ?? "",
        ]
        table.add((showsLayer ? [layer.rawValue] : []) + cells, to: &output.buffer)
      }
      count += 1
      try output.flushIfFull()
    }

    /// - Parameter tellsEmptiness: whether to say that there are no edits.
    mutating func finish(noting tellsEmptiness: Bool) throws(FieldpackError) {
      if invocation.isJSON {
        invocation.output.buffer += (count == 0 ? "{\"edits\":[]}\n" : "]}\n").utf8
      } else if count == 0 {
        guard tellsEmptiness else { return }
        invocation.console.note("there are no such edits")
      } else {
        table.finish(to: &invocation.output.buffer)
      }
      try invocation.output.flushIfFull()
    }
  }
}

extension ValueForm where Value == Instant {
  /// A moment with its zone, or the beginning of a day in UTC.
  static var moment: ValueForm {
    ValueForm("time") { (text) throws(ValueError) -> Instant in
      guard let moment = Instant(text) ?? Instant("\(text)T00:00Z") else {
        throw ValueError(
          "is neither a date such as 2026-05-01 nor a moment such as 2026-05-01T09:00:00Z")
      }
      return moment
    }
  }
}

extension Invocation {
  func noteStale(_ layer: LayerID, of path: String) {
    console.note(
      "the log of layer '\(layer)' is out of date: edits may be missing since another program "
        + "changed the layer or the log. Try: fieldpack log enable \(path):\(layer)")
  }
}

extension LoggedEdit.Operation {
  var word: String {
    switch self {
    case .state: "state"
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}

extension LoggedEdit {
  /// What is said of an edit in all documents.
  private var members: [JSONValue.Member] {
    let document: JSONValue = [
      "edit": .integer(number), "edit_id": JSONValue(id), "time": JSONValue(time),
      "operation": .text(operation.word), "author": JSONValue(author),
      "device": JSONValue(device), "sent_at": JSONValue(sent), "received_at": JSONValue(received),
    ]
    if case .object(let members) = document { return members }
    return []
  }

  func document(of layer: LayerID) -> JSONValue {
    let subject: [JSONValue.Member] = [
      .init(name: "layer", value: .text(layer.rawValue)),
      .init(name: "feature", value: .integer(feature)),
    ]
    return .object(subject + members)
  }

  func document(changing changes: [JSONValue]) -> JSONValue {
    .object(members + [.init(name: "changes", value: .array(changes))])
  }
}
