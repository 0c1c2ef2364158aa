import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var itemCommand: Command {
    Command(
      "item", abstract: "Set up, capture, list, mark, move, clear and export items of persons.",
      discussion: """
        An item is named by its number, as list shows it, or by its key tuple. Persons are added \
        by: fieldpack person add FILE.gpkg
        """,
      subcommands: [
        itemListCommand, itemSetupCommand, itemCaptureCommand, itemAnnotateCommand, itemMoveCommand,
        itemClearCommand, itemDeleteCommand, itemExportCommand,
      ], family: sensorsFamily)
  }

  private static var itemListCommand: Command {
    Command(
      "list", abstract: "List the items of persons in their order.",
      examples: ["fieldpack item list field.gpkg", "fieldpack item list field.gpkg 1"],
      body: ItemListCommand.self)
  }

  private static var itemAnnotateCommand: Command {
    Command(
      "annotate", abstract: "Mark parts of an item, or take notes of it.",
      discussion: """
        The parts of a slap are Index, Middle, Ring and Little, those of a pair Left and Right; \
        1 is the one part of all other items. The marks that are given replace those that there \
        are, and --unmark removes all.
        """,
      examples: ["fieldpack item annotate field.gpkg 3 --mark Ring --notes \"bandaged\""],
      body: ItemAnnotateCommand.self)
  }

  private static var itemMoveCommand: Command {
    Command(
      "move", abstract: "Move an item among those of its person.",
      discussion: "The items of a person are numbered from 0.",
      examples: ["fieldpack item move field.gpkg 3 0"], body: ItemMoveCommand.self)
  }

  private static var itemClearCommand: Command {
    Command(
      "clear", abstract: "Delete what items have captured; their sensors, marks and notes stay.",
      examples: ["fieldpack item clear field.gpkg 3"], body: ItemClearCommand.self)
  }

  private static var itemDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete items with their sensors and what was captured.",
      discussion: "All of the items are deleted, or none is.",
      examples: ["fieldpack item delete field.gpkg 3"], body: ItemDeleteCommand.self)
  }
}

extension OptionReader {
  mutating func item() -> Required<String> {
    argument(.text("item"), help: "The number or the key tuple of an item.")
  }

  mutating func items() -> [String] {
    arguments(.text("item"), minimum: 1, help: "Numbers or key tuples of items.")
  }
}

extension PersonCatalogue {
  /// The keys of items, each once.
  func itemKeys(named names: [String]) async throws(FieldpackError) -> [KeyTuple] {
    var keys: [KeyTuple] = []
    for name in names {
      let key = try await item(name).key
      if !keys.contains(key) { keys.append(key) }
    }
    return keys
  }
}

extension Item {
  var document: JSONValue {
    let parts = captureType?.annotatedParts ?? [""]
    let marked = zip(parts, annotations).enumerated().filter(\.element.1).map {
      $0.element.0.isEmpty ? "\($0.offset + 1)" : $0.element.0
    }
    return [
      "key": .text(key.description), "item": .text(key.feature.description),
      "person": .text(person.feature.description), "index": JSONValue(index),
      "modality": JSONValue(modality), "type": JSONValue(submodality),
      "sensor": device.map { ["uri": .text($0.address.uri), "name": .text($0.address.name)] }
        ?? .null,
      "content_type": JSONValue(contentType), "marks": JSONValue(marked),
      "notes": JSONValue(notes),
      "position": position.map { [.real($0.x), .real($0.y)] } ?? .null,
      "created_at": .text(createdAt.description),
    ]
  }
}

extension Invocation {
  func show(_ item: Item, _ what: String) throws(FieldpackError) {
    if isJSON {
      try print(["item": item.document])
    } else {
      try print("item \(item.key.feature) \(what)\n")
    }
  }
}

/// `fieldpack item list`.
private struct ItemListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let person: String?

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      person = reader.optionalArgument(
        .text("person"), help: "Only the items of this person.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file) { (catalogue) throws(FieldpackError) in
      let persons =
        if let name = options.person { [try await catalogue.person(name)] } else {
          try await catalogue.persons()
        }
      var items: [Item] = []
      for person in persons { items += try await catalogue.items(of: person.key) }
      if invocation.isJSON {
        try invocation.print(["items": .array(items.map(\.document))])
      } else {
        try show(items)
      }
      return ExitStatus.success
    }
  }

  private func show(_ items: [Item]) throws(FieldpackError) {
    let columns = [
      TableColumn("item", isNumeric: true), TableColumn("person", isNumeric: true),
      TableColumn("index", isNumeric: true), TableColumn("type"), TableColumn("data"),
      TableColumn("sensor"),
    ]
    let rows = items.map { item in
      [
        item.key.feature.description, item.person.feature.description, "\(item.index)", item.title,
        item.contentType ?? "", item.device?.address.uri ?? "",
      ]
    }
    try invocation.printList(columns, rows, of: "item")
  }
}

/// `fieldpack item annotate`.
private struct ItemAnnotateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var item: String
    let marks: [String]
    let unmarks: Bool
    let notes: String?
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      _item = reader.item()
      marks = reader.values(
        "mark", .text("part"), help: "Mark this part, by its name or number; may be repeated.")
      unmarks = reader.flag("unmark", help: "Remove all marks.")
      notes = reader.value("notes", .any("text"), help: "What is to be known; empty removes it.")
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    guard !options.marks.isEmpty || options.unmarks || options.notes != nil else {
      throw FieldpackError(
        .invalidArgument, "nothing is to be marked or noted. Try: --mark, --unmark or --notes")
    }
    return try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let item = try await catalogue.item(options.item)
      let marks = options.marks.isEmpty && !options.unmarks ? nil : try flags(of: item)
      try await catalogue.annotate(item.key, marks, notes: options.notes)
      await invocation.log(
        "item annotate", on: [item.key], in: catalogue, if: options.logsInteractions)
      try invocation.show(try await catalogue.item(options.item), "annotated")
      return ExitStatus.success
    }
  }

  private func flags(of item: Item) throws(FieldpackError) -> [Bool] {
    let parts = item.captureType?.annotatedParts ?? [""]
    var flags = Item.noAnnotations
    for mark in options.marks {
      let named = parts.firstIndex { !$0.isEmpty && $0.lowercased() == mark.lowercased() }
      guard let index = named ?? Int(mark).map({ $0 - 1 }), parts.indices.contains(index) else {
        let names = parts == [""] ? "1" : parts.joined(separator: ", ")
        throw FieldpackError(
          .invalidArgument, "--mark '\(mark)' is no part of the item. Try: \(names)")
      }
      flags[index] = true
    }
    return flags
  }
}

/// `fieldpack item move`.
private struct ItemMoveCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var item: String
    @Required var index: Int
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      _item = reader.item()
      _index = reader.argument(
        .integer("index", in: 0...Int.max), help: "The place of the item among the others, from 0.")
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let item = try await catalogue.item(options.item)
      try await catalogue.move(item.key, to: options.index)
      await invocation.log("item move", on: [item.key], in: catalogue, if: options.logsInteractions)
      let moved = try await catalogue.item(options.item)
      try invocation.show(moved, "is now at \(moved.index)")
      return ExitStatus.success
    }
  }
}

/// The items that are cleared or deleted.
private struct ItemsToDelete: OptionGroup {
  @Required var file: String
  let items: [String]
  let scrubs: Bool
  let logsInteractions: Bool
  let profile: OpeningProfile

  init(_ reader: inout OptionReader) {
    _file = reader.personsFile()
    items = reader.items()
    scrubs = reader.scrubs()
    logsInteractions = reader.logsInteractions()
    profile = reader.editingProfile()
  }
}

/// `fieldpack item clear`.
private struct ItemClearCommand: CommandBody {
  let invocation: Invocation
  let options: ItemsToDelete

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.delete(from: options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let keys = try await catalogue.itemKeys(named: options.items)
      let deleted = try await catalogue.clear(keys, scrubbing: options.scrubs)
      await invocation.log("item clear", on: keys, in: catalogue, if: options.logsInteractions)
      return deleted
    }
  }
}

/// `fieldpack item delete`.
private struct ItemDeleteCommand: CommandBody {
  let invocation: Invocation
  let options: ItemsToDelete

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.delete(from: options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let keys = try await catalogue.itemKeys(named: options.items)
      let deleted = try await catalogue.delete(items: keys, scrubbing: options.scrubs)
      await invocation.log("item delete", on: keys, in: catalogue, if: options.logsInteractions)
      return deleted
    }
  }
}
