import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var photoCommand: Command {
    Command(
      "photo", abstract: "Find pictures for the points of tracks; list, show, export, delete them.",
      subcommands: [
        photoFetchCommand, photoListCommand, photoShowCommand, photoExportCommand,
        photoDeleteCommand,
      ],
      family: positionsFamily)
  }

  private static var photoFetchCommand: Command {
    Command(
      "fetch", abstract: "Look for pictures of the points that have none.",
      discussion: """
        A point gets the nearest photo that is not the picture of another point of its track. The \
        search begins around the point and goes on to --max-distance. What fails is tried again by \
        a later fetch.

        Flickr needs a key in the environment variable FLICKR_API_KEY, which is written to no file. \
        Photos of a layer have their pictures in related media, or in files that the layer names in \
        a column path, below the GeoPackage's folder.
        """,
      examples: [
        "fieldpack photo fetch field.gpkg --from album.gpkg:photos",
        "FLICKR_API_KEY=… fieldpack photo fetch field.gpkg walk --from flickr",
      ],
      body: PhotoFetchCommand.self)
  }

  private static var photoListCommand: Command {
    Command(
      "list", abstract: "List the points of tracks with their pictures, the newest first.",
      discussion: "A point without a picture is listed, too.",
      examples: ["fieldpack photo list field.gpkg walk"], body: PhotoListCommand.self)
  }

  private static var photoShowCommand: Command {
    Command(
      "show", abstract: "Show what is known of a photo.",
      examples: ["fieldpack photo show field.gpkg 53423"], body: PhotoShowCommand.self)
  }

  private static var photoExportCommand: Command {
    Command(
      "export", abstract: "Write the pictures and a map as one page.",
      discussion: "The page, .html, needs nothing from elsewhere.",
      examples: ["fieldpack photo export field.gpkg walk --output walk.html"],
      body: PhotoExportCommand.self)
  }

  private static var photoDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete photos with their pictures.",
      discussion: """
        All of the photos are deleted, or none is. The points that had them have no picture then; \
        'photo fetch --retry' looks for others.
        """,
      examples: ["fieldpack photo delete field.gpkg 53423"], body: PhotoDeleteCommand.self)
  }
}

/// Which points are meant.
struct PhotoPoints: OptionGroup {
  @Required var file: String
  let track: String?

  init(_ reader: inout OptionReader) {
    _file = reader.tracksFile()
    track = reader.optionalArgument(
      .text("track"), help: "The name or the id of a track; all where none is named.")
  }

  /// The ids of the tracks; `nil` is all.
  func tracks(of store: GeoPackageStore) async throws(FieldpackError) -> Set<Int64>? {
    guard track != nil else { return nil }
    return Set(try await store.tracks(named: track).map(\.id))
  }

  func feed(of store: GeoPackageStore) async throws(FieldpackError) -> PhotoFeed {
    let tracks = try await tracks(of: store)
    var feed = try await PhotoFeed(of: store)
    if let tracks { feed.entries.removeAll { !tracks.contains($0.track) } }
    return feed
  }
}

extension PhotoFeed {
  /// The photo of that id.
  ///
  /// - Throws: `.notFound`, or `.invalidArgument` where several providers have such an id.
  fileprivate func photo(_ id: String, in file: String) throws(FieldpackError) -> Photo {
    var found: [Photo] = []
    for photo in entries.compactMap(\.photo)
    where photo.id == id && !found.contains(where: { $0.feature == photo.feature }) {
      found.append(photo)
    }
    guard let photo = found.first else {
      throw FieldpackError(
        .notFound, "no point of \(file) has a photo '\(id)'. Try: fieldpack photo list \(file)")
    }
    guard found.count == 1 else {
      let providers = found.map(\.provider).joined(separator: ", ")
      throw FieldpackError(
        .invalidArgument, "there are several photos '\(id)', of \(providers). Try: fieldpack delete"
      )
    }
    return photo
  }
}

/// `fieldpack photo list`.
private struct PhotoListCommand: CommandBody {
  let invocation: Invocation
  let options: PhotoPoints

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      let feed = try await options.feed(of: store)
      try PhotoReport(file: options.file, feed: feed).print(invocation)
      return ExitStatus.success
    }
  }
}

/// `fieldpack photo show`.
private struct PhotoShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var photo: String

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      _photo = reader.argument(.text("photo"), help: "The id of a photo, as 'photo list' tells it.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      var feed = try await PhotoFeed(of: store)
      let photo = try feed.photo(options.photo, in: options.file)
      feed.entries.removeAll { $0.photo?.feature != photo.feature }
      let report = PhotoReport(file: options.file, feed: feed)
      if invocation.isJSON {
        try report.print(invocation)
      } else {
        try invocation.print(report.facts(photo))
      }
      return ExitStatus.success
    }
  }
}

/// `fieldpack photo export`.
private struct PhotoExportCommand: CommandBody {
  struct Options: OptionGroup {
    let points: PhotoPoints
    let output: OutputArguments

    init(_ reader: inout OptionReader) {
      points = reader.group()
      output = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try options.output.check(invocation)
    let (points, path) = (options.points, options.output.path)
    guard options.output.isStandard || Format.byExtension(path) == .html else {
      throw FieldpackError(
        .invalidArgument, "photos are written as a page. Try: --output with a name in .html")
    }
    let output = try options.output.open(invocation)
    return try await invocation.withGeoPackage(points.file) { (store) throws(FieldpackError) in
      let feed = try await points.feed(of: store)
      let file = points.file.split(separator: "/").last.map(String.init)
      let page = PhotoPage(title: points.track ?? file ?? "photos", feed: feed, store: store)
      try await page.write(to: output)
      guard !options.output.isStandard else { return ExitStatus.success }
      try output.finish()
      try PhotoReport(file: points.file, feed: feed, page: path).print(invocation)
      return ExitStatus.success
    }
  }
}

/// `fieldpack photo delete`.
private struct PhotoDeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let photos: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      photos = reader.arguments(
        .text("photo"), minimum: 1, help: "The ids of photos, as 'photo list' tells them.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file, options.profile, usesWAL: false) {
      (store) throws(FieldpackError) in
      let feed = try await PhotoFeed(of: store)
      var photos: [FeatureID] = []
      for id in options.photos {
        let photo = try feed.photo(id, in: options.file).feature
        if !photos.contains(photo) { photos.append(photo) }
      }
      try invocation.print(try await store.deletePhotos(photos))
      return ExitStatus.success
    }
  }
}

/// `fieldpack photo fetch`.
private struct PhotoFetchCommand: CommandBody {
  struct Options: OptionGroup {
    let points: PhotoPoints
    @Required var origin: PhotoOrigin
    let distance: Double?
    let looksAgain: Bool
    let repeats: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      points = reader.group()
      _origin = reader.required(
        "from", .photos, help: "Where to look: Flickr, or a layer of photos.")
      distance = reader.photoDistance()
      looksAgain = reader.flag(
        "retry", help: "Look again, and now, for points that have no picture.")
      repeats = reader.flag(
        "repeats",
        help: "Let a photo be the picture of several points, where there is no other.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let file = options.points.file
    return try await invocation.withGeoPackage(file, options.profile) {
      (store) throws(FieldpackError) in
      let tracks = try await options.points.tracks(of: store)
      let fetched = try await fetch(store, tracks)
      let feed = try await options.points.feed(of: store)
      try PhotoReport(file: file, feed: feed, fetched: fetched).print(invocation)
      return ExitStatus.success
    }
  }

  /// Looks for pictures; gives how many points came to each state.
  private func fetch(
    _ store: GeoPackageStore, _ tracks: Set<Int64>?
  ) async throws(FieldpackError) -> [PhotoState: Int] {
    var settings = PhotoFetch.Settings(within: options.distance)
    settings.allowsRepeats = options.repeats
    let (looksAgain, invocation) = (options.looksAgain, invocation)
    return try await invocation.withPhotos(of: options.origin) {
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
