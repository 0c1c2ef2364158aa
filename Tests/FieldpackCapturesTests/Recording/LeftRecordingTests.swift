import FieldpackCore
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct LeftRecordingTests {
  private static let source = ScriptedSource([
    [.fix(.at(1))], [.heading(Heading(degrees: 7))], [.fix(.at(2)), .fix(.at(3))],
  ])

  /// Records a capture and copies the folder after each step, as a kill would leave it.
  private func snapshots(
    _ rig: RecorderRig, _ kind: CaptureInfo.MediaKind, into target: CaptureDestination?
  ) async throws -> [(step: RecordingStep, root: String)] {
    let taken = Locked<[(step: RecordingStep, root: String)]>([])
    let recorder = try rig.recorder(into: target) { step in
      taken.withLock { taken in
        let copy = "\(rig.root)-\(taken.count)"
        try? FileManager.default.copyItem(atPath: rig.root, toPath: copy)
        taken.append((step, copy))
      }
    }
    try await recorder.begin(kind, fixes: Self.source, media: try rig.media(kind))
    try await recorder.untilSourceEnds()
    try await recorder.finish()
    return taken.withLock { $0 }
  }

  @Test(arguments: CaptureInfo.MediaKind.allCases)
  func `killed after any step, a recording is completed or thrown away by the next start`(
    kind: CaptureInfo.MediaKind
  ) async throws {
    let rig = try RecorderRig()
    let all = try await snapshots(rig, kind, into: nil)
    var outcomes: [String] = []
    for (step, root) in all {
      let left = try await rig.recorder(root: root).completeLeft()
      outcomes.append("\(step): \(left.map(\.text).joined())")
      for token in try rig.names(root) {
        let found = try rig.capture(token, in: root)
        #expect(found.geodata.points.count == (kind == .image ? 1 : left.first?.points ?? 4))
        #expect(found.media?.bytes == (kind == .image ? RecorderRig.picture : RecorderRig.film))
      }
      #expect(try await rig.recorder(root: root).completeLeft().isEmpty)
    }
    let last = kind == .image ? 1 : 4
    #expect(
      outcomes == [
        "folderMade: 0 discarded", "begun: 0 discarded", "mediaCopied: 0 discarded",
        "pointAppended: 1 completed", "pointAppended: \(min(last, 2)) completed",
        "pointAppended: \(last) completed", "tokenNoted: \(last) completed",
        "completed: \(last) completed", "pointsRemoved: \(last) completed",
        "notesRemoved: \(last) completed", "renamed: ",
      ])
  }

  @Test(arguments: [true, false])
  func `killed around its import, a capture is in the GeoPackage once`(
    keepsFolders: Bool
  ) async throws {
    let rig = try RecorderRig()
    let target = CaptureDestination(
      path: rig.folder.file("field.gpkg").path, store: "field", keepsFolders: keepsFolders)
    let all = try await snapshots(rig, .video, into: target)
    #expect(all.contains { $0.step == .imported })
    let captures = CaptureCatalogue(try await GeoPackageStore(path: target.path, id: "field"))
    let stored = try await captures.list()
    #expect(stored.count == 1)
    for (step, root) in all {
      let left = try await rig.recorder(root: root, into: target).completeLeft()
      guard case .completed(let recorded)? = left.first?.outcome else { continue }
      let isKnown = recorded.info.token == stored[0].info.token
      #expect(recorded.key == nil || !isKnown || recorded.key == stored[0].key)
      #expect(try rig.names(root) == (keepsFolders ? [recorded.info.token] : []))
      #expect(step != .imported || isKnown)
    }
    // The one that was recorded, and those of the kills before it had its token.
    let tokens = try await captures.list().map(\.info.token)
    #expect(tokens.count == Set(tokens).count && tokens.count == 4)
    await captures.store.close()
  }

  @Test func `a recording for another GeoPackage is completed, and says so`() async throws {
    let rig = try RecorderRig()
    let target = CaptureDestination(path: rig.folder.file("field.gpkg").path, store: "field")
    let all = try await snapshots(rig, .video, into: target)
    let root = try #require(all.first { $0.step == .completed }?.root)
    let left = try await rig.recorder(root: root).completeLeft()
    #expect(left.map(\.text) == ["4 completed"] && left.map(\.awaited) == [target.path])
  }

  @Test func `a capture that cannot be imported is whole in its folder, and the error says where`()
    async throws
  {
    let rig = try RecorderRig()
    let file = try rig.folder.write("no database", to: "field.gpkg").path
    for keepsFolders in [true, false] {
      let target = CaptureDestination(path: file, store: "field", keepsFolders: keepsFolders)
      let recorder = try rig.recorder(into: target)
      try await recorder.begin(.video, fixes: Self.source, media: try rig.media(.video))
      try await recorder.untilSourceEnds()
      let error = await #expect(throws: FieldpackError.self) { try await recorder.finish() }
      guard case .importCapture(let path, into: file) = error?.advice else {
        Issue.record("no advice to import into \(file): \(String(describing: error?.advice))")
        continue
      }
      #expect(error?.message.contains(" \(path) ") == true)
      #expect(path.hasPrefix(rig.root))
      let found = try CaptureFolder(path: path).capture("x")
      #expect(found.geodata.points.count == 4 && found.media != nil)
      try FileManager.default.removeItem(atPath: rig.root)
    }
  }

  // MARK: What is found in the folder

  private func makeLeft(_ rig: RecorderRig, name: String = ".recording-1") throws -> String {
    let path = "\(rig.root)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write(
      "\(path)/recording.json",
      #"{"media_type":"video","media":"output.mov","created_at":7,"title":"t"}"# + "\n")
    try write(
      "\(path)/output.json",
      """
      {"timestamp":0,"coords":[52,1]}
      {"timestamp":2,"coords":[52,2],"heading":3}

      """)
    try Data(RecorderRig.film).write(to: URL(fileURLWithPath: "\(path)/output.mov"))
    return path
  }

  private func write(_ path: String, _ text: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  @Test func `a capture whose media are too long to be read gets its place`() async throws {
    let rig = try RecorderRig()
    let all = try await snapshots(rig, .video, into: nil)
    for step in [RecordingStep.pointsRemoved, .notesRemoved] {
      let root = try #require(all.first { $0.step == step }?.root)
      let path = "\(root)/\(try #require(try rig.names(root).first))"
      let film = try #require(
        try FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasSuffix(".mov") })
      let length = CaptureFolder.Limits.media + 1
      #expect(truncate("\(path)/\(film)", off_t(length)) == 0)
      let left = try await rig.recorder(root: root).completeLeft()
      #expect(left.map(\.text) == ["4 completed"])
      let attributes = try FileManager.default.attributesOfItem(
        atPath: "\(root)/\(film.dropLast(4))/\(film)")
      #expect(attributes[.size] as? Int == length)
    }
  }

  @Test(arguments: [RecordingStep.pointsRemoved, .notesRemoved])
  func `a capture that cannot be read is kept`(step: RecordingStep) async throws {
    let rig = try RecorderRig()
    let root = try #require(
      try await snapshots(rig, .video, into: nil).first { $0.step == step }?.root)
    let path = "\(root)/\(try #require(try rig.names(root).first))"
    for text in ["{", #"{"token":"#] {
      try write("\(path)/capture-info.json", text)
      let before = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      let left = try await rig.recorder(root: root).completeLeft()
      #expect(left.map(\.text) == ["0 kept: invalidData"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == before)
    }
  }

  @Test(arguments: [16, 40, RecorderRig.film.count - 1])
  func `a film that a killed camera left is kept as it is`(count: Int) async throws {
    let rig = try RecorderRig()
    let film = Array(RecorderRig.film.prefix(count))
    try Data(film).write(to: URL(fileURLWithPath: "\(try makeLeft(rig))/output.mov"))
    let copy = "\(rig.root)-copy"
    let recorder = try rig.recorder { step in
      guard step == .completed else { return }
      try? FileManager.default.copyItem(atPath: rig.root, toPath: copy)
    }
    // The copy is what a kill after its files were made leaves.
    for (recorder, root) in [(recorder, rig.root), (try rig.recorder(root: copy), copy)] {
      let left = try await recorder.completeLeft()
      #expect(left.map(\.text) == ["2 completed"])
      #expect(left.first?.mediaError?.code == .invalidData)
      let found = try rig.capture(try #require(try rig.names(root).first), in: root)
      #expect(found.media?.bytes == film && found.thumbnail == nil)
      #expect(found.geodata.points.map(\.text) == ["0.0 1.0 0.0 15.0", "2.0 2.0 3.0 15.0"])
      #expect(found.info.orientation == nil)
    }
  }

  @Test(arguments: ["", "{", #"{"timestamp":3,"coords":[52,"#, "\0\0\0\0\0\n\0", "{}\n", "[]\n\n"])
  func `a line that was cut is no point, and those before it stay`(tail: String) async throws {
    let rig = try RecorderRig()
    let path = try makeLeft(rig)
    for name in ["output.json", "recording.json"] {
      let file = try #require(FileHandle(forWritingAtPath: "\(path)/\(name)"))
      try file.seekToEnd()
      try file.write(contentsOf: Data(name == "output.json" ? tail.utf8 : "{\"tok".utf8))
      try file.close()
    }
    let left = try await rig.recorder().completeLeft()
    #expect(left.map(\.text) == ["2 completed"])
    let token = try #require(try rig.names().first)
    let found = try rig.capture(token)
    #expect(found.geodata.points.map(\.text) == ["0.0 1.0 0.0 15.0", "2.0 2.0 3.0 15.0"])
    #expect(found.info.createdAt == 7 && found.info.title == "t")
  }

  @Test func `links, other people's files and folders are let be or refused, and nothing is read`()
    async throws
  {
    let rig = try RecorderRig()
    let manager = FileManager.default
    let secret = rig.folder.file("secret").path
    try manager.createDirectory(atPath: secret, withIntermediateDirectories: true)
    for name in ["recording.json", "output.json", "output.mov"] {
      try Data(RecorderRig.film).write(to: URL(fileURLWithPath: "\(secret)/\(name)"))
    }
    let before = try files(below: secret)
    let path = try makeLeft(rig, name: ".recording-a")
    try manager.removeItem(atPath: "\(path)/output.mov")
    try manager.createSymbolicLink(
      atPath: "\(path)/output.mov", withDestinationPath: "\(secret)/output.mov")
    let inner = try makeLeft(rig, name: ".recording-b")
    try manager.createDirectory(atPath: "\(inner)/more", withIntermediateDirectories: true)
    let points = try makeLeft(rig, name: ".recording-c")
    try manager.removeItem(atPath: "\(points)/output.json")
    try manager.createSymbolicLink(
      atPath: "\(points)/output.json", withDestinationPath: "\(secret)/output.json")
    try manager.createSymbolicLink(
      atPath: "\(rig.root)/.recording-d", withDestinationPath: secret)
    try write("\(rig.root)/.recording-e", "a file")
    let odd = try makeLeft(rig, name: ".recording-f")
    try write(
      "\(odd)/recording.json",
      #"{"media_type":"video","media":"../../clip.mov","created_at":7}"# + "\n")
    let left = try await rig.recorder().completeLeft()
    #expect(
      left.map { "\($0.name.suffix(1)) \($0.text)" } == [
        "a 2 discarded", "b 2 kept: io", "c 0 kept: invalidData", "d 0 kept: invalidData",
        "e 0 kept: invalidData", "f 0 discarded",
      ])
    #expect(try files(below: secret) == before)
    // A recording begins all the same.
    let recorder = try rig.recorder()
    try await recorder.begin(.video, fixes: Self.source, media: try rig.media(.video))
    try await recorder.untilSourceEnds()
    let recorded = try await recorder.finish()
    #expect(try rig.capture(recorded.info.token).geodata.points.count == 4)
  }

  @Test func `what another recorder is at is left alone, and what it left is not`() async throws {
    let rig = try RecorderRig()
    var first: CaptureRecorder? = try rig.recorder()
    try await first?.begin(
      .video, fixes: OpenSource(first: [.fix(.at(1))]), media: try rig.media(.video))
    if let states = first?.states { _ = await texts(of: states, until: "recording 1") }
    let second = try rig.recorder()
    #expect(try await second.completeLeft().isEmpty)
    #expect(try rig.names().count == 1)
    first = nil
    // Its thread gives the folder back in its own time.
    var left: [LeftRecording] = []
    while left.isEmpty {
      left = try await second.completeLeft()
      if left.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    }
    #expect(left.map(\.text) == ["1 completed"])
  }

  @Test func `a folder that is a file is refused with its name`() async throws {
    let rig = try RecorderRig()
    let file = try rig.folder.write("a file", to: "captures").path
    let recorder = try rig.recorder()
    let error = await #expect(throws: FieldpackError.self) {
      try await recorder.begin(.image, fixes: ScriptedSource([.at(1)]))
    }
    #expect(error?.message.contains(file) == true)
    #expect(error?.code == .notFound)
  }

  @Test func `a folder that others take away while it is empty is made again`() throws {
    let rig = try RecorderRig()
    let root = rig.root
    let isDone = Locked(false)
    let thread = Thread {
      while !isDone.withLock({ $0 }) {
        rmdir(root)
        // Without a pause it could come first each time on a busy machine.
        usleep(2000)
      }
    }
    thread.start()
    defer { isDone.withLock { $0 = true } }
    for _ in 0..<200 {
      let made = try RecordingFolder.make(in: root)
      #expect(made.isThere)
      try made.removeAll()
    }
    #expect(try rig.names() == [])
  }

  @Test func `recorders that share a folder, and clear it at once, lose nothing`() async throws {
    let rig = try RecorderRig()
    let media = try rig.media(.video)
    for number in 0..<6 { _ = try makeLeft(rig, name: ".recording-\(number)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let recorder = try rig.recorder()
          try await recorder.begin(
            .video, fixes: ScriptedSource([.at(Double(number)), .at(50)]), media: media)
          try await recorder.untilSourceEnds()
          try await recorder.completeLeft()
          try await recorder.finish()
        }
      }
      try await group.waitForAll()
    }
    let found = try rig.names().map { try rig.capture($0) }
    #expect(found.count == 14)
    #expect(
      found.map { $0.geodata.points[0].longitude }.sorted() == [
        0, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7,
      ])
  }
}
