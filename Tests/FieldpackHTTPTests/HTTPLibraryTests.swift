import Testing

@testable import FieldpackHTTP

@Suite struct HTTPLibraryTests {
  @Test func `the library tells its version`() {
    #expect(HTTPLibrary.version.hasPrefix("libcurl/"))
  }
}
