import FieldpackField
import FieldpackTestSupport
import Foundation

@testable import FieldpackCaptures

/// A folder with media, and what makes a capture of them.
final class MakingSample {
  let folder: TemporaryFolder
  var making: CaptureMaking
  let token: CaptureToken

  init(makesThumbnail: Bool = true, keepsBytes: Bool = false) throws {
    folder = try TemporaryFolder()
    let identity = MachineIdentity("00000000-0000-0000-0000-000000000000")
    making = CaptureMaking(
      identity: try identity ?? .stored(in: folder.file("install").path),
      makesThumbnail: makesThumbnail, keepsBytes: keepsBytes)
    token = try making.token(at: 1_344_352_260)
  }

  static let draft = CaptureDraft(
    points: [CapturePoint(time: 0, longitude: -72.25, latitude: 43.5, heading: 99.5, accuracy: 5)],
    createdAt: 1_344_352_260, title: "Mount Tom")

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: folder.file(name))
  }

  func complete(_ name: String) async throws -> CaptureInfo {
    try await making.complete(Self.draft, token: token, media: name, in: folder.url.path)
  }

  func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.file(name))) }

  func pixels(_ fileExtension: String) async throws -> Pixels {
    try await MediaSample.pixels(folder.file("\(token).\(fileExtension)").path)
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }
}
