import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// A power cut at any moment of a command damages no file, and takes back nothing that was acknowledged.
///
/// The command runs once with a record of all that it does to files. Then the record is played up to a
/// random action, what was not synced is lost in part, and the file is opened. `FIELDPACK_POWER_CUTS` is
/// the number of cuts a command, 100 by default.
@Suite(.programs) struct PowerCutTests {
  private let field: FieldFolder
  private static let cuts =
    ProcessInfo.processInfo.environment["FIELDPACK_POWER_CUTS"].flatMap { Int($0) } ?? 100

  init() throws { field = try FieldFolder() }

  @Test(arguments: WritingCommand.recorded)
  func `a power cut loses nothing that was acknowledged`(_ command: WritingCommand) async throws {
    if !command.isNew { try await field.makeGeoPackage() }
    let before = try field.databaseFiles()
    let old = try field.contents()
    let outside = try TemporaryFolder()
    let run = try await Program.run(
      Tool.built("FieldpackTestSubject"),
      ["tool", outside.file("record").path] + command.arguments.map(field.absolute),
      folder: field.url)
    try #require(run.status == 0, "\(run)")
    let new = try field.contents()
    try #require(new != nil && (new == old) == command.keepsRows)
    let record = try FileRecord(contentsOf: outside.file("record"))
    try cut(record, command, Disk(folder: field.url.path, files: before), old, new ?? [])
  }

  private func cut(
    _ record: FileRecord, _ command: WritingCommand, _ start: Disk, _ old: [String]?,
    _ new: [String]
  ) throws {
    var random = FilterGenerator.SplitMix(state: 7)
    let moments = (0..<Self.cuts).map { _ in
      Int.random(in: 0...record.actions.count, using: &random)
    }
    .sorted()
    var disk = start
    var taken = 0
    for moment in moments {
      while taken < moment {
        disk.take(record.actions[taken])
        taken += 1
      }
      let left = try TemporaryFolder()
      for (name, bytes) in disk.afterCut(&random) { try Data(bytes).write(to: left.file(name)) }
      let found = try FieldFolder.contents(of: left.file("field.gpkg"))
      let isRight =
        command.isRecording
        ? isPart(found, of: new, acknowledged: disk.output)
        : found == new || (disk.output.isEmpty && found == old)
      #expect(
        isRight, "cut at \(moment) of \(record.actions.count); said so far: \(disk.output)")
      guard isRight else { return }
    }
  }

  /// Whether a recording has at least the points it showed, and those it has are the first ones.
  private func isPart(_ found: [String]?, of new: [String], acknowledged output: String) -> Bool {
    let shown = output.split(separator: "\n").filter { $0.contains("2024-05-06") }.count
    let prefix = "track_point|"
    let points = (found ?? []).filter { $0.hasPrefix(prefix) }
    return points.count >= shown && new.filter { $0.hasPrefix(prefix) }.starts(with: points)
  }
}
