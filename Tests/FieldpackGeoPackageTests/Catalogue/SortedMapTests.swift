import Testing

@testable import FieldpackGeoPackage

@Suite struct SortedMapTests {
  @Test func `finds the last value of each key`() {
    var map = SortedMap<Int64, String>([(5, "a"), (-1, "b"), (5, "c"), (9, "d")])
    #expect(map.entries.map(\.key) == [-1, 5, 9])
    #expect([-1, 5, 9, 0, 10, -2].map { map[$0] } == ["b", "c", "d", nil, nil, nil])
    map.change(9) { $0 = "e" }
    map.change(8) { $0 = "f" }
    #expect(map.entries.map(\.value) == ["b", "c", "e"])
    #expect(SortedMap<Int64, String>()[0] == nil)
  }
}
