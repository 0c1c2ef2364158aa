import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var photosCommand: Command {
    Command(
      "photos", abstract: "Find pictures for the points of tracks, and show them.",
      discussion: """
        Shows each track point with its picture, the newest first. With --fetch pictures are looked \
        for where points wait for one: photos around the point, farther and farther off until there \
        is one that is not the picture of another point of the track. What fails is tried again by a \
        later run. A point without a picture is shown, too.

        Photos of Flickr need a key in the environment variable FLICKR_API_KEY, which is written to \
        no file. Photos of a layer have their pictures in related media, or in files that the layer \
        names in a column path, below the GeoPackage's folder.

        With --html everything goes to one page that needs nothing from elsewhere.
        """,
      examples: [
        "fieldpack photos field.gpkg --fetch album.gpkg:photos",
        "FLICKR_API_KEY=… fieldpack photos field.gpkg walk --fetch flickr",
        "fieldpack photos field.gpkg walk --html walk.html",
      ],
      arguments: [PhotosCommand.file, PhotosCommand.track],
      options: [
        OptionGroup(
          nil,
          [
            PhotosCommand.fetch, PhotoArguments.within, PhotosCommand.retry, PhotosCommand.repeats,
            PhotosCommand.html,
            ExportArguments.overwrite, WriteArguments.allowTriggers,
          ]), CommonOptions.group,
      ], family: positionsFamily
    ) { invocation throws(FieldpackError) in
      try await PhotosCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack photos`.
struct PhotosCommand {
  static let file = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage with the tracks.")
  static let track = Argument<String?>.optional(
    .text("track"), help: "The name or the id of a track; all where none is named.")
  static let fetch = Option<PhotoOrigin?>.value(
    "fetch", .photos, help: "Look for pictures of Flickr, or of a layer of photos.")
  static let retry = Option<Bool>.flag(
    "retry", help: "Look again, and now, for points that have no picture.")
  static let repeats = Option<Bool>.flag(
    "repeats", help: "Let a photo be the picture of several points, where there is no other.")
  static let html = Option<String?>.value(
    "html", .file("file", "html"), help: "Write the pictures and a map to this page.")

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let path = arguments[Self.file]
    if arguments[Self.retry], arguments[Self.fetch] == nil {
      throw FieldpackError(
        .invalidArgument, "--retry says nothing without --fetch. Try: --fetch flickr")
    }
    if arguments.contains(PhotoArguments.within), arguments[Self.fetch] == nil {
      throw FieldpackError(
        .invalidArgument, "--within says nothing without --fetch. Try: --fetch flickr")
    }
    let page = try arguments[Self.html].map { (html) throws(FieldpackError) in
      try ByteOutput(replacing: html, overwrite: arguments[ExportArguments.overwrite])
    }
    let store = try await GeoPackageStore(
      path: path, id: FileImport.storeID(of: path), profile: invocation.profile,
      logger: invocation.logger)
    do throws(FieldpackError) {
      try await run(store, page)
      await store.close()
      return ExitStatus.success
    } catch {
      await store.close()
      throw error
    }
  }

  private func run(_ store: GeoPackageStore, _ page: ByteOutput?) async throws(FieldpackError) {
    let tracks = try await PhotoTracks(of: store).named(arguments[Self.track])
    var fetched: [PhotoState: Int]?
    if let origin = arguments[Self.fetch] {
      fetched = try await fetch(origin, store, tracks)
    }
    var feed = try await PhotoFeed(of: store)
    if let tracks { feed.entries.removeAll { !tracks.contains($0.track) } }
    if let page {
      try await PhotoPage(title: title, feed: feed, store: store).write(to: page)
      try page.finish()
    }
    let report = PhotosReport(
      file: arguments[Self.file], feed: feed, fetched: fetched, page: arguments[Self.html])
    if arguments[CommonOptions.json] {
      try invocation.print(report.document)
    } else {
      try invocation.print(report.text(invocation.console.terminal))
    }
  }

  /// The track's name, else the file's without its folders.
  private var title: String {
    arguments[Self.track] ?? arguments[Self.file].split(separator: "/").last.map(String.init)
      ?? "photos"
  }

  /// Looks for pictures; gives how many points came to each state.
  private func fetch(
    _ origin: PhotoOrigin, _ store: GeoPackageStore, _ tracks: Set<Int64>?
  ) async throws(FieldpackError) -> [PhotoState: Int] {
    var settings = PhotoArguments.settings(arguments)
    settings.allowsRepeats = arguments[Self.repeats]
    let (looksAgain, invocation) = (arguments[Self.retry], invocation)
    return try await invocation.withPhotos(of: origin) {
      [settings] (provider) async throws(FieldpackError) in
      let fetch = try await PhotoFetch(store: store, provider: provider, settings: settings)
      let display = ProgressDisplay(
        "looking for pictures", total: nil, unit: .features, console: invocation.console)
      defer { display.finish() }
      var counts: [PhotoState: Int] = [:]
      let each: [Int64?] = tracks?.sorted() ?? [nil]
      for track in each {
        if looksAgain { try await fetch.retry(track: track) }
        try await fetch.run(track: track) { outcome in
          counts[outcome.state, default: 0] += 1
          display.update(counts.values.reduce(0, +))
        }
      }
      return counts
    }
  }
}

/// The tracks of a file by their names and ids.
private struct PhotoTracks {
  private let tracks: [(id: Int64, name: String?)]
  private let path: String

  init(of store: GeoPackageStore) async throws(FieldpackError) {
    path = store.shownPath
    let layer: LayerID = "track"
    let schemas = try await store.schemas()
    guard let schema = schemas.first(where: { $0.layer == layer }) else {
      tracks = []
      return
    }
    var found: [(id: Int64, name: String?)] = []
    let columns = schema.columnIndex("name") == nil ? [] : ["name"]
    let batches = try await store.query(
      Query(layer).withoutGeometry().select(columns)
    ).makeAsyncIterator()
    while let batch = try await batches.next() {
      for index in 0..<batch.count {
        guard case .integer(let id) = batch[index].id else { continue }
        found.append((id, try batch.feature(at: index)[Column<String>("name")]))
      }
    }
    tracks = found
  }

  /// The ids of the tracks of that name, else of that id; `nil` where none is named.
  func named(_ name: String?) throws(FieldpackError) -> Set<Int64>? {
    guard let name else { return nil }
    let named = tracks.filter { $0.name == name }
    let found = named.isEmpty ? tracks.filter { "\($0.id)" == name } : named
    guard found.isEmpty else { return Set(found.map(\.id)) }
    let known = tracks.map { $0.name ?? "\($0.id)" }.joined(separator: ", ")
    throw FieldpackError(
      .notFound,
      "there is no track '\(name)' in \(path) (it has \(known.isEmpty ? "none" : known))",
      location: .init(layer: "track"))
  }
}
