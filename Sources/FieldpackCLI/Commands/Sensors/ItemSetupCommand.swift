import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var itemSetupCommand: Command {
    Command(
      "setup", abstract: "Add an item to a person, or change what an item captures.",
      discussion: """
        --type is the name of what is captured, such as LeftSlap, RightThumbRolled, Face2d or \
        LeftIris, or its title, such as "Left Slap". An address without a scheme gets http://. \
        An item that is changed keeps what it has captured, and its sensor where none is named.
        """,
      examples: [
        "fieldpack item setup field.gpkg --person 1 --type LeftSlap --sensor 192.0.2.7:8000",
        "fieldpack item setup field.gpkg --item 3 --type RightSlap",
      ],
      body: ItemSetupCommand.self)
  }
}

/// `fieldpack item setup`.
private struct ItemSetupCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let person: String?
    let item: String?
    let type: CaptureType?
    let sensor: String?
    let name: String?
    let index: Int?
    let position: Position?
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      person = reader.value("person", .text("person"), help: "Add an item to this person.")
      item = reader.value("item", .text("item"), help: "Change this item.")
      type = reader.value("type", .captureType, help: "What is captured.")
      sensor = reader.value("sensor", .text("url"), help: "The address of the sensor.")
      name = reader.value("name", .text("name"), help: "What the sensor is called.")
      index = reader.value(
        "index", .integer("n", in: 0...Int.max), shownDefault: "the last",
        help: "The place of a new item among the others, from 0.")
      position = reader.value("at", .position, help: "Where the item is captured.")
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    guard (options.person == nil) != (options.item == nil) else {
      throw FieldpackError(
        .invalidArgument, "an item is set up for a person, or is changed. Try: --person or --item")
    }
    if options.name != nil, options.sensor == nil {
      throw FieldpackError(
        .invalidArgument, "--name names the sensor of --sensor. Try: --sensor URL --name NAME")
    }
    return try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      if let name = options.item {
        try await change(try await catalogue.item(name), of: catalogue)
      } else {
        try await add(of: catalogue)
      }
      return ExitStatus.success
    }
  }

  private func add(of catalogue: PersonCatalogue) async throws(FieldpackError) {
    let person = try await catalogue.person(options.person ?? "")
    guard let type = options.type else { throw missingType }
    let draft = try draft(type, device: nil)
    let item = try await catalogue.add(draft, to: person.key, at: options.index)
    await invocation.log("item setup", on: [item.key], in: catalogue, if: options.logsInteractions)
    try invocation.show(item, "added")
  }

  private func change(
    _ item: Item, of catalogue: PersonCatalogue
  ) async throws(FieldpackError) {
    guard let type = options.type ?? item.captureType else { throw missingType }
    if options.index != nil {
      throw FieldpackError(
        .invalidArgument, "--index is the place of a new item. Try: fieldpack item move")
    }
    try await catalogue.set(item.key, to: try draft(type, device: item.device))
    await invocation.log("item setup", on: [item.key], in: catalogue, if: options.logsInteractions)
    try invocation.show(try await catalogue.item("\(item.key.feature)"), "set up")
  }

  private var missingType: FieldpackError {
    FieldpackError(
      .invalidArgument, "it is not said what is captured. Try: --type LeftSlap")
  }

  private func draft(
    _ type: CaptureType, device: SensorDevice?
  ) throws(FieldpackError) -> ItemDraft {
    guard let modality = type.modality else { throw missingType }
    var draft = ItemDraft(
      modality: modality, captureType: type, device: device, position: options.position)
    if let typed = options.sensor {
      guard let address = SensorAddress(typed: typed, name: options.name ?? "") else {
        throw FieldpackError(.invalidArgument, "--sensor is no address. Try: --sensor 192.0.2.7")
      }
      var named = device ?? SensorDevice(address)
      named.address = address
      draft.device = named
    }
    return draft
  }
}

extension ValueForm where Value == CaptureType {
  /// What is captured, by its name or title.
  static var captureType: ValueForm {
    let known = CaptureType.allCases.filter { $0 != .notSet }
    let names = known.map(\.parameterName)
    return ValueForm("type", completion: .choices(names)) {
      (text) throws(ValueError) -> CaptureType in
      guard let type = CaptureType(named: text), type != .notSet else {
        throw .notAmong(names, text)
      }
      return type
    }
  }
}
