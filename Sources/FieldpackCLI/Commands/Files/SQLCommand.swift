import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQL

extension FieldpackTool {
  static let sqlFamily = "Show how queries are answered, and run SQL."

  static var sqlCommand: Command {
    Command(
      "sql", abstract: "Run SQL on a GeoPackage, read-only by default.",
      discussion: """
        Functions such as ST_Area, ST_Buffer and ST_GeodesicDistance take the geometries of a \
        GeoPackage as they are, and SpatiaLite's are at hand beside them. ST_Intersects(geom, other), \
        ST_Within, ST_Contains, ST_Covers, ST_CoveredBy, ST_Touches, ST_Crosses, ST_Overlaps and \
        ST_Equals use the spatial index where they stand as a condition by themselves, in joins as \
        well; --explain tells whether they do. Geometries show as WKT, other blobs as hexadecimal. \
        With --write the statements run in one transaction, whose triggers keep the spatial \
        indexes; - reads them from standard input. Statements that would leave a layer at odds with \
        the file's catalogue are undone: one without its table or geometry column, or with \
        geometries of another type or reference system.
        """,
      examples: [
        "fieldpack sql field.gpkg \"SELECT name, ST_Area(geom) FROM parcels LIMIT 5\"",
        "fieldpack sql f.gpkg \"SELECT * FROM a JOIN b ON ST_Within(a.geom, b.geom)\"",
        "fieldpack sql field.gpkg --write \"UPDATE wells SET depth = 0 WHERE depth < 0\"",
      ],
      family: sqlFamily, body: SQLCommand.self)
  }
}

/// `fieldpack sql`.
private struct SQLCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var statement: String
    let writes: Bool
    let profile: OpeningProfile
    let format: RowFormat?
    let explains: Bool
    let timeout: Double?

    init(_ reader: inout OptionReader) {
      _file = reader.geoPackage("A GeoPackage.")
      _statement = reader.argument(.text("sql"), help: "The statement.")
      writes = reader.flag(
        "write", help: "Let the statements change the file, in one transaction.")
      profile = reader.editingProfile()
      format = reader.rowFormat()
      explains = reader.flag(
        "explain",
        help: "Run the statement, and show its plan, rows and time instead of the rows.")
      timeout = reader.timeout()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    if options.explains, options.writes {
      throw FieldpackError(
        .invalidArgument, "--explain and --write cannot be given together")
    }
    let sql = try statements()
    try await invocation.within(seconds: options.timeout) { () async throws(FieldpackError) in
      try await invocation.withGeoPackage(options.file, options.profile, usesWAL: false) {
        (store) throws(FieldpackError) in
        if options.explains {
          try await explain(sql, on: store)
        } else if options.writes {
          try await write(sql, to: store)
        } else {
          try await read(sql, from: store)
        }
      }
    }
    return ExitStatus.success
  }

  private func statements() throws(FieldpackError) -> String {
    guard options.statement == "-" else { return options.statement }
    let input = try ByteInput(spooling: 0, name: "stdin") { (_) throws(FieldpackError) in
      try checkCancellation()
    }
    return String(decoding: try input.head(input.size), as: UTF8.self)
  }

  private func read(_ sql: String, from store: GeoPackageStore) async throws(FieldpackError) {
    var rows = SQLOutput.rows(invocation, options.format)
    var notes: [String] = []
    for try await batch in store.rows(sql: sql) {
      try rows.begin(batch.columns, sample: batch.rows)
      for row in batch.rows { try rows.add(row) }
      notes += batch.notes.filter { !notes.contains($0) }
    }
    try rows.finish()
    try invocation.output.flush()
    for note in notes { invocation.console.note(note) }
  }

  private func explain(_ sql: String, on store: GeoPackageStore) async throws(FieldpackError) {
    let explanation = try await store.explain(sql: sql)
    if invocation.isJSON {
      try invocation.print(SQLOutput.document(explanation))
    } else {
      try invocation.print(SQLOutput.text(explanation, width: invocation.console.terminal.width))
    }
    for note in explanation.notes { invocation.console.note(note) }
  }

  private func write(_ sql: String, to store: GeoPackageStore) async throws(FieldpackError) {
    let outcomes = try await store.run(sql: sql)
    for note in outcomes.flatMap(\.notes) { invocation.console.note(note) }
    if invocation.isJSON {
      try invocation.print(SQLOutput.document(outcomes))
      return
    }
    for outcome in outcomes where !outcome.columns.isEmpty {
      var rows = SQLOutput.rows(invocation, options.format)
      try rows.begin(outcome.columns, sample: outcome.rows)
      for row in outcome.rows { try rows.add(row) }
      try rows.finish()
    }
    let changes = outcomes.reduce(0) { $0 + $1.changes }
    invocation.console.note("\(changes.counting("row")) changed")
  }
}

/// Ends a command that has been told to stop.
func checkCancellation() throws(FieldpackError) {
  if Task.isCancelled { throw FieldpackError(.interrupted, "interrupted") }
}
