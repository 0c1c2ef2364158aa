import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackRTree

/// Sorting in memory and by way of a temporary file.
@Suite struct SpillSortTests {
  private struct Record: BitwiseCopyable, Equatable {
    var key: UInt64
    var number: Int
  }

  private static func keys(_ kind: String) -> [UInt64] {
    var state: UInt64 = 7
    return (0..<500).map { index in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return switch kind {
      case "far apart": state
      case "equal": 3
      case "descending": UInt64(1000 - index)
      default: state >> 56
      }
    }
  }

  @Test(
    arguments: ["far apart", "equal", "descending", "often equal"],
    [1, 3, 100, 499, 500, 1000])
  func `sorts by key and keeps the order of equal ones`(kind: String, limit: Int) throws {
    let records = Self.keys(kind).enumerated().map { Record(key: $1, number: $0) }
    for count in [0, 1, 2, 500] {
      let some = Array(records.prefix(count))
      var sort = SpillSort<Record>(limit: limit, folder: nil)
      for record in some { try sort.append(record) }
      #expect(sort.count == count)
      var unsorted: [Record] = []
      try sort.visit { unsorted.append($0) }
      #expect(unsorted == some)
      var sorted: [Record] = []
      try sort.takeSorted(by: \.key) { sorted.append($0) }
      #expect(sorted == some.sorted { ($0.key, $0.number) < ($1.key, $1.number) })
      #expect(sort.count == 0)
    }
  }

  @Test func `a folder that is not there is an error when it is needed`() throws {
    let folder = try TemporaryFolder()
    var sort = SpillSort<Record>(limit: 1, folder: folder.file("missing").path)
    try sort.append(Record(key: 1, number: 1))
    #expect(throws: FieldpackError.self) { try sort.append(Record(key: 1, number: 1)) }
  }
}
