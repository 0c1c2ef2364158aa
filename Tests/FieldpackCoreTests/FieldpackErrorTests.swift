import FieldpackCore
import Testing

@Suite struct FieldpackErrorTests {
  // Scripts depend on these: change none.
  static let exitStatuses: [(String, Int32)] = [
    ("invalidArgument", 64), ("invalidData", 65), ("corrupt", 65), ("notFound", 66),
    ("unavailable", 69), ("cannotCreate", 73), ("io", 74), ("full", 74), ("busy", 75),
    ("permission", 77), ("readOnly", 77), ("interrupted", 130), ("constraint", 1),
    ("unsupported", 1), ("configuration", 1),
  ]

  @Test func `exit statuses are frozen`() {
    #expect(FieldpackError.Code.all.map(\.name) == Self.exitStatuses.map(\.0))
    #expect(FieldpackError.Code.all.map(\.exitStatus) == Self.exitStatuses.map(\.1))
    #expect(FieldpackError.Code.all.map(\.description) == Self.exitStatuses.map(\.0))
  }

  @Test(arguments: [
    (FilePosition(), ""),
    (FilePosition(file: "a.json"), "a.json"),
    (FilePosition(file: "a.json", line: 3, column: 4), "a.json:3:4"),
    (FilePosition(line: 3, column: 4), "line 3:4"),
    (FilePosition(line: 3), "line 3"),
    (FilePosition(column: 4), ""),
    (FilePosition(file: "a.json", byteOffset: 12, feature: 2), "a.json, feature 2, byte 12"),
    (FilePosition(byteOffset: 0), "byte 0"),
  ])
  func `a position shows what is known`(position: FilePosition, text: String) {
    #expect(position.description == text)
  }

  @Test func `a description leads with the position`() {
    let error = FieldpackError(.io, "gone")
    #expect("\(error)" == "gone")
    let located = error.adding(
      location: .init(store: "s", layer: "l"), position: .init(file: "f", line: 1))
    #expect("\(located)" == "f:1: gone")
    #expect(located.location == KeyTuple.Partial(store: "s", layer: "l"))
    let kept = located.adding(
      location: .init(store: "other", feature: 7), position: .init(file: "other"))
    #expect(kept.location == KeyTuple.Partial(store: "s", layer: "l", feature: 7))
    #expect(kept.position == FilePosition(file: "f", line: 1))
  }

  @Test func `a description ends with the advice, in words of the API`() {
    let error = FieldpackError(.cannotCreate, "a.csv exists", advice: .overwrite)
    #expect("\(error)" == "a.csv exists. Try: overwrite = true, or another name")
    let located = error.adding(position: .init(file: "f", line: 1))
    #expect(located.advice == .overwrite)
    #expect("\(located)" == "f:1: a.csv exists. Try: overwrite = true, or another name")
  }

  @Test func `advice about the cause comes first`() {
    let advice = FieldpackError.Advice.makeValid.then(.skipErrors)
    #expect(advice == .several([.makeValid, .skipErrors]))
    #expect(advice.then(nil) == advice)
    #expect(FieldpackError.Advice.checkFile.then(advice).single.count == 3)
    #expect(
      "\(advice)" == "GeometryOperations.makesValid = true. Try: skipsErrors = true")
  }

  @Test func `a note is a text, with the advice of the error it is about`() {
    let note = Note("left out: ", FieldpackError(.corrupt, "cut short", advice: .checkFile))
    #expect(note == Note("left out: cut short", advice: .checkFile))
    #expect(note.preceded(by: "a: ").text == "a: left out: cut short")
    #expect("\(note)" == "left out: cut short. Try: FileCheck().run(_:)")
    #expect("plain \(1)" == Note("plain 1"))
  }
}
