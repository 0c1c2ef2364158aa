import Fieldpack
import FieldpackCore
import FoundationEssentials

extension FieldpackTool {
  static var trackRecordCommand: Command {
    Command(
      "record", abstract: "Record positions as a track.",
      discussion: """
        A region takes the first position and each that is farther than so many metres from the \
        point before; a distance each that is as far as that, or farther; all takes every one. Of \
        points at one place one after the other the first is kept. What is shown under --follow is \
        stored already. Interrupted or killed, the recording goes on under its --name: a file is \
        then read on from where the recording was, standard input from what comes. A file's positions \
        come by time, as fast as they are recorded or at a --speed. With --photos pictures of the \
        points are looked for meanwhile, as fieldpack photos does; no position waits for one.
        """,
      examples: [
        "gpspipe -w | fieldpack track record - --into field.gpkg --name walk --follow",
        "fieldpack track record walk.gpx --into field.gpkg --photos album.gpkg:photos",
        "fieldpack track record log.nmea --into field.gpkg --monitor distance:100 --speed 10x",
      ],
      arguments: [FixArguments.source, FixArguments.layer],
      options: [
        OptionGroup(
          nil,
          [
            TrackRecordCommand.into, TrackRecordCommand.monitor, TrackRecordCommand.name,
            TrackRecordCommand.photos, PhotoArguments.within, FixArguments.device,
            TrackRecordCommand.follow,
            QueryArguments.skipErrors, WriteArguments.allowTriggers,
          ]), ReplayArguments.group, SourceArguments.group, CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await TrackRecordCommand(invocation: invocation).run()
    }
  }
}

extension Invocation {
  /// Creates the GeoPackage where there is none.
  func createGeoPackage(_ path: String) throws(FieldpackError) {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    let writer = try GeoPackageBulkWriter(
      creating: path, store: FileImport.storeID(of: path), logger: logger)
    _ = try writer.commit()
    for note in writer.notes { console.note(note) }
  }
}

/// `fieldpack track record`.
struct TrackRecordCommand {
  static let into = Option<String>.required(
    "into", .file("gpkg", "gpkg"), help: "The GeoPackage to record into; made where missing.")
  static let monitor = Option<Sampling>.value(
    "monitor", .recordingMethod, default: .region(80), shownAs: "region:80",
    help: "What becomes a point: region:metres, distance:metres, or all.")
  static let name = Option<String?>.value(
    "name", .text("name"),
    help: "The name of the recording, which goes on where the file has it; a new one by default.")
  static let photos = Option<PhotoOrigin?>.value(
    "photos", .photos,
    help: "Look for pictures of the points, of Flickr or of a layer of photos.")
  static let follow = Option<Bool>.flag("follow", help: "Show each point as it is stored.")

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }
  private var isJSON: Bool { arguments[CommonOptions.json] }

  func run() async throws(FieldpackError) -> Int32 {
    let path = arguments[Self.into]
    if arguments.contains(PhotoArguments.within), arguments[Self.photos] == nil {
      throw FieldpackError(
        .invalidArgument, "--within says nothing without --photos. Try: --photos flickr")
    }
    try await invocation.checkPhotos(of: arguments[Self.photos])
    try invocation.createGeoPackage(path)
    return try await invocation.withGeoPackage(path) { (store) throws(FieldpackError) in
      try await invocation.withFixes { (fixes) throws(FieldpackError) in
        guard let origin = arguments[Self.photos] else {
          return try await record(fixes, into: store, nil)
        }
        let console = invocation.console
        return try await invocation.withPhotos(of: origin) { (provider) throws(FieldpackError) in
          let photos = PhotoFollowing(
            store: store, provider: provider, settings: PhotoArguments.settings(arguments),
            refused: { console.report($0) })
          return try await record(fixes, into: store, photos)
        }
      }
    }
  }

  private func record(
    _ source: OpenedFixes, into store: GeoPackageStore, _ photos: PhotoFollowing?
  ) async throws(FieldpackError) -> Int32 {
    let origin = arguments[FixArguments.source]
    let name = try await name(in: store, origin)
    let recording = try TrackRecorder(store).record(
      source.source, as: name, arguments[Self.monitor],
      origin: source.origin, isReplay: source.isReplay,
      note: { [console = invocation.console] in console.note($0) }, words: { $0.text })
    let fixes = try await recording.run { (step) throws(FieldpackError) in
      if !step.points.isEmpty { photos?.pointsAreStored(of: step.points.map(\.track)) }
      try show(step)
    }
    let (pictures, refusal) = try await PhotosReport.end(of: photos)
    let status = refusal == nil ? ExitStatus.success : ExitStatus.failure
    guard !isJSON || !arguments[Self.follow] else { return status }
    let tracks = try await store.tracks().filter { $0.name == name }
    if isJSON {
      try invocation.print([
        "run": .text(name), "fix_count": JSONValue(fixes),
        "tracks": .array(tracks.map(\.document)),
        "fetched": pictures.map { PhotosReport.document(of: $0) } ?? .null,
        "error": refusal.map { JSONValue(reason: $0) } ?? .null,
      ])
    } else {
      try invocation.print(summary(name, fixes, tracks))
      if let pictures {
        try invocation.print("pictures looked for: \(PhotosReport.text(of: pictures))\n")
      }
    }
    return status
  }

  /// The name that was given, or one that no run of the file has.
  private func name(
    in store: GeoPackageStore, _ origin: String
  ) async throws(FieldpackError) -> String {
    if let name = arguments[Self.name] { return name }
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
    guard arguments[Self.follow] else { return }
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
    return "\(DisplayText.visible(name)): \(points) point\(points == 1 ? "" : "s") of \(fixes) "
      + "fix\(fixes == 1 ? "" : "es"), \(Metres.text(length))\n"
  }
}

extension ValueForm where Value == Sampling {
  fileprivate static var recordingMethod: ValueForm {
    ValueForm("how", completion: .choices(["region:80", "distance:100", "all"])) {
      (text) throws(ValueError) -> Sampling in
      guard let method = Sampling(text) else {
        throw ValueError("is none of region:metres, distance:metres and all")
      }
      return method
    }
  }
}
