import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// What is asked of a source.
struct QueryArguments: OptionGroup {
  static let title: String? = "Query options"

  private let layers: [LayerID]
  private let box: Envelope?
  private let boxSRS: SRS?
  private let boxRelation: EnvelopeRelation?
  private let near: Position?
  private let maxDistance: Double?
  private let condition: String?
  private let select: NameList?
  private let readsMetadata: Bool
  private let sort: NameList?
  private let limit: Int?
  private let offset: Int?
  private let srs: SRS?
  let skipsErrors: Bool
  let timeout: Double?
  let derived: DerivedArguments
  let geometries: GeometryArguments

  init(_ reader: inout OptionReader) {
    layers = reader.layers()
    box = reader.value(
      "bbox", .box,
      help: "Only features whose envelope meets this box, in degrees. A west greater than east "
        + "crosses the antimeridian.")
    boxSRS = reader.value(
      "bbox-srs", .srs, help: "The SRS of the box, where it is not longitude and latitude.")
    boxRelation = reader.value(
      "bbox-relation", .choice("relation"), shownDefault: "intersects",
      help: "The relation of a feature's envelope to the box.")
    near = reader.value(
      "near", .position,
      help: "The features nearest to this place first, with their distance in metres as a "
        + "column; 10 of them without --limit and --max-distance.")
    maxDistance = reader.value(
      "max-distance", .number("metres", atLeast: 0),
      help: "Only features no farther from --near than this.")
    condition = reader.value(
      "where", .text("CQL2"),
      help: "Only features that meet this condition, in CQL2 Text or CQL2 JSON; @FILE reads it "
        + "from a file, @- from standard input.")
    select = reader.value(
      "select", .names("columns"), help: "These columns, separated by commas.")
    readsMetadata = reader.flag(
      "metadata",
      help: "Add when each feature was created and changed, and by whom, as the change log of its "
        + "layer tells.")
    sort = reader.value(
      "sort", .names("columns", takesMinus: true),
      help: "Sort by these columns, descending with a - before the name.")
    limit = reader.value(
      "limit", .integer("n", in: 0...Int.max), help: "At most so many features.")
    offset = reader.value(
      "offset", .integer("n", in: 0...Int.max), help: "Skip so many features first.")
    srs = reader.value("srs", .srs, help: "Transform geometries to this SRS.")
    skipsErrors = reader.skipErrors()
    timeout = reader.timeout()
    // Its options stand under this heading.
    derived = DerivedArguments(&reader)
    geometries = reader.group()
  }

  /// - Parameters:
  ///   - source: what it is asked of.
  ///   - operations: what is done to geometries on the way out.
  func query(
    of source: SourceName, stores: [StoreID]?, _ operations: GeometryOperations
  ) throws(FieldpackError) -> Query {
    let layers = [source.layer].compactMap { $0 } + layers
    var query = Query(layers: layers, where: try filter(of: source.path))
      .skippingErrors(skipsErrors)
    if let stores { query = query.in(stores: stores) }
    if let select { query = query.select(select.entries.map(\.name)) }
    if readsMetadata { query = query.withMetadata() }
    if let sort {
      query = query.order(by: sort.entries.map { Order($0.name, descending: $0.isNegative) })
    }
    if let near {
      query = query.nearest(
        to: .point(near, .xy), srs: .wgs84, count: maxDistance == nil ? 10 : nil,
        within: maxDistance)
    } else if maxDistance != nil {
      throw FieldpackError(
        .invalidArgument, "--max-distance says how far from a --near, which is missing")
    }
    if let srs { query = query.transformed(to: srs) }
    query = query.applying(operations)
    if let limit { query = query.limit(limit) }
    return query.offset(offset ?? 0)
  }

  private func filter(of source: String) throws(FieldpackError) -> Filter {
    var filter = Filter.all
    if let box {
      filter = .envelope(boxRelation ?? .intersects, box, srs: boxSRS ?? .wgs84)
    } else if boxSRS != nil || boxRelation != nil {
      throw FieldpackError(
        .invalidArgument, "--bbox-srs and --bbox-relation say more about a --bbox, which is missing"
      )
    }
    guard let condition else { return filter }
    return try filter && CommandCondition.filter(condition, source: source)
  }
}

extension OptionReader {
  mutating func timeout() -> Double? {
    value("timeout", .number("seconds", atLeast: 0), help: "Give up after so many seconds.")
  }
}
