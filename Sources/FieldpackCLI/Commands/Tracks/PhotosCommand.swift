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
      family: positionsFamily, body: PhotosCommand.self)
  }
}

/// `fieldpack photos`.
private struct PhotosCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let track: String?
    let fetch: PhotoOrigin?
    let distance: Double?
    let looksAgain: Bool
    let repeats: Bool
    let page: String?
    let overwrites: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      track = reader.optionalArgument(
        .text("track"), help: "The name or the id of a track; all where none is named.")
      fetch = reader.value(
        "fetch", .photos, help: "Look for pictures of Flickr, or of a layer of photos.")
      distance = reader.photoDistance()
      looksAgain = reader.flag(
        "retry", help: "Look again, and now, for points that have no picture.")
      repeats = reader.flag(
        "repeats",
        help: "Let a photo be the picture of several points, where there is no other.")
      page = reader.value(
        "html", .file("file", "html"), help: "Write the pictures and a map to this page.")
      overwrites = reader.flag("overwrite", help: "Replace a file that exists.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    if options.looksAgain, options.fetch == nil {
      throw FieldpackError(
        .invalidArgument, "--retry says nothing without --fetch. Try: --fetch flickr")
    }
    if options.distance != nil, options.fetch == nil {
      throw FieldpackError(
        .invalidArgument, "--within says nothing without --fetch. Try: --fetch flickr")
    }
    let page = try options.page.map { (page) throws(FieldpackError) in
      try ByteOutput(replacing: page, overwrite: options.overwrites)
    }
    try await invocation.withGeoPackage(options.file, options.profile) {
      (store) throws(FieldpackError) in try await run(store, page)
    }
    return ExitStatus.success
  }

  private func run(_ store: GeoPackageStore, _ page: ByteOutput?) async throws(FieldpackError) {
    let tracks =
      options.track == nil
      ? nil : Set(try await store.tracks(named: options.track).map(\.id))
    var fetched: [PhotoState: Int]?
    if let origin = options.fetch {
      fetched = try await fetch(origin, store, tracks)
    }
    var feed = try await PhotoFeed(of: store)
    if let tracks { feed.entries.removeAll { !tracks.contains($0.track) } }
    if let page {
      try await PhotoPage(title: title, feed: feed, store: store).write(to: page)
      try page.finish()
    }
    let report = PhotosReport(
      file: options.file, feed: feed, fetched: fetched, page: options.page)
    if invocation.isJSON {
      try invocation.print(report.document)
    } else {
      try invocation.print(report.text(invocation.console.terminal))
    }
  }

  /// The track's name, else the file's without its folders.
  private var title: String {
    options.track ?? options.file.split(separator: "/").last.map(String.init)
      ?? "photos"
  }

  /// Looks for pictures; gives how many points came to each state.
  private func fetch(
    _ origin: PhotoOrigin, _ store: GeoPackageStore, _ tracks: Set<Int64>?
  ) async throws(FieldpackError) -> [PhotoState: Int] {
    var settings = PhotoFetch.Settings(within: options.distance)
    settings.allowsRepeats = options.repeats
    let (looksAgain, invocation) = (options.looksAgain, invocation)
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
