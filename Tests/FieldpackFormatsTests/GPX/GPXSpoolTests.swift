import FieldpackCore
import Testing

@testable import FieldpackFormats

@Suite struct GPXSpoolTests {
  @Test func `stretches come back from memory, from the file, and across both`() throws {
    let spool = GPXSpool(threshold: 1000)
    var whole: [UInt8] = []
    var extents: [GPXSpool.Extent] = []
    for index in 0..<500 {
      let start = spool.end
      let bytes = [UInt8](repeating: UInt8(index % 251), count: index % 37)
      spool.buffer.append(contentsOf: bytes)
      whole.append(contentsOf: bytes)
      extents.append(spool.extent(from: start))
      try spool.flushIfFull()
    }
    #expect(spool.end == whole.count)
    let output = ByteOutput()
    for extent in extents { try spool.copy(extent, to: output) }
    #expect(output.buffer == whole)
    output.buffer.removeAll()
    try spool.copy(spool.extent(from: 0), to: output)
    #expect(output.buffer == whole)
  }
}
