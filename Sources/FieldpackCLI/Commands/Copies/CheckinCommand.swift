import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackPostGIS
import FieldpackServices

extension FieldpackTool {
  static var checkinCommand: Command {
    Command(
      "checkin", abstract: "Bring the edits of a field copy and of its database together.",
      discussion: """
        The edits of the copy go to the database that it was made of, in their order, with who \
        made them and when; then those of others come. What was interrupted goes on at the next \
        run, and nothing is applied twice.

        Where both changed the same column of a feature, the database's value stands; the other \
        is kept as a row of the layer conflict. Different columns are merged. A change wins \
        against a deletion. An edit that the database refuses is parked, and later ones of its \
        feature with it; the status is 2 then. With --retry parked edits are sent again.
        """,
      examples: [
        "fieldpack checkin field.gpkg --dry-run",
        "fieldpack checkin field.gpkg",
        "fieldpack checkin field.gpkg --into team.scfg:survey",
      ],
      family: editFamily, body: CheckinCommand.self)
  }
}

/// `fieldpack checkin`.
private struct CheckinCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var copy: String
    let target: SourceName?
    let isDryRun: Bool
    let retries: Bool
    let allowed: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _copy = reader.geoPackage("The field copy that fieldpack checkout made.")
      target = reader.value(
        "into", .source("config:store", ["scfg"]), shownDefault: "as at the checkout",
        help: "The store on PostgreSQL.")
      isDryRun = reader.flag("dry-run", help: "List the edits, and write nothing.")
      retries = reader.flag("retry", help: "Send parked edits again.")
      allowed = reader.allowedPaths()
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.copy, options.profile, usesWAL: false) {
      (copy) async throws(FieldpackError) in
      try await invocation.withDatabase(try await target(of: copy), allowing: options.allowed) {
        (store) async throws(FieldpackError) -> Int32 in
        #if PostGIS
          return try await synchronise(try await FieldCheckin.run(of: copy, with: store))
        #else
          throw store.missing
        #endif
      }
    }
  }

  /// The store that is named, else the one that the copy was made of.
  private func target(of copy: GeoPackageStore) async throws(FieldpackError) -> SourceName {
    let record = try await copy.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try CheckoutRecord(in: snapshot)
    }
    guard let record else {
      throw FieldpackError(
        .constraint,
        "\(options.copy) is no field copy. Try: fieldpack checkout CONFIG:STORE --into FILE")
    }
    if let target = options.target { return target }
    let known = SourceName(path: record.config, layer: LayerID(record.store.rawValue))
    guard known.exists else {
      throw FieldpackError(
        .notFound,
        "the config \(record.config) of the field copy is not here. Try: --into CONFIG:STORE")
    }
    return known
  }

  private func synchronise(_ run: SyncRun) async throws(FieldpackError) -> Int32 {
    var run = run
    run.retriesParked = options.retries
    let output = SyncOutput(
      invocation: invocation, device: options.copy, receiver: run.receiver, follows: false)
    if options.isDryRun {
      try output.show(try await run.plan())
      return ExitStatus.success
    }
    let report = try await run.run()
    try output.show(report)
    return report.layers.contains { $0.parked > 0 }
      ? ExitStatus.skippedFeatures : ExitStatus.success
  }
}
