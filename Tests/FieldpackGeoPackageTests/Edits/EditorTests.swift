import FieldpackCore
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Who edits is in the file for the length of a transaction only.
@Suite struct EditorTests {
  private let asked = Locked(0)

  /// Ann on a device that is looked up.
  private var profile: OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.editor = Editor(author: "ann")
    profile.editor?.keptDevice = KeptDevice { [asked] () throws(FieldpackError) in
      asked.withLock { $0 += 1 }
      return "D7"
    }
    return profile
  }

  @Test func `the device is looked up once, at the first change of a file with logs`()
    async throws
  {
    let package = try await EditLogTests.package()
    let plain = try await TestPackage(points: [Feature(attributes: ["name": "x"])], "")
    let profile = profile
    for number in [1, 2] {
      try await package.withStore(profile) { store in
        _ = try await store.feature(.integer(1), in: "points")
        #expect(asked.withLock { $0 } == number - 1 || number == 2)
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(.integer(1), in: "points", set: ["name": .text("\(number)")])
        }
      }
    }
    try await plain.withStore(self.profile) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["name": "y"])
      }
    }
    #expect(asked.withLock { $0 } == 1)
    #expect(
      try package.rows("SELECT name, author, device FROM points_audit WHERE audit_op = 2")
        == ["1|ann|D7", "2|ann|D7"])
  }

  @Test func `a device that cannot be kept refuses no edit`() async throws {
    let package = try await EditLogTests.package()
    var profile = OpeningProfile.foreign
    profile.editor = Editor(author: "ann")
    profile.editor?.keptDevice = KeptDevice { () throws(FieldpackError) in
      throw FieldpackError(.permission, "no")
    }
    try await package.withStore(profile) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(.integer(1), in: "points")
      }
    }
    #expect(
      try package.rows("SELECT author, device FROM points_audit WHERE audit_op = 3") == ["ann|NULL"]
    )
  }

  @Test(arguments: [true, false])
  func `a write that fails, or is killed, leaves nobody`(usesWAL: Bool) async throws {
    let package = try await EditLogTests.package()
    let killed = try TemporaryFolder()
    let (path, copy) = (package.path, killed.file("survey.gpkg").path)
    let store = try await package.store(profile: profile, usesWAL: usesWAL)
    let error = await thrown {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["name": "x"])
        #expect(
          try writer.file.rows("SELECT author, device FROM fieldpack_editor")
            == [[.text("ann"), .text("D7")]])
        // What a kill leaves is what the files hold now.
        for suffix in ["", "-journal", "-wal"] {
          try? FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        throw FieldpackError(.io, "stop")
      }
    }
    await store.close()
    #expect(error?.code == .io)
    #expect(try package.rows("SELECT author, device FROM fieldpack_editor") == ["NULL|NULL"])
    let left = try TestPackage(copying: URL(fileURLWithPath: copy))
    #expect(try left.rows("SELECT author, device FROM fieldpack_editor") == ["NULL|NULL"])
    #expect(try left.rows("SELECT count(*) FROM points_audit") == ["0"])
  }
}
