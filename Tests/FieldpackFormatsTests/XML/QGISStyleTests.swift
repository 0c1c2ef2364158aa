import FieldpackCore
import Testing

@testable import FieldpackFormats

@Suite struct QGISStyleTests {
  /// A style as QGIS writes it, around symbols and what selects them.
  private static func qml(_ renderer: String, _ rules: String, _ symbols: String) -> [UInt8] {
    let text = """
      <!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
      <qgis version="3.28.3" styleCategories="AllStyleCategories">
      <renderer-v2 forceraster="0" \(renderer)>\(rules)<symbols>\(symbols)</symbols>
      <source-symbol><symbol type="fill" name="0"><layer class="SimpleFill">
      <Option name="color" value="9,9,9,255"/></layer></symbol></source-symbol>
      </renderer-v2><blendMode>0</blendMode></qgis>
      """
    return Array(text.utf8)
  }

  private static func symbol(_ name: Int, _ kind: String, _ options: String) -> String {
    """
    <symbol type="x" name="\(name)" alpha="0.5"><data_defined_properties><Option type="Map">
    <Option name="color" value="1,1,1,255"/></Option></data_defined_properties>
    <layer class="\(kind)" pass="0"><Option type="Map">\(options)</Option></layer></symbol>
    """
  }

  @Test func `a single symbol is the style of all features`() throws {
    let style = try #require(
      QGISStyle(
        qml: Self.qml(
          "type=\"singleSymbol\"", "",
          Self.symbol(
            0, "SimpleFill",
            """
            <Option name="color" value="255,0,16,255" type="QString"/>
            <Option name="outline_color" value="0,0,0,255,rgb:0,0,0,1"/>
            <Option name="outline_width" value="0.26"/>
            <Option name="outline_width_unit" value="MM"/>
            """))))
    let fill = StyleColor(red: 255, green: 0, blue: 16, opacity: 0.5)
    #expect(style.attribute == nil)
    #expect(
      style.entries == [
        .init(
          label: "",
          style: LayerStyle(
            strokeColor: StyleColor(red: 0, green: 0, blue: 0, opacity: 0.5), strokeOpacity: 1,
            strokeWidth: 0.98, fillColor: fill, fillOpacity: 1, iconColor: fill),
          match: .all)
      ])
    #expect(style.entry(for: .null) == 0)
  }

  @Test func `properties are read as options are, and those of symbols in symbols are not`() throws
  {
    let style = try #require(
      QGISStyle(
        qml: Self.qml(
          "type=\"singleSymbol\"", "",
          """
          <symbol type="line" name="0"><layer class="SimpleLine">
          <prop k="line_color" v="255,0,0,255"/><prop k="line_width_unit" v="Pixel"/>
          <symbol type="marker" name="@0@0"><layer class="SimpleMarker">
          <prop k="line_width" v="9"/></layer></symbol></layer></symbol>
          """)))
    let red = StyleColor(red: 255, green: 0, blue: 0)
    #expect(
      style.entries.map(\.style)
        == [LayerStyle(strokeColor: red, strokeOpacity: 1, strokeWidth: nil, iconColor: red)])
  }

  @Test func `categories and ranges select symbols by values`() throws {
    let symbols =
      Self.symbol(0, "SimpleMarker", "<Option name=\"color\" value=\"255,0,0,255\"/>")
      + Self.symbol(1, "SimpleLine", "<Option name=\"line_color\" value=\"0,0,255,255\"/>")
      + Self.symbol(2, "SvgMarker", "<Option name=\"color\" value=\"0,255,0,255\"/>")
    let categories = try #require(
      QGISStyle(
        qml: Self.qml(
          "type=\"categorizedSymbol\" attr=\"&quot;kind&quot;\"",
          """
          <categories><category symbol="0" value="a&lt;b" label="A" render="true"/>
          <category symbol="1" value="7" label="seven" render="true"/>
          <category symbol="2" value="svg" label="none of the simple ones" render="true"/>
          <category symbol="1" value="gone" label="off" render="false"/>
          <category symbol="0" value="" label="others" render="true"/></categories>
          """, symbols)))
    #expect(categories.attribute == "kind")
    #expect(categories.entries.map(\.label) == ["A", "seven", "others"])
    #expect(
      categories.entries.map { $0.style.iconColor?.hex } == ["#ff0000", "#0000ff", "#ff0000"])
    let values: [Value] = [.text("a<b"), .integer(7), .real(7), .text("x"), .null]
    #expect(values.map { categories.entry(for: $0) } == [0, 1, 1, 2, 2])
    let ranges = try #require(
      QGISStyle(
        qml: Self.qml(
          "type=\"graduatedSymbol\" attr=\"depth\"",
          """
          <ranges><range symbol="0" lower="0" upper="10.5" label="shallow" render="true"/>
          <range symbol="1" lower="10.5" upper="20" label="deep" render="true"/></ranges>
          """, symbols)))
    #expect([0.0, 10.5, 11, 30].map { ranges.entry(for: .real($0)) } == [0, 0, 1, nil])
    #expect(ranges.entry(for: .text("a")) == nil)
  }

  @Test(arguments: [
    "", "<qgis>", "<qgis><renderer-v2 type=\"singleSymbol\"/></qgis>",
    "<qgis><renderer-v2 type=\"RuleRenderer\"><symbols/></renderer-v2></qgis>",
    "<!DOCTYPE q [<!ENTITY a \"b\">]><qgis>&a;</qgis>", "\u{0}",
  ])
  func `what is no simple style is none`(text: String) {
    #expect(QGISStyle(qml: Array(text.utf8)) == nil)
  }
}
