import FieldpackCore
import FieldpackLocation
import FieldpackMedia
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite(.programs) struct CaptureRecorderTests {
  @Test func `a video gets a point for each fix and heading, by the monotonic clock`() async throws
  {
    let rig = try RecorderRig()
    let source = ScriptedSource([
      [.heading(Heading(degrees: 350))], [.fix(.at(13.5, accuracy: 5))],
      [.heading(Heading(degrees: 10)), .fix(.at(13.6))],
      [.fix(.at(13.7)), .fix(.at(213)), .heading(Heading(degrees: .nan))],
    ])
    let recorder = try rig.recorder([100, 101, 103.5, 104.25, 107])
    let path = try await recorder.begin(.video, fixes: source, title: "Ditch")
    #expect(path.hasSuffix("/output.mov"))
    try Data(RecorderRig.film).write(to: URL(fileURLWithPath: path))
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    let found = try rig.capture(recorded.info.token)
    #expect(
      found.geodata.points.map(\.text) == [
        "0.0 13.5 350.0 5.0", "4.25 13.5 10.0 5.0", "4.25 13.6 10.0 15.0", "7.0 13.7 10.0 15.0",
      ])
    #expect(found.media?.bytes == RecorderRig.film)
    #expect(found.info.title == "Ditch")
    #expect(found.info.createdAt == 1_714_978_230)
    #expect(recorded.folder == "\(rig.root)/\(recorded.info.token)")
    #expect(recorded.points == 4 && recorded.key == nil)
    #expect(try rig.names() == [recorded.info.token])
  }

  @Test func `a position and a heading that come together are one point`() async throws {
    let rig = try RecorderRig()
    var fix = Fix.at(13.5, accuracy: 5)
    fix.heading = 45
    let recorder = try rig.recorder([100, 101])
    let path = try await recorder.begin(.video, fixes: ScriptedSource([[.fix(fix)]]))
    try Data(RecorderRig.film).write(to: URL(fileURLWithPath: path))
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    #expect(
      try rig.capture(recorded.info.token).geodata.points.map(\.text) == ["0.0 13.5 45.0 5.0"])
  }

  @Test func `an image has one point, the latest`() async throws {
    let rig = try RecorderRig()
    let source = ScriptedSource([
      [.fix(.at(13.5)), .fix(.at(13.6))], [.fix(.at(13.7, accuracy: 8))],
      [.heading(Heading(degrees: 90))],
    ])
    let recorder = try rig.recorder([1, 2, 3, 4])
    try await recorder.begin(.image, fixes: source, media: try rig.media(.image))
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    let found = try rig.capture(recorded.info.token)
    #expect(found.geodata.points.map(\.text) == ["0.0 13.7 90.0 8.0"])
    #expect(found.info.longitude == 13.7 && found.info.latitude == 52)
    #expect(found.info.heading == 90)
    #expect(found.media?.bytes == RecorderRig.picture)
  }

  @Test func `fixes of a file keep their times, and date the capture`() async throws {
    let rig = try RecorderRig()
    let heading = Heading(degrees: 45, time: Instant(milliseconds: 1_700_000_003_500))
    let source = ScriptedSource([
      [
        .fix(.at(1, time: 1_700_000_001.25)), .fix(.at(2, time: 1_700_000_003)), .heading(heading),
        .fix(.at(3, time: 1_700_000_002)), .fix(.at(4)), .fix(.at(5, time: 1_700_000_009.5)),
      ]
    ])
    let recorder = try rig.recorder()
    try await recorder.begin(
      .video, fixes: source, media: try rig.media(.video), timing: .fixes)
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    let found = try rig.capture(recorded.info.token)
    #expect(found.geodata.points.map(\.time) == [0, 1.75, 2.25, 2.25, 2.25, 8.25])
    #expect(found.info.createdAt == 1_700_000_001)
    try await recorder.begin(
      .image, fixes: source, media: try rig.media(.image), timing: .fixes)
    try await recorder.untilSourceEnds()
    let image = try await recorder.finish()
    #expect(image.info.createdAt == 1_700_000_009 && image.info.longitude == 5)
  }

  @Test(.enabled(if: Programs.ffmpeg != nil, "\(Programs.noFFmpeg)"))
  func `what is recorded gets a thumbnail and stands upright`() async throws {
    let rig = try RecorderRig()
    let making = CaptureMaking(identity: rig.making.identity)
    let recorder = try CaptureRecorder(folder: rig.root, making: making)
    let stored = Pixels(quartersOf: 400, 200).stored(for: 6)
    let file = rig.folder.file("turned.jpg")
    let picture = try await MediaSample.jpeg(stored)
    try Data(MediaSample.adding(MediaSample.exif(6, isLittle: true), to: picture)).write(to: file)
    try await recorder.begin(.image, fixes: ScriptedSource([.at(1)]), media: file.path)
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    let token = recorded.info.token
    #expect(recorded.info.orientation == .horizontal)
    let folder = "\(rig.root)/\(token)"
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == [
        "\(token).jpg", "\(token).png", "\(token).json", "capture-info.json",
      ])
    let thumbnail = try await MediaSample.pixels("\(folder)/\(token).png")
    #expect(thumbnail.width == 300 && thumbnail.height == 150)
    #expect(thumbnail.hasCorners(Pixels(quartersOf: 400, 200).corners))
  }

  @Test func `every subscriber is told the states in their order`() async throws {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let sequences = [recorder.states, recorder.states]
    let source = ScriptedSource([[.fix(.at(1)), .fix(.at(2))], [.fix(.at(3))]])
    try await recorder.begin(.video, fixes: source, media: try rig.media(.video))
    try await recorder.untilSourceEnds()
    try await recorder.finish()
    for states in sequences {
      #expect(
        await texts(of: states, until: "finished") == [
          "ready", "recording 0, 0 new", "recording 2, 2 new", "recording 3, 1 new", "source ended",
          "finishing", "finished with 3",
        ])
    }
    // Who comes later learns the present state.
    #expect(await texts(of: recorder.states, until: "ready") == ["ready"])
  }

  @Test func `a subscriber that is slow keeps the last states, and all end with the recorder`()
    async throws
  {
    let rig = try RecorderRig()
    var recorder: CaptureRecorder? = try rig.recorder()
    let states = try #require(recorder?.states)
    try await recorder?.begin(
      .video, fixes: ScriptedSource((0..<400).map { _ in .at(1) }), media: try rig.media(.video))
    try await recorder?.untilSourceEnds()
    recorder = nil
    var texts: [String] = []
    for await state in states { texts.append(state.text) }
    #expect(texts.count == 256)
    #expect(texts.first == "recording 146, 1 new" && texts.last == "source ended")
  }

  @Test func `a second start aborts the first, whose capture is completed`() async throws {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let states = recorder.states
    let media = try rig.media(.video)
    try await recorder.begin(
      .video, fixes: OpenSource(first: [.fix(.at(1)), .fix(.at(2))]), media: media)
    #expect(await texts(of: recorder.states, until: "recording 2").last == "recording 2, 2 new")
    try await recorder.begin(.video, fixes: ScriptedSource([.at(3)]), media: media)
    try await recorder.untilSourceEnds()
    let second = try await recorder.finish()
    #expect(
      await texts(of: states, until: "finished") == [
        "ready", "recording 0, 0 new", "recording 2, 2 new", "failed: aborted",
        "left: 2 completed", "recording 0, 0 new", "recording 1, 1 new", "source ended",
        "finishing", "finished with 1",
      ])
    let names = try rig.names()
    #expect(names.count == 2)
    let first = try #require(names.first { $0 != second.info.token })
    #expect(try rig.capture(first).geodata.points.map(\.longitude) == [1, 2])
  }

  @Test func `an error of the source is told and what was recorded is finished`() async throws {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let states = recorder.states
    let failure = FieldpackError(LocationFailure.unavailable, "the receiver is gone")
    let source = ScriptedSource([[.fix(.at(1))], [.fix(.at(2))]], failure: failure)
    try await recorder.begin(.video, fixes: source, media: try rig.media(.video))
    let error = await #expect(throws: FieldpackError.self) { try await recorder.untilSourceEnds() }
    #expect(error?.locationFailure == .unavailable)
    let recorded = try await recorder.finish()
    #expect(try rig.capture(recorded.info.token).geodata.points.map(\.longitude) == [1, 2])
    #expect(
      await texts(of: states, until: "finished").suffix(5) == [
        "recording 2, 1 new", "failed: unavailable", "source ended", "finishing",
        "finished with 2",
      ])
  }

  @Test(arguments: [
    (LocationAuthorization.denied, true, LocationFailure.permissionDenied),
    (.restricted, true, .permissionDenied), (.notDetermined, true, .insufficientAuthorisation),
    (.whileInUse, false, .unavailable),
  ])
  func `a source that must not be used is refused before anything is made`(
    authorization: LocationAuthorization, isAvailable: Bool, failure: LocationFailure
  ) async throws {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let source = ScriptedSource([], authorization: authorization, isAvailable: isAvailable)
    let error = await #expect(throws: FieldpackError.self) {
      try await recorder.begin(.image, fixes: source)
    }
    #expect(error?.locationFailure == failure)
    #expect(await texts(of: recorder.states, until: "failed") == ["failed: \(failure.rawValue)"])
    #expect(try rig.names() == [])
  }

  @Test func `without a position or media the recording goes on, and can be discarded`()
    async throws
  {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let media = try rig.media(.image)
    try await recorder.begin(.image, fixes: ScriptedSource([]), media: media)
    let early = await #expect(throws: FieldpackError.self) { try await recorder.finish() }
    #expect(early?.code == .unavailable)
    try await recorder.discard()
    #expect(try rig.names() == [])
    let path = try await recorder.begin(.image, fixes: ScriptedSource([.at(1)]))
    try await recorder.untilSourceEnds()
    let empty = await #expect(throws: FieldpackError.self) { try await recorder.finish() }
    #expect(empty?.code == .notFound)
    try Data(RecorderRig.picture).write(to: URL(fileURLWithPath: path))
    let recorded = try await recorder.finish()
    #expect(try rig.names() == [recorded.info.token])
    let idle = await #expect(throws: FieldpackError.self) { try await recorder.finish() }
    #expect(idle?.code == .invalidArgument)
  }

  @Test func `media of another kind, folders and what is missing are refused at the beginning`()
    async throws
  {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let cut = rig.folder.file("cut.jpg")
    try Data(RecorderRig.picture.dropLast(3)).write(to: cut)
    let wrong: [(String, FieldpackError.Code)] = [
      (try rig.media(.video), .invalidArgument), (rig.folder.url.path, .invalidArgument),
      (rig.folder.file("missing").path, .notFound),
      (try rig.folder.write("GIF89a", to: "a.gif").path, .unsupported),
      (try rig.folder.write("", to: "empty.jpg").path, .invalidData), (cut.path, .invalidData),
    ]
    for (media, code) in wrong {
      let error = await #expect(throws: FieldpackError.self) {
        try await recorder.begin(.image, fixes: ScriptedSource([.at(1)]), media: media)
      }
      #expect(error?.code == code)
    }
    #expect(try rig.names() == [])
  }

  @Test func `a film that is cut short is refused, unless it may be in the making`() async throws {
    let rig = try RecorderRig()
    let recorder = try rig.recorder()
    let cut = rig.folder.file("cut.mov")
    try Data(RecorderRig.film.prefix(16)).write(to: cut)
    let source = ScriptedSource([.at(1)])
    let early = await #expect(throws: FieldpackError.self) {
      try await recorder.begin(.video, fixes: source, media: cut.path, timing: .fixes)
    }
    #expect(early?.code == .invalidData)
    #expect(early?.message.hasPrefix("\(cut.path) has no header (moov)") == true)
    #expect(try rig.names() == [])
    try await recorder.begin(.video, fixes: source, media: cut.path)
    try await recorder.untilSourceEnds()
    for again in [false, true] {
      let late = await #expect(throws: FieldpackError.self) {
        if again { try await recorder.takeMedia(copying: cut.path) }
        try await recorder.finish()
      }
      #expect(late?.message == early?.message)
    }
    try await recorder.takeMedia(copying: try rig.media(.video))
    let recorded = try await recorder.finish()
    #expect(try rig.capture(recorded.info.token).media?.bytes == RecorderRig.film)
  }

  @Test func `a picture that has to be turned needs ffmpeg from the beginning`() async throws {
    let rig = try RecorderRig()
    let turned = MediaSample.adding(MediaSample.exif(6, isLittle: true), to: RecorderRig.picture)
    let file = rig.folder.file("turned.jpg")
    try Data(turned).write(to: file)
    func recorder(keepsBytes: Bool) throws -> CaptureRecorder {
      let making = CaptureMaking(
        identity: rig.making.identity, makesThumbnail: false, keepsBytes: keepsBytes,
        ffmpeg: FFmpeg(program: nil))
      return try CaptureRecorder(folder: rig.root, making: making)
    }
    let source = ScriptedSource([.at(1)])
    let error = await #expect(throws: FieldpackError.self) {
      try await recorder(keepsBytes: false).begin(.image, fixes: source, media: file.path)
    }
    #expect(error?.message == "ffmpeg is not installed")
    #expect(error?.advice == .installFFmpeg(or: .keepBytes))
    #expect(try rig.names() == [])
    let keeping = try recorder(keepsBytes: true)
    try await keeping.begin(.image, fixes: source, media: file.path)
    try await keeping.untilSourceEnds()
    let recorded = try await keeping.finish()
    #expect(try rig.capture(recorded.info.token).media?.bytes == turned)
  }

  @Test func `media that come while a recording ends are refused, and never lost`() async throws {
    let rig = try RecorderRig()
    let media = try rig.media(.video)
    let other = rig.folder.file("other.mov")
    try Data(TestMovie.bytes(width: 8)).write(to: other)
    let holder = Locked<CaptureRecorder?>(nil)
    let taking = Locked<Task<Result<Void, any Error>, Never>?>(nil)
    let recorder = try rig.recorder { step in
      guard step == .tokenNoted, let recorder = holder.withLock({ $0 }) else { return }
      let task = Task { () async -> Result<Void, any Error> in
        do { return .success(try await recorder.takeMedia(copying: other.path)) } catch {
          return .failure(error)
        }
      }
      taking.withLock { $0 = task }
    }
    holder.withLock { $0 = recorder }
    try await recorder.begin(.video, fixes: ScriptedSource([.at(1)]), media: media)
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    let outcome = try #require(await taking.withLock { $0 }?.value)
    let error = #expect(throws: FieldpackError.self) { try outcome.get() }
    #expect(error?.code == .invalidArgument)
    #expect(try rig.capture(recorded.info.token).media?.bytes == RecorderRig.film)
    holder.withLock { $0 = nil }
  }

  @Test func `an end that failed once its files were made keeps their media`() async throws {
    let rig = try RecorderRig()
    let manager = FileManager.default
    let recorder = try rig.recorder { step in
      guard step == .tokenNoted, let name = try? rig.names().first else { return }
      let notes = try? String(contentsOfFile: "\(rig.root)/\(name)/recording.json", encoding: .utf8)
      guard let token = notes?.firstMatch(of: #/[0-9a-f]{64}/#)?.output else { return }
      // Where the geo-data should come to be.
      let path = "\(rig.root)/\(name)/\(token).json"
      if manager.fileExists(atPath: path) {
        try? manager.removeItem(atPath: path)
      } else {
        try? manager.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
    }
    let media = try rig.media(.video)
    try await recorder.begin(.video, fixes: ScriptedSource([.at(1)]), media: media)
    try await recorder.untilSourceEnds()
    await #expect(throws: FieldpackError.self) { try await recorder.finish() }
    let error = await #expect(throws: FieldpackError.self) {
      try await recorder.takeMedia(copying: media)
    }
    #expect(error?.message.hasSuffix("which keeps its media. Try: finish it") == true)
    let recorded = try await recorder.finish()
    #expect(try rig.capture(recorded.info.token).media?.bytes == RecorderRig.film)
  }
}
