import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ByteOutputTests {
  /// Bytes that tell where they stand.
  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

  @Test func `few and many bytes are written in their order`() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("out")
    let all = Self.bytes(1_000_000)
    let output = try ByteOutput(replacing: url.path, overwrite: false)
    var next = 0
    for count in [10, 70_000, 1, 300_000, 65_536, 100] {
      try output.write(Array(all[next..<next + count]))
      next += count
      #expect(output.position == next)
    }
    try output.finish()
    #expect(try Array(Data(contentsOf: url)) == Array(all[..<next]))
  }

  @Test(arguments: [0, 5, 65_536, 400_000, 500_000]) func `what was written can be taken back`(
    start: Int
  ) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("out")
    let all = Self.bytes(500_000)
    let outputs = [ByteOutput(), try ByteOutput(replacing: url.path, overwrite: false)]
    for output in outputs {
      try output.write(Array(all[..<300_000]))
      try output.write(Array(all[300_000...]))
      var taken: [UInt8] = []
      try output.takeBack(from: start) { taken.append(contentsOf: $0) }
      #expect(taken == Array(all[start...]) && output.position == start)
      try output.write([1, 2, 3])
      try output.flush()
    }
    #expect(outputs[0].buffer == Array(all[..<start]) + [1, 2, 3])
    try outputs[1].finish()
    #expect(try Array(Data(contentsOf: url)) == Array(all[..<start]) + [1, 2, 3])
  }
}
