import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackArchive

/// A name for each, because millions of bytes as an argument would be encoded for its identity.
private enum Pieces: CaseIterable {
  case none, empty, word, wordInPieces, noise, alike

  var bytes: [[UInt8]] {
    switch self {
    case .none: return []
    case .empty: return [[]]
    case .word: return [Array("wells".utf8)]
    case .wordInPieces: return [Array("we".utf8), [], Array("lls".utf8)]
    case .noise:
      let noise = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
      return [noise, noise, Array("end".utf8)]
    case .alike: return [[UInt8](repeating: 7, count: 5_000_000)]
    }
  }
}

@Suite(.programs) struct GzipPackerTests {
  /// Python's reader is not ours.
  @Test(
    .enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)),
    arguments: Pieces.allCases)
  fileprivate func `pieces are one member that others unpack`(of: Pieces) async throws {
    let pieces = of.bytes
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
