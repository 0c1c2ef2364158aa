import Testing

@testable import FieldpackCore

@Suite struct PercentTextTests {
  @Test(arguments: [
    ("", []), ("&&", []), ("a=1&b=2", ["a|1", "b|2"]), ("a=1&a=2", ["a|1", "a|2"]),
    ("a", ["a|"]), ("=1", ["|1"]), ("a=b=c", ["a|b=c"]), ("a+b=%26%3D+%2b", ["a b|&= +"]),
    ("%C3%A4=%e2%82%ac", ["ä|€"]),
  ])
  func `queries and forms are names and values`(text: String, pairs: [String]) {
    let found = PercentText.decodePairs(text[...])
    #expect(found?.map { "\($0.name)|\($0.value)" } == pairs)
  }

  @Test(arguments: ["a=%", "a=%2", "a=%zz", "%=1", "a=1&b=%ff"])
  func `broken escapes are refused`(text: String) {
    #expect(PercentText.decodePairs(text[...]) == nil)
  }

  @Test func `base 64 for addresses has signs that need no escapes`() {
    #expect(Base64.encode([0xFB, 0xFF, 0xFE, 0xFF]) == "+//+/w==")
    #expect(Base64.encodeForAddress([0xFB, 0xFF, 0xFE, 0xFF]) == "-__-_w")
  }
}
