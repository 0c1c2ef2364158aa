import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var trackRecordCommand: Command {
    Command(
      "record", abstract: "Record positions as a track.",
      discussion: """
        The first fix is always a point; --sampling says which of the others are. A fix at the \
        place of the last point is left out. A point that --follow shows is stored already.

        A recording that was interrupted or killed goes on under its --name: a file is read on from \
        the fix where the recording stopped, standard input from the next fix. Fixes of a file \
        come in the order of their times, as fast as they can be stored or at a --speed. With \
        --photos pictures of the points are looked for meanwhile, as 'photo fetch' does; no fix \
        waits for one.
        """,
      examples: [
        "gpspipe -w | fieldpack track record - --into field.gpkg --name walk --follow",
        "fieldpack track record walk.gpx --into field.gpkg --photos album.gpkg:photos",
        "fieldpack track record log.nmea --into field.gpkg --sampling distance:100 --speed 10x",
      ],
      body: TrackRecordCommand.self)
  }
}

/// `fieldpack track record`.
private struct TrackRecordCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var into: String
    let sampling: Sampling
    let name: String?
    let photos: PhotoOrigin?
    let photoDistance: Double?
    let follows: Bool
    let fixes: FixArguments
    let profile: OpeningProfile
    let replay: ReplayArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.fixes()
      _into = reader.required(
        "into", .target, help: "The GeoPackage to record into; made where missing.")
      sampling = reader.value(
        "sampling", .sampling, default: .region(80), shownAs: "region:80",
        help: "What becomes a point: region:80 keeps a fix more than 80 m from the last point; "
          + "distance:80, 80 m or more; all, every fix.")
      name = reader.value(
        "name", .text("name"),
        help: "The name of the recording; one that the file has goes on. By default a new name.")
      photos = reader.value(
        "photos", .photos,
        help: "Look for pictures of the points, of Flickr or of a layer of photos.")
      photoDistance = reader.photoDistance()
      follows = reader.flag("follow", help: "Show each point as it is stored.")
      fixes = reader.group()
      profile = reader.profile()
      replay = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options
  private var isJSON: Bool { invocation.isJSON }

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.into
    if options.photoDistance != nil, options.photos == nil {
      throw FieldpackError(
        .invalidArgument, "--max-distance says nothing without --photos. Try: --photos flickr")
    }
    try await invocation.checkPhotos(of: options.photos)
    let source = FixSource(
      name: options.source, arguments: options.fixes, replay: options.replay,
      source: options.opening)
    return try await invocation.withNewGeoPackage(path, options.profile) {
      (store) throws(FieldpackError) in
      try await invocation.withFixes(source) { (fixes) throws(FieldpackError) in
        guard let origin = options.photos else {
          return try await record(fixes, into: store, nil)
        }
        let console = invocation.console
        return try await invocation.withPhotos(of: origin) { (provider) throws(FieldpackError) in
          let photos = PhotoFollowing(
            store: store, provider: provider,
            settings: PhotoFetch.Settings(within: options.photoDistance),
            refused: { console.report($0) })
          return try await record(fixes, into: store, photos)
        }
      }
    }
  }

  private func record(
    _ source: OpenedFixes, into store: GeoPackageStore, _ photos: PhotoFollowing?
  ) async throws(FieldpackError) -> Int32 {
    let name = try await name(in: store)
    let recording = try TrackRecorder(store).record(
      source.source, as: name, options.sampling,
      origin: source.origin, isReplay: source.isReplay,
      note: { [console = invocation.console] in console.note($0) }, words: { $0.text })
    // The points of a file come at once, and are searched together; live ones as they are stored.
    let waits = source.isReplay && options.replay.speed == .max
    var recorded: Set<Int64> = []
    let fixes = try await recording.run { (step) throws(FieldpackError) in
      recorded.formUnion(step.points.map(\.track))
      if !step.points.isEmpty, !waits { photos?.pointsAreStored(of: step.points.map(\.track)) }
      try show(step)
    }
    if waits, !recorded.isEmpty { photos?.pointsAreStored(of: recorded) }
    let (pictures, refusal) = try await PhotoReport.end(of: photos)
    let status = refusal == nil ? ExitStatus.success : ExitStatus.failure
    guard !isJSON || !options.follows else { return status }
    let tracks = try await store.tracks().filter { $0.name == name }
    if isJSON {
      try invocation.print([
        "run": .text(name), "fix_count": JSONValue(fixes),
        "tracks": .array(tracks.map(\.document)),
        "fetched": pictures.map { PhotoReport.document(of: $0) } ?? .null,
        "error": refusal.map { JSONValue(reason: $0) } ?? .null,
      ])
    } else {
      try invocation.print(summary(name, fixes, tracks))
      if let pictures {
        try invocation.print("pictures looked for: \(PhotoReport.text(of: pictures))\n")
      }
    }
    return status
  }

  /// The name that was given, or one that no run of the file has.
  private func name(
    in store: GeoPackageStore
  ) async throws(FieldpackError) -> String {
    if let name = options.name { return name }
    let origin = options.source.path
    let stem = origin == "-" ? "track" : FileImport.storeID(of: origin).rawValue
    let taken = Set(try await store.runNames())
    var number = 1
    var name = stem
    while taken.contains(name) {
      number += 1
      name = "\(stem) \(number)"
    }
    return name
  }

  private func show(_ step: RecordedStep) throws(FieldpackError) {
    guard options.follows else { return }
    if isJSON {
      try invocation.print([
        "fix_count": JSONValue(step.fixes), "points": .array(step.points.map(\.document)),
      ])
    } else {
      for point in step.points {
        try invocation.print(
          "\(point.time?.description ?? "") \(point.sequence): \(point.longitude) "
            + "\(point.latitude)\n")
      }
    }
    try invocation.output.flush()
  }

  private func summary(_ name: String, _ fixes: Int, _ tracks: [RecordedTrack]) -> String {
    let points = tracks.reduce(0) { $0 + $1.pointCount }
    let length = tracks.reduce(0) { $0 + $1.length }
    return "\(DisplayText.visible(name)): \(points.counting("point")) of "
      + "\(fixes.counting("fix", "fixes")), \(Metres.text(length))\n"
  }
}

extension ValueForm where Value == Sampling {
  fileprivate static var sampling: ValueForm {
    ValueForm("how", completion: .choices(["region:80", "distance:100", "all"])) {
      (text) throws(ValueError) -> Sampling in
      guard let method = Sampling(text) else {
        throw ValueError("is none of region:metres, distance:metres and all")
      }
      return method
    }
  }
}
