import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// A command that is killed leaves nothing that the next run does not clear: no journal, no log and no
/// temporary file; nothing that it acknowledged is lost, and the journal mode is the one before.
///
/// `FIELDPACK_KILLS` is the number of kills in all, by default two of each command.
@Suite(.serialized, .programs) struct KilledCommandTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) }
    ?? 2 * WritingCommand.all.count

  @Test(arguments: WritingCommand.all)
  func `what a killed command leaves is cleared by the next run`(_ command: WritingCommand)
    async throws
  {
    let whole = try await Undisturbed(command)
    let kills = max(1, Self.kills / WritingCommand.all.count)
    let base = try FieldFolder()
    try await Self.prepare(base, command)
    for number in 0..<kills {
      let isWAL = !command.isNew && !command.replacesFile && number % 2 == 1
      let field = try FieldFolder()
      if !command.isNew { try field.copyGeoPackage(of: base, isWAL: isWAL) }
      let inputs = try field.names()
      let program = try Tool.start(command.arguments, folder: field.url)
      let moment = Double.random(in: 0...1.1) * whole.seconds
      try await program.kill(after: moment)
      let killed = try await program.result()
      let next = try await Tool.run(command.arguments, folder: field.url)
      // What was done cannot be done again.
      let isDone = next.status == whole.nextStatus && whole.nextStatus != 0
      #expect(next.status == 0 || isDone, "kill \(number) at \(moment) s: \(next)")
      let expected = Set(inputs).union([command.file] + command.writes).sorted()
      let names = try field.names()
      #expect(names == expected, "kill \(number) at \(moment) s")
      let header = try Data(contentsOf: field.file(command.file))
      #expect(header[18] == (isWAL ? 2 : 1), "kill \(number) at \(moment) s")
      let found = try Self.contents(field, command)
      let isAcknowledged = !killed.output.isEmpty
      #expect(
        found == whole.twice || (!isAcknowledged && found == whole.once),
        "kill \(number) at \(moment) s; said: \(killed.output)")
    }
  }

  /// What the command gives when nobody kills it: once, and once more.
  private struct Undisturbed {
    var once: [String] = []
    var twice: [String] = []
    var nextStatus: Int32 = 0
    var seconds = 0.0

    init(_ command: WritingCommand) async throws {
      let field = try FieldFolder()
      try await KilledCommandTests.prepare(field, command)
      let start = ContinuousClock.now
      let first = try await Tool.run(command.arguments, folder: field.url)
      seconds = (ContinuousClock.now - start) / .seconds(1)
      try #require(first.status == 0, "\(first)")
      once = try KilledCommandTests.contents(field, command)
      nextStatus = try await Tool.run(command.arguments, folder: field.url).status
      twice = try KilledCommandTests.contents(field, command)
    }
  }

  private static func prepare(_ field: FieldFolder, _ command: WritingCommand) async throws {
    guard !command.isNew else { return }
    try await field.makeGeoPackage()
    if command.arguments.contains(where: { $0.hasPrefix("other.gpkg") }) {
      try await field.makeOtherGeoPackage()
    }
    guard let sql = command.breaks else { return }
    try Connection(path: field.file("field.gpkg").path, mode: .readWrite).execute(sql)
  }

  private static func contents(_ field: FieldFolder, _ command: WritingCommand) throws -> [String] {
    let rows = (try FieldFolder.contents(of: field.file(command.file)) ?? []).filter { row in
      command.layer.map { row.hasPrefix($0 + "|") } ?? true
    }
    guard command.isCounted else { return rows }
    return Dictionary(grouping: rows) { $0.prefix { $0 != "|" } }
      .map { "\($0.key): \($0.value.count)" }.sorted()
  }
}
