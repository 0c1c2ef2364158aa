import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Testing

@testable import FieldpackFormats
@testable import FieldpackWFS

/// Answers of services with bytes that are changed, left out and repeated at random.
@Suite struct BrokenAnswerTests {
  private static let geometries = [
    "POINT (1 2)", "LINESTRING Z (1 2 3,4 5 6)", "POLYGON ((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1))",
    "MULTIPOINT (1 2,3 4)", "MULTILINESTRING ((1 2,3 4),(5 6,7 8))",
    "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))", "GEOMETRYCOLLECTION (POINT (1 2))",
  ]
  private static let arcs = """
    <gml:Curve><gml:segments><gml:Arc><gml:posList>1 0 0 1 -1 0</gml:posList></gml:Arc>
    <gml:Circle><gml:posList>1 0 0 1 -1 0</gml:posList></gml:Circle><gml:ArcByCenterPoint>
    <gml:pos>0 0</gml:pos><gml:radius>5</gml:radius><gml:startAngle>0</gml:startAngle>
    <gml:endAngle>90</gml:endAngle></gml:ArcByCenterPoint></gml:segments></gml:Curve>
    """

  private static func served(_ options: ServedLayers.Options) throws -> ServedLayers {
    let schema = Schema(
      layer: "shapes", geometry: GeometryColumn(type: .geometry),
      columns: [
        ColumnDefinition("name", .text()), ColumnDefinition("n", .integer),
        ColumnDefinition("seen", .dateTime),
      ])
    let features = try geometries.enumerated().map { number, wkt in
      Feature(
        id: .integer(Int64(number)), geometry: try WKT.read(wkt),
        attributes: [
          "name": "a", "n": .integer(Int64(number)),
          "seen": .dateTime(Instant(milliseconds: 1_583_064_000_123)),
        ])
    }
    return ServedLayers([schema], ["shapes": features], options)
  }

  private static func body(_ served: ServedLayers, _ query: String) async throws -> [UInt8] {
    let server = try served.serve()
    return try await HTTPClient().send(HTTPRequest(.get, server.address + "/wfs?" + query)).body
  }

  /// A few changes of bytes, some of which repeat a piece of the document elsewhere.
  private static func broken(
    _ document: [UInt8], _ random: inout FilterGenerator.SplitMix
  ) -> [UInt8] {
    var bytes = document
    for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let length = Int.random(in: 0...min(40, bytes.count - place), using: &random)
      let piece = bytes[place..<(place + length)]
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.removeSubrange(place..<(place + length))
      case 2:
        let other = Int.random(in: 0...bytes.count, using: &random)
        bytes.insert(contentsOf: Array(piece), at: other)
      case 3:
        let signs = [
          "-", "e", "999999999999999999999", "nan", "1e309", " ", "\"", "<", "&#0;", "]]>",
        ]
        bytes.insert(contentsOf: Array(signs.randomElement(using: &random)!.utf8), at: place)
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return bytes
  }

  /// Reads a document in every way in which one is read. What comes is an error, or a value.
  private static func read(_ bytes: [UInt8], _ type: WFSCapabilities.FeatureType) {
    let description = (try? XMLTree(bytes)).flatMap { root in
      _ = try? WFSCapabilities(root, asked: .wfs20)
      _ = try? WFSCapabilities(root, asked: .wfs11)
      _ = ExceptionReport.error(root)
      _ = try? GMLGeometryReader(axes: AxisOrders(), asked: nil).read(root)
      return try? FeatureTypeDescription(root, of: type)
    }
    _ = try? WFSInsert.id(in: bytes)
    guard let description else { return }
    let shape = FeatureShape(description, of: type, axes: AxisOrders(), asked: type.srs)
    _ = try? AnswerReader(shape, skip: nil).push(bytes)
  }

  @Test func `give errors or values`() async throws {
    var random = FilterGenerator.SplitMix(state: 20)
    let old = try Self.served(.init(version: .wfs11))
    let new = try Self.served(.init(offersJSON: true))
    let told = try await Self.body(new, "request=GetCapabilities")
    let capabilities = try WFSCapabilities(XMLTree(told), asked: .wfs20)
    let type = capabilities.types[0]
    let described = try await Self.body(new, "request=DescribeFeatureType&typeNames=shapes")
    let description = try FeatureTypeDescription(XMLTree(described), of: type)
    let documents = [
      try await Self.body(old, "request=GetCapabilities"), told, described,
      Array("<a xmlns:gml=\"http://www.opengis.net/gml\">\(Self.arcs)</a>".utf8),
    ]
    let answers = [
      try await Self.body(old, "request=GetFeature&typeName=shapes"),
      try await Self.body(new, "request=GetFeature&typeNames=shapes"),
      try await Self.body(new, "request=GetFeature&typeNames=shapes&outputFormat=application/json"),
    ]
    var read = 0
    for _ in 0..<300 {
      for document in documents { Self.read(Self.broken(document, &random), type) }
      for answer in answers {
        let shape = FeatureShape(description, of: type, axes: AxisOrders(), asked: type.srs)
        let reader = AnswerReader(shape, skip: { _ in })
        do throws(FieldpackError) {
          try reader.push(Self.broken(answer, &random))
          _ = try reader.finish()
        } catch {
          #expect(!error.message.isEmpty)
        }
        read += reader.takeRows().count
      }
    }
    // Most features are as they were.
    #expect(read > 300)
  }
}
