import FieldpackCore
import FieldpackTestSupport
import Testing

@Suite struct KeyTupleTests {
  static let vectors: [(KeyTuple, String)] = [
    (
      .init(store: "FORM_STORE", layer: "potholes", feature: 42),
      "Rk9STV9TVE9SRQ==.cG90aG9sZXM=.NDI="
    ),
    (
      .init(
        store: "f6dcc750-1349-46b9-a324-0223764d46d1", layer: "point_features", feature: 1),
      "ZjZkY2M3NTAtMTM0OS00NmI5LWEzMjQtMDIyMzc2NGQ0NmQx.cG9pbnRfZmVhdHVyZXM=.MQ=="
    ),
    (.init(store: "wfs", layer: "team", feature: "team.3"), "d2Zz.dGVhbQ==.dGVhbS4z"),
    (.init(store: "s", layer: "😀?~", feature: "é"), "cw==.8J+YgD9+.w6k="),
    (.init(store: "a.b", layer: ".", feature: -1), "YS5i.Lg==.LTE="),
  ]

  @Test(arguments: vectors) func `is written as SpatialConnect writes it`(
    key: KeyTuple, text: String
  ) {
    #expect(key.description == text)
    #expect(KeyTuple(text) == key)
  }

  @Test(arguments: [
    "Rk9STV9TVE9SRQ==\n.cG90aG9sZXM=\n.NDI=\n",
    "Rk9S\r\nTV9TVE9SRQ==.cG90 aG9sZXM=.\tNDI=",
    "Rk9STV9TVE9SRQ.cG90aG9sZXM.NDI",
    " Rk9STV9TVE9SRQ= =.cG90aG9sZXM=.NDI=",
  ])
  func `reads line breaks, blanks and missing padding`(text: String) {
    #expect(KeyTuple(text) == Self.vectors[0].0)
  }

  @Test func `reads the URL-safe alphabet`() {
    #expect(KeyTuple("cw.8J-YgD9-.w6k") == Self.vectors[3].0)
  }

  @Test(arguments: [
    "", ".", "..", "Rk9S.cG90", "cw==.cw==.cw==.cw==", "cw==..cw==", "cw==.cw==.", "c.cw==.cw==",
    "cw=.cw==.cw==", "cw===.cw==.cw==", "c=w=.cw==.cw==", "cx==.cw==.cw==", "cw==.cw==.c*==",
    "/w==.cw==.cw==", "cw==.cw==.Zm9v\u{301}", "cw==.cw==.====",
  ])
  func `refuses what is no key tuple`(text: String) {
    #expect(KeyTuple(text) == nil)
  }

  @Test func `any triple comes back`() {
    var generator = FilterGenerator.SplitMix(state: 12)
    let scalars: [ClosedRange<UInt32>] = [0...0x7F, 0...0x7FF, 0x2E...0x39, 0x1F300...0x1F6FF]
    func text() -> String {
      let range = scalars.randomElement(using: &generator) ?? 0...0x7F
      let count = Int.random(in: 1...24, using: &generator)
      return String(
        String.UnicodeScalarView(
          (0..<count).compactMap { _ in Unicode.Scalar(.random(in: range, using: &generator)) }))
    }
    for _ in 0..<10_000 {
      let feature =
        Bool.random(using: &generator)
        ? FeatureID.integer(.random(in: .min ... .max, using: &generator)) : FeatureID(text())
      let key = KeyTuple(store: StoreID(text()), layer: LayerID(text()), feature: feature)
      #expect(KeyTuple(key.description) == key)
      let bare = key.description.filter { $0 != "=" }
      #expect(KeyTuple(bare) == key)
    }
  }

  @Test(arguments: [
    ("42", FeatureID.integer(42)), ("-1", .integer(-1)), ("+1", .text("+1")), ("01", .text("01")),
    ("-0", .text("-0")), ("1.0", .text("1.0")), ("", .text("")),
    ("9223372036854775807", .integer(.max)), ("9223372036854775808", .text("9223372036854775808")),
  ])
  func `an id in shortest integer form is an integer`(text: String, id: FeatureID) {
    #expect(FeatureID(text) == id)
    #expect(id.description == text)
  }

  @Test func `ids are told apart and ordered byte by byte`() {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    #expect(composed == decomposed)
    #expect(StoreID(composed) != StoreID(decomposed))
    #expect(LayerID(composed) != LayerID(decomposed))
    #expect(FeatureID.text(composed) != .text(decomposed))
    #expect(Set([StoreID(composed), StoreID(decomposed), StoreID(composed)]).count == 2)
    #expect(StoreID(decomposed) < StoreID(composed))
    #expect(LayerID("Z") < LayerID("a"))
    #expect(
      [FeatureID.text("10"), 10, .text("!"), 9].sorted() == [9, 10, .text("!"), .text("10")])
    #expect(FeatureID.text("1") != .integer(1))
  }
}

@Suite struct Base64Tests {
  // RFC 4648 section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `passes the vectors of RFC 4648`(plain: String, encoded: String) {
    #expect(Base64.encode(plain.utf8) == encoded)
    #expect(Base64.decode(encoded.utf8) == Array(plain.utf8))
  }

  @Test func `every byte comes back`() {
    for count in 0...300 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
      #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
    }
  }

  @Test(arguments: ["", "Zg==", "Zm9v\nYmFy", "Zm9vYg", "Zg=a", "Z", "Zm9v!", "Zg===", "Zh=="])
  func `text in pieces is decoded as a whole one is`(text: String) {
    var decoder = Base64.Decoder()
    for byte in text.utf8 { [byte].withUnsafeBufferPointer { decoder.append($0) } }
    #expect(decoder.finish() == Base64.decode(text.utf8))
    #expect((decoder.finish() == nil) == ["Zg=a", "Z", "Zm9v!", "Zg===", "Zh=="].contains(text))
  }
}
