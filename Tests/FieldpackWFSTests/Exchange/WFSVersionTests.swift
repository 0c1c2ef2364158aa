import Testing

@testable import FieldpackWFS

struct WFSVersionTests {
  @Test func `only version 2 has a namespace of its own`() {
    #expect(
      WFSVersion.allCases.map(\.namespace) == [
        "http://www.opengis.net/wfs", "http://www.opengis.net/wfs",
        "http://www.opengis.net/wfs/2.0",
      ])
  }
}
