import FieldpackTestSupport
import Foundation
import Testing

/// What a capture takes of the memory while it comes.
@Suite(.programs) struct SensorMemoryTests {
  /// The base64 of 75 MiB.
  @Test func `an answer of 100 MiB takes less than 32 MiB`() async throws {
    let count = 1600
    let piece = Array(Data((0..<49_152).map { UInt8(truncatingIfNeeded: $0) }).base64EncodedData())
    let head = Array("<result><status>success</status><sensorData>".utf8)
    let tail = Array("</sensorData></result>".utf8)
    let server = try LoopbackServer { _ in
      .pieces(length: head.count + count * piece.count + tail.count) { number in
        switch number {
        case 0: head
        case 1...count: piece
        case count + 1: tail
        default: nil
        }
      }
    }
    let result = try await Program.run(
      Tool.built("FieldpackTestSubject"), ["download", server.address])
    #expect(result.status == 0, "\(result.error)")
    let words = result.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(words.count == 2 && words.first == count * 49_152, "\(result.output)")
    #expect(words.last ?? .max < 32 << 10, "\(result.output) KiB")
  }
}
