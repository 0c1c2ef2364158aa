import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// What is promised where people copy and restore files.
@Suite struct SyncPromisesTests {
  private static func edit(
    _ survey: SyncSurvey, _ name: String, _ note: String, of feature: Int64 = 1
  ) async throws {
    let store = try await survey.open(name)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(.integer(feature), in: "wells", set: ["note": .text(note)])
      try writer.create(Feature(attributes: ["name": .text(note)]), in: "wells")
    }
    await store.close()
  }

  private static func synchronise(
    _ survey: SyncSurvey, _ name: String, with other: String = "office"
  ) async throws -> SyncReport.Layer {
    let (device, office) = (try await survey.open(name), try await survey.open(other))
    let result: Result<SyncReport, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await SyncRun(of: device, with: SyncService(of: office)).run())
    } catch {
      result = .failure(error)
    }
    await device.close()
    await office.close()
    return try result.get().layers[0]
  }

  private static func copy(_ survey: SyncSurvey, _ name: String, to copy: String) throws {
    let target = survey.folder.file("\(copy).gpkg")
    try? FileManager.default.removeItem(at: target)
    try FileManager.default.copyItem(at: survey.folder.file("\(name).gpkg"), to: target)
  }

  private static func contents(
    _ survey: SyncSurvey, _ name: String
  ) async throws -> [String: String] {
    let store = try await survey.open(name)
    let contents = try await store.contents()
    await store.close()
    return contents
  }

  @Test func `a copy of a device's file is another device`() async throws {
    let survey = try await SyncSurvey(["office", "a"])
    try await Self.edit(survey, "a", "first")
    _ = try await Self.synchronise(survey, "a")
    try Self.copy(survey, "a", to: "c")
    try await Self.edit(survey, "a", "of a")
    try await Self.edit(survey, "c", "of c")
    #expect(try await Self.synchronise(survey, "a").conflicts == 0)
    let second = try await Self.synchronise(survey, "c")
    #expect([second.sent, second.received, second.conflicts] as [Int] == [2, 2, 1])
    _ = try await Self.synchronise(survey, "a")
    let expected = try await Self.contents(survey, "office")
    #expect(try await Self.contents(survey, "a") == expected)
    #expect(try await Self.contents(survey, "c") == expected)
  }

  @Test func `a device that is restored from a backup gets its own edits back`() async throws {
    let survey = try await SyncSurvey(["office", "a"])
    try await Self.edit(survey, "a", "first")
    _ = try await Self.synchronise(survey, "a")
    try Self.copy(survey, "a", to: "backup")
    try await Self.edit(survey, "a", "second", of: 2)
    _ = try await Self.synchronise(survey, "a")
    try Self.copy(survey, "backup", to: "a")
    try await Self.edit(survey, "a", "third", of: 3)
    let report = try await Self.synchronise(survey, "a")
    #expect([report.sent, report.received, report.conflicts] as [Int] == [2, 2, 0])
    #expect(try await Self.contents(survey, "a") == Self.contents(survey, "office"))
  }

  @Test func `a receiver that is restored from a backup is told, and nothing is changed`()
    async throws
  {
    let survey = try await SyncSurvey(["office", "a"])
    try Self.copy(survey, "office", to: "backup")
    try await Self.edit(survey, "a", "first")
    _ = try await Self.synchronise(survey, "a")
    try Self.copy(survey, "backup", to: "office")
    try await Self.edit(survey, "a", "second")
    let before = try await Self.contents(survey, "office")
    let error = try await #require(throws: FieldpackError.self) {
      _ = try await Self.synchronise(survey, "a")
    }
    #expect(error.code == .constraint)
    #expect(error.message.contains("is not the one that was seen before"))
    #expect(try await Self.contents(survey, "office") == before)
  }

  @Test func `another receiver is told, and nothing is changed`() async throws {
    let survey = try await SyncSurvey(["office", "a", "b", "other"])
    try await Self.edit(survey, "a", "first")
    _ = try await Self.synchronise(survey, "a")
    try await Self.edit(survey, "b", "of b")
    _ = try await Self.synchronise(survey, "b", with: "other")
    let before = try await Self.contents(survey, "other")
    await #expect(throws: FieldpackError.self) {
      _ = try await Self.synchronise(survey, "a", with: "other")
    }
    #expect(try await Self.contents(survey, "other") == before)
  }

  @Test func `what both have because one is a copy is not sent`() async throws {
    let survey = try await SyncSurvey(["office"])
    try await Self.edit(survey, "office", "before")
    try Self.copy(survey, "office", to: "a")
    let report = try await Self.synchronise(survey, "a")
    #expect([report.sent, report.received, report.conflicts] as [Int] == [0, 0, 0])
  }
}
