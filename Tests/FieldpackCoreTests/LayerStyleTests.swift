import FieldpackCore
import Testing

@Suite struct LayerStyleTests {
  @Test(arguments: [
    ("#34fb71", "#34fb71"), ("#34FB71", "#34fb71"), ("#0af", "#00aaff"), ("Red", "#ff0000"),
    ("orange", "#ffa500"), ("rgb(1, 2,3)", "#010203"), ("rgb(254.6,0,0)", "#ff0000"),
    ("RGBA(255, 0, 16, 0.5)", "rgba(255, 0, 16, 0.5)"), ("rgba(0,0,0,1)", "#000000"),
  ])
  func `colours are read as CSS has them`(text: String, written: String) throws {
    let color = try #require(StyleColor(text))
    #expect(color.description == written)
    #expect(StyleColor(color.description) == color)
  }

  @Test(arguments: [
    "", "#", "#12", "#1234567", "#12345g", "#é12", "redd", "rgb(1,2)", "rgb(1,2,3,4)",
    "rgb(256,0,0)", "rgb(-1,0,0)", "rgba(1,2,3)", "rgba(1,2,3,1.5)", "rgb(nan,0,0)", "rgb(1,,2)",
    "rgb(1,2,3", "hsl(1,2,3)",
  ])
  func `what is no colour is refused`(text: String) {
    #expect(StyleColor(text) == nil)
  }

  @Test func `styles are merged either way`() {
    let blue = StyleColor(red: 0, green: 0, blue: 255)
    let said = LayerStyle(strokeColor: blue, fillOpacity: 0.3)
    var style = said
    style.addMissing(.standard)
    var expected = LayerStyle.standard
    expected.strokeColor = blue
    expected.fillOpacity = 0.3
    #expect(style == expected)
    var other = LayerStyle(strokeWidth: 7, fillOpacity: 0.9)
    other.overwrite(with: said)
    #expect(other == LayerStyle(strokeColor: blue, strokeWidth: 7, fillOpacity: 0.3))
    other.addMissing(LayerStyle(strokeColor: nil, strokeOpacity: 0.1, strokeWidth: 1))
    #expect(other.strokeWidth == 7)
    #expect(other.strokeOpacity == 0.1)
  }

  @Test func `the standard style is SpatialConnect's`() {
    let style = LayerStyle.standard
    #expect(style.strokeColor?.hex == "#ff0000")
    #expect(style.fillColor?.hex == "#ff0000")
    #expect(style.iconColor?.hex == "#ff0000")
    #expect([style.strokeWidth, style.strokeOpacity, style.fillOpacity] == [2, 1, 0.5])
  }
}
