import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static let sensorsFamily = "Persons, and what biometric sensors capture."

  static var personCommand: Command {
    Command(
      "person", abstract: "Keep the persons whose biometric items are captured.",
      discussion: """
        A person is named by its number, as list shows it, or by its key tuple. The items of \
        persons are set up by: fieldpack item setup FILE.gpkg
        """,
      subcommands: [
        personListCommand, personAddCommand, personEditCommand, personDuplicateCommand,
        personDeleteCommand,
      ], family: sensorsFamily)
  }

  private static var personListCommand: Command {
    Command(
      "list", abstract: "List the persons of a GeoPackage in the order they were added.",
      examples: ["fieldpack person list field.gpkg"], body: PersonListCommand.self)
  }

  private static var personAddCommand: Command {
    Command(
      "add", abstract: "Add a person to a GeoPackage, which is made where it is missing.",
      examples: [
        "fieldpack person add field.gpkg --first-name Zofia --last-name Kowalska --eyes Blue"
      ],
      body: PersonAddCommand.self)
  }

  private static var personEditCommand: Command {
    Command(
      "edit", abstract: "Change what is known of a person.",
      discussion: """
        What no option names stays. An empty text removes: --notes "". An alias, date or place \
        replaces all that there are of its kind.
        """,
      examples: ["fieldpack person edit field.gpkg 1 --hair Brown --notes \"\""],
      body: PersonEditCommand.self)
  }

  private static var personDuplicateCommand: Command {
    Command(
      "duplicate", abstract: "Add a person with the items and sensors of another.",
      discussion: "The copy has no details, and nothing that was captured.",
      examples: ["fieldpack person duplicate field.gpkg 1"], body: PersonDuplicateCommand.self)
  }

  private static var personDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete persons with their items and what was captured of them.",
      discussion: """
        All of the persons are deleted, or none is. With --scrub the rows go from the change logs, \
        too, and their bytes from the file; the deletion is then not synchronised.
        """,
      examples: ["fieldpack person delete field.gpkg 1 --scrub"], body: PersonDeleteCommand.self)
  }
}

extension OptionReader {
  mutating func personsFile() -> Required<String> {
    geoPackage("The GeoPackage with the persons.")
  }

  mutating func person() -> Required<String> {
    argument(.text("person"), help: "The number or the key tuple of a person.")
  }

  mutating func persons(minimum: Int = 0) -> [String] {
    arguments(.text("person"), minimum: minimum, help: "Numbers or key tuples of persons.")
  }

  mutating func scrubs() -> Bool {
    flag(
      "scrub",
      help: "Remove what is deleted from the change logs, too, and its bytes from the file.")
  }
}

extension Invocation {
  /// Opens a GeoPackage with persons, runs `body` and closes it, whatever happens.
  func withPersons(
    _ path: String, _ profile: OpeningProfile = .foreign,
    _ body: (PersonCatalogue) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await withGeoPackage(path, profile, usesWAL: false) { (store) throws(FieldpackError) in
      try await body(PersonCatalogue(store))
    }
  }

  /// Deletes something of a GeoPackage with persons, and tells how much.
  func delete(
    from path: String, _ profile: OpeningProfile,
    _ body: (PersonCatalogue) async throws(FieldpackError) -> DeletedFeatures
  ) async throws(FieldpackError) -> Int32 {
    try await withPersons(path, profile) { (catalogue) throws(FieldpackError) in
      let deleted = try await body(catalogue)
      try print(deleted)
      return ExitStatus.success
    }
  }

  /// Prints rows as a table, where there are any, and how many there are.
  func printList(
    _ columns: [TableColumn], _ rows: [[String]], of noun: String
  ) throws(FieldpackError) {
    if !rows.isEmpty {
      try printTable(columns, rows)
      try print("\n")
    }
    try print(rows.count.counting(noun) + "\n")
  }
}

extension PersonCatalogue {
  /// Each person once.
  func persons(named names: [String]) async throws(FieldpackError) -> [Person] {
    var persons: [Person] = []
    for name in names {
      let person = try await person(name)
      if !persons.contains(person) { persons.append(person) }
    }
    return persons
  }
}

extension Person {
  /// The details by the names of the options, where there are any.
  var document: JSONValue {
    let details = details
    return .members([
      "key": .text(key.description), "person": .text(key.feature.description),
      "first_name": details.firstName.map { .text($0) },
      "middle_name": details.middleName.map { .text($0) },
      "last_name": details.lastName.map { .text($0) },
      "other_name": details.otherName.map { .text($0) },
      "aliases": JSONValue(details.aliases), "births": JSONValue(details.datesOfBirth),
      "birthplaces": JSONValue(details.placesOfBirth),
      "gender": details.gender.map { .text($0) }, "hair": details.hairColor.map { .text($0) },
      "eyes": details.eyeColor.map { .text($0) }, "race": details.race.map { .text($0) },
      "height": details.height.map { .text($0) }, "weight": details.weight.map { .text($0) },
      "notes": details.notes.map { .text($0) }, "created_at": .text(createdAt.description),
      "modified_at": JSONValue(modifiedAt?.description),
    ])
  }
}

// MARK: Commands

/// `fieldpack person list`.
private struct PersonListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String

    init(_ reader: inout OptionReader) { _file = reader.personsFile() }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file) { (catalogue) throws(FieldpackError) in
      let persons = try await catalogue.persons()
      let items = try await catalogue.items()
      func count(_ person: Person) -> Int { items.count { $0.person == person.key } }
      if invocation.isJSON {
        try invocation.print([
          "persons": .array(
            persons.map { ["person": $0.document, "item_count": JSONValue(count($0))] })
        ])
        return ExitStatus.success
      }
      let columns = [
        TableColumn("person", isNumeric: true), TableColumn("name"), TableColumn("added"),
        TableColumn("items", isNumeric: true),
      ]
      let rows = persons.map { person in
        [
          person.key.feature.description, person.details.name, person.createdAt.description,
          "\(count(person))",
        ]
      }
      try invocation.printList(columns, rows, of: "person")
      return ExitStatus.success
    }
  }
}

extension Invocation {
  fileprivate func show(_ person: Person, _ what: String) throws(FieldpackError) {
    if isJSON {
      try print(["person": person.document])
    } else {
      try print("person \(person.key.feature) \(what)\n")
    }
  }
}

/// `fieldpack person add`.
private struct PersonAddCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let details: PersonArguments
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      details = reader.group()
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withNewGeoPackage(options.file, options.profile) {
      (store) throws(FieldpackError) in
      let catalogue = PersonCatalogue(store)
      let person = try await catalogue.add(options.details.applied(to: .init()))
      await invocation.log(
        "person add", on: [person.key], in: catalogue, if: options.logsInteractions)
      try invocation.show(person, "added")
      return ExitStatus.success
    }
  }
}

/// `fieldpack person edit`.
private struct PersonEditCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var person: String
    let details: PersonArguments
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      _person = reader.person()
      details = reader.group()
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let person = try await catalogue.person(options.person)
      try await catalogue.edit(person.key, to: options.details.applied(to: person.details))
      await invocation.log(
        "person edit", on: [person.key], in: catalogue, if: options.logsInteractions)
      try invocation.show(try await catalogue.person(options.person), "edited")
      return ExitStatus.success
    }
  }
}

/// `fieldpack person duplicate`.
private struct PersonDuplicateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var person: String
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      _person = reader.person()
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withPersons(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let person = try await catalogue.person(options.person)
      let copy = try await catalogue.duplicate(person.key)
      await invocation.log(
        "person duplicate", on: [copy.key], in: catalogue, if: options.logsInteractions)
      try invocation.show(copy, "added")
      return ExitStatus.success
    }
  }
}

/// `fieldpack person delete`.
private struct PersonDeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let persons: [String]
    let scrubs: Bool
    let logsInteractions: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.personsFile()
      persons = reader.persons(minimum: 1)
      scrubs = reader.scrubs()
      logsInteractions = reader.logsInteractions()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.delete(from: options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let keys = try await catalogue.persons(named: options.persons).map(\.key)
      let deleted = try await catalogue.delete(keys, scrubbing: options.scrubs)
      await invocation.log("person delete", on: keys, in: catalogue, if: options.logsInteractions)
      return deleted
    }
  }
}
