import FieldpackCore
import FieldpackTestSupport
import Foundation

@testable import FieldpackMedia

/// Media of a test, in a file that has no name any more.
enum OpenedMedia {
  static func file(_ bytes: [UInt8], _ name: String = "output") throws -> MediaFile {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: folder.file("media"))
    let descriptor = open(folder.file("media").path, O_RDONLY | O_CLOEXEC)
    return try MediaFile((descriptor, bytes.count), name: name, for: "a test")
  }

  /// A film as it is made by ffmpeg.
  static func film(_ pixels: Pixels, orientation: Int = 1) async throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mov").path
    try await MediaSample.movie(pixels, codec: "mjpeg", orientation: orientation, to: path)
    return [UInt8](try Data(contentsOf: folder.file("a.mov")))
  }
}
