import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackArchive

@Suite(.programs) struct GzipPackerTests {
  private static let noise = (0..<300_000).map {
    UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7)
  }

  /// Python's reader is not ours.
  @Test(
    .enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)),
    arguments: [
      [], [[UInt8]()], [Array("wells".utf8)], [Array("we".utf8), [], Array("lls".utf8)],
      [noise, noise, Array("end".utf8)], [[UInt8](repeating: 7, count: 5_000_000)],
    ])
  func `pieces are one member that others unpack`(pieces: [[UInt8]]) async throws {
    let packer = try GzipPacker()
    var packed: [UInt8] = []
    for piece in pieces { packed += packer.pack(piece) }
    packed += packer.finish()
    let program =
      "import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))"
    let result = try await Program.run(
      Programs.python ?? "", ["-c", program], input: Data(packed))
    #expect(Array(result.outputBytes) == Array(pieces.joined()))
  }
}
