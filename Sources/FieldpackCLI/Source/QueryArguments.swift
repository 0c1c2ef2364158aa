import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// What is asked of a source.
enum QueryArguments {
  static let box = Option<Envelope?>.value(
    "bbox", .box,
    help: "Only features whose envelope meets this box, in degrees; west may be greater than "
      + "east, across the antimeridian.")
  static let boxSRS = Option<SRS?>.value(
    "bbox-srs", .srs, help: "The SRS of the box, where it is not longitude and latitude.")
  static let boxRelation = Option<EnvelopeRelation>.value(
    "bbox-relation", .choice("relation"), default: .intersects, shownAs: "intersects",
    help: "How the envelope of a feature lies to the box.")
  static let near = Option<Position?>.value(
    "near", .position,
    help: "The features nearest to this place first, with their distance in metres as a column; "
      + "10 where neither --limit nor --within says more.")
  static let within = Option<Double?>.value(
    "within", .number("metres", atLeast: 0), help: "Only features so close to --near.")
  static let condition = Option<String?>.value(
    "where", .text("CQL2"),
    help: "Only features that meet this condition, in CQL2 Text or CQL2 JSON; @FILE reads it "
      + "from a file, @- from standard input.")
  static let select = Option<NameList?>.value(
    "select", .names("columns"), help: "These columns, separated by commas.")
  static let sort = Option<NameList?>.value(
    "sort", .names("columns", takesMinus: true),
    help: "Sort by these columns, descending with a - before the name.")
  static let limit = Option<Int?>.value(
    "limit", .integer("n", in: 0...Int.max), help: "At most so many features.")
  static let offset = Option<Int?>.value(
    "offset", .integer("n", in: 0...Int.max), help: "Without the first so many features.")
  static let srs = Option<SRS?>.value("srs", .srs, help: "Transform geometries to this SRS.")
  static let skipErrors = Option<Bool>.flag(
    "skip-errors", help: "Pass over what cannot be read, list it, and end with status 2.")
  static let timeout = Option<Double?>.value(
    "timeout", .number("seconds", atLeast: 0), help: "Give up after so many seconds.")

  static let group = OptionGroup(
    "Query options",
    [
      box, boxSRS, boxRelation, near, within, condition, select, sort, limit, offset, srs,
      skipErrors, timeout,
    ] + DerivedArguments.options)

  static func query(_ arguments: ParsedArguments) throws(FieldpackError) -> Query {
    var query = Query(
      layers: arguments[SourceArguments.layers].map { LayerID($0) },
      where: try filter(arguments)
    ).skippingErrors(arguments[skipErrors])
    if let stores = SourceArguments.stores(arguments) { query = query.in(stores: stores) }
    if let names = arguments[select] { query = query.select(names.entries.map(\.name)) }
    if let names = arguments[sort] {
      query = query.order(by: names.entries.map { Order($0.name, descending: $0.isNegative) })
    }
    if let position = arguments[near] {
      query = query.nearest(
        to: .point(position, .xy), srs: .wgs84, count: arguments[within] == nil ? 10 : nil,
        within: arguments[within])
    } else if arguments.contains(within) {
      throw FieldpackError(
        .invalidArgument, "--within says how far from a --near, which is missing")
    }
    if let srs = arguments[srs] { query = query.transformed(to: srs) }
    query = query.applying(try GeometryArguments.operations(arguments))
    if let limit = arguments[limit] { query = query.limit(limit) }
    return query.offset(arguments[offset] ?? 0)
  }

  private static func filter(_ arguments: ParsedArguments) throws(FieldpackError) -> Filter {
    var filter = Filter.all
    if let box = arguments[box] {
      filter = .envelope(arguments[boxRelation], box, srs: arguments[boxSRS] ?? .wgs84)
    } else if arguments.contains(boxSRS) || arguments.contains(boxRelation) {
      throw FieldpackError(
        .invalidArgument, "--bbox-srs and --bbox-relation say more about a --bbox, which is missing"
      )
    }
    guard let argument = arguments[condition] else { return filter }
    if argument == "@-", arguments[SourceArguments.source] == "-" {
      throw FieldpackError(
        .invalidArgument, "standard input cannot be both the source and the condition")
    }
    let (text, name) = try conditionText(argument)
    do throws(FieldpackError) {
      return try filter && Filter(cql2: text)
    } catch {
      var position = error.position ?? FilePosition()
      position.file = name
      throw FieldpackError(
        error.code, error.message, advice: error.advice, location: error.location,
        position: position,
        underlying: error.underlying)
    }
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The condition, and where it stands: no condition begins with an `@`.
  private static func conditionText(
    _ argument: String
  ) throws(FieldpackError) -> (text: String, name: String) {
    guard argument.hasPrefix("@") else { return (argument, "--where") }
    let path = String(argument.dropFirst())
    let input =
      path == "-"
      ? try ByteInput(spooling: 0, name: "stdin") { (_) throws(FieldpackError) in
        try checkCancellation()
      } : try ByteInput(path: path)
    // A mark and one byte more than a condition may have, so that one that is too long is told as
    // such.
    var bytes = try input.head(byteOrderMark.count + CQL2.maximumByteCount + 1)[...]
    if bytes.starts(with: byteOrderMark) { bytes = bytes.dropFirst(byteOrderMark.count) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FieldpackError(
        .invalidArgument, "the condition is not UTF-8", position: FilePosition(file: input.name))
    }
    return (text, input.name)
  }
}
