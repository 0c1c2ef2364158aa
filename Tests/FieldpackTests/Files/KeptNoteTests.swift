import FieldpackCore
import Testing

@testable import Fieldpack

@Suite struct KeptNoteTests {
  @Test(
    arguments: [
      nil, .nameSourceSRS, .nameOtherSourceSRS, .nameEncoding, .nameDelimiter(";"),
      .nameDecimalSign("."), .nameWKTColumn("geom \"é\""), .nameIDColumn("id"),
      .nameCoordinates(x: "lon", y: "lat"),
    ] as [FieldpackError.Advice?])
  func `a note comes back with its advice`(advice: FieldpackError.Advice?) {
    let note = Note("the file's \"reference\" system\n", advice: advice)
    #expect(KeptNote.note(of: KeptNote.text(of: note)) == note)
  }

  @Test func `advice that no import gives is left out`() {
    let note = Note("sign in", advice: .signIn(config: nil))
    #expect(KeptNote.note(of: KeptNote.text(of: note)) == Note("sign in"))
  }

  @Test(arguments: ["", "{}", "[]", "{\"text\":1}", "{\"text\":"])
  func `another document is no note`(text: String) {
    #expect(KeptNote.note(of: text) == nil)
  }
}
