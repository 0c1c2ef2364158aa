import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackPostGIS

extension FieldpackTool {
  static var checkoutCommand: Command {
    Command(
      "checkout", abstract: "Make a field copy of layers of a database.",
      discussion: """
        The copy is a GeoPackage that logs its edits, and knows up to which edit it shows the \
        database. fieldpack checkin brings the edits of both sides together later. With --bbox or \
        --where the copy has a part of the features, and later also those that come into that part.

        The database logs the edits of the layers from then on, by triggers, whichever program \
        makes them. The user needs the right to make them, and a schema for the logs. Layers need \
        a key of whole numbers.
        """,
      examples: [
        "fieldpack checkout team.scfg:survey --into field.gpkg",
        "fieldpack checkout team.scfg:survey wells --bbox 7,46,8,47 --into field.gpkg",
      ],
      family: editFamily, body: CheckoutCommand.self)
  }
}

/// `fieldpack checkout`.
private struct CheckoutCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var target: String
    let layers: [LayerID]
    let box: Envelope?
    let boxSRS: SRS?
    let condition: String?
    let overwrites: Bool
    let allowed: [String]

    init(_ reader: inout OptionReader) {
      _source = reader.argument(
        .source("config:store", ["scfg"]), help: "A store on PostgreSQL in a config.")
      layers = reader.layers()
      _target = reader.required("into", .target, help: "The GeoPackage to make.")
      box = reader.value(
        "bbox", .box, help: "Only features whose envelope meets this box, in degrees.")
      boxSRS = reader.value(
        "bbox-srs", .srs, help: "The SRS of the box, where it is not longitude and latitude.")
      condition = reader.value(
        "where", .text("CQL2"),
        help: "Only features that meet this condition, in CQL2; @FILE reads it from a file.")
      overwrites = reader.flag("overwrite", help: "Replace a file that exists.")
      allowed = reader.allowedPaths()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    guard options.box != nil || options.boxSRS == nil else {
      throw FieldpackError(
        .invalidArgument, "--bbox-srs says more about a --bbox, which is missing")
    }
    let condition: String? =
      if let text = options.condition {
        try CommandCondition.filter(text, source: options.source.path).cql2Text
      } else { nil }
    return try await invocation.withDatabase(options.source, allowing: options.allowed) {
      (store) async throws(FieldpackError) in try await make(of: store, condition)
    }
  }

  private func make(
    of store: DatabaseStore, _ condition: String?
  ) async throws(FieldpackError) -> Int32 {
    #if PostGIS
      let config = FileSystem.absolute(options.source.path)
      var record = CheckoutRecord(config: config, store: store.id)
      (record.box, record.condition) = (options.box, condition)
      if let srs = options.boxSRS { record.boxSRS = srs }
      var checkout = FieldCheckout(of: store, record)
      (checkout.layers, checkout.overwrites) = (options.layers, options.overwrites)
      try show(try await checkout.run(into: options.target))
      return ExitStatus.success
    #else
      throw store.missing
    #endif
  }

  #if PostGIS
    private func show(_ report: FieldCheckout.Report) throws(FieldpackError) {
      guard !invocation.isJSON else {
        return try invocation.print([
          "output": .text(options.target),
          "layers": .array(
            report.layers.map {
              ["layer": .text($0.name.rawValue), "feature_count": JSONValue($0.count)]
            }),
          "notes": JSONValue(report.notes),
        ])
      }
      for layer in report.layers {
        let count = layer.count.counting("feature")
        try invocation.print(
          DisplayText.visible("\(count) of layer \(layer.name) in \(options.target)") + "\n")
      }
      for note in report.notes { invocation.console.note(note) }
    }
  #endif
}

#if PostGIS
  typealias DatabaseStore = PostGISStore
#else
  /// Stands for a store on PostgreSQL in a build without the trait. Nothing makes one there.
  struct DatabaseStore {
    let missing: FieldpackError
  }
#endif

extension Invocation {
  /// Opens a store on PostgreSQL in a config, runs `body` and closes it.
  ///
  /// - Parameters:
  ///   - name: `CONFIG:STORE`, or a config with one store.
  ///   - otherwise: what is said of a store of another type, behind its name.
  func withDatabase<R>(
    _ name: SourceName, allowing paths: [String], profile: OpeningProfile = .foreign,
    otherwise: String = "has no field copies. Try: a copy of the file, and fieldpack sync",
    _ body: (DatabaseStore) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let stores = name.layer.map { [StoreID($0.rawValue)] }
    return try await withSource(
      name.path, SourceArguments(stores: stores, allowing: paths), profile: profile
    ) { (source) async throws(FieldpackError) in
      let ids = stores ?? source.workspace.members.map(\.id)
      guard ids.count == 1 else {
        throw FieldpackError(
          .invalidArgument,
          "\(name.path) has \(ids.count.counting("store")). Try: \(name.path):STORE")
      }
      let store = try source.workspace.store(ids[0])
      #if PostGIS
        if let database = store as? PostGISStore { return try await body(database) }
      #endif
      throw FieldpackError(
        .unsupported,
        "store '\(store.id)' is no store on PostgreSQL, and \(otherwise)")
    }
  }
}
