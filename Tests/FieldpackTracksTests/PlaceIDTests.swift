import Testing

@testable import FieldpackTracks

@Suite struct PlaceIDTests {
  @Test(arguments: [
    (51.1242, 13.2131, "a5377f5e33ea7e47d39225515f314b0d"),
    (52.521049275860484, 13.409247493784164, "62d63ec445dd19c8ae3b2d9bcc776e8e"),
    (52.50758081381847, 13.469561928501712, "d5145cf9ab18481c28a60ca70dffa255"),
    (0.0, 0.0, "6dbc5e65667e22741c93fd463f2cf066"),
    (-33.8688, 151.2093, "9e21a41efb77dd5b1fbafd5314de7c4c"),
  ])
  func `places have the ids that PhotoPath gives`(latitude: Double, longitude: Double, id: String) {
    #expect(PlaceID.md5(latitude: latitude, longitude: longitude) == id)
  }

  @Test func `two places may have one id, and zero has two`() {
    #expect(PlaceID.md5(latitude: 1.1, longitude: 23.4) == "32324f05124560b40765a88583c8d236")
    #expect(PlaceID.md5(latitude: 1.12, longitude: 3.4) == "32324f05124560b40765a88583c8d236")
    #expect(
      PlaceID.md5(latitude: -0.0, longitude: 0.0) != PlaceID.md5(latitude: 0.0, longitude: 0.0))
  }
}
