import FieldpackCore
import Testing

@testable import FieldpackMaps

@Suite struct MapPaletteTests {
  /// The distance that a reader who sees the least of it sees.
  private func distance(_ a: StyleColor, _ b: StyleColor) -> Double {
    func seen(_ color: StyleColor) -> [OKLab] {
      let light = LinearRGB(color)
      return ([light] + light.asColorBlindReadersSee).map(OKLab.init)
    }
    return zip(seen(a), seen(b)).map { $0.distance(to: $1) }.min() ?? 0
  }

  @Test func `colours are never given twice, and the first are told apart by all readers`() {
    var palette = MapPalette()
    palette.take(StyleColor(red: 0, green: 0x72, blue: 0xB2))
    let colors = (0..<400).map { _ in palette.next() } + palette.ramp(5) + palette.ramp(5)
    #expect(Set(colors).count == colors.count)
    #expect(colors.first?.hex == "#d55e00")
    for (index, color) in colors.prefix(8).enumerated() {
      for other in colors[..<index] {
        #expect(distance(color, other) > 0.06, "\(color) \(other)")
      }
    }
  }

  @Test(arguments: 2...9) func `classes go from light to dark for all readers`(count: Int) {
    var palette = MapPalette()
    for _ in 0..<4 {
      let ramp = palette.ramp(count)
      for (lighter, darker) in zip(ramp, ramp.dropFirst()) {
        #expect(OKLab(lighter).lightness > OKLab(darker).lightness + 0.02)
        #expect(distance(lighter, darker) > 0.03, "\(lighter) \(darker)")
      }
    }
  }

  @Test func `a colour that a dark ground swallows has another one there`() throws {
    let black = StyleColor(red: 0, green: 0, blue: 0)
    #expect(OKLab(try #require(black.onDark)).lightness > 0.7)
    #expect(StyleColor(red: 0xE6, green: 0x9F, blue: 0).onDark == nil)
  }

  @Test func `a colour in OKLab is the same colour again`() {
    for hex in ["#000000", "#ffffff", "#d55e00", "#0072b2", "#123456"] {
      let color = StyleColor(hex)
      #expect(color.map { OKLab($0).shown } == color)
    }
  }
}
