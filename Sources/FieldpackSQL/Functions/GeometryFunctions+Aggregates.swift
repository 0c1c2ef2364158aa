import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// Functions over the geometries of a group. They skip NULL, and give NULL for a group without a
/// geometry.
extension GeometryFunctions {
  func registerAggregates() throws(SQLiteError) {
    let tools = tools
    try add(aggregate: "ST_Union") { UnionState(tools) }
    try add(aggregate: "ST_Collect") { CollectState(tools) }
    try add(aggregate: "ST_Extent") { ExtentState(tools) }
  }

  private func add(
    aggregate name: String, _ make: @escaping () -> any GroupState
  ) throws(SQLiteError) {
    try connection.register(aggregate: name, arguments: 1, flags: Self.flags) {
      GroupFunction(name, make())
    }
  }
}

/// The state of one aggregate function.
private protocol GroupState: AnyObject {
  var tools: GeometryTools { get }
  func add(_ header: GeoPackageBinary, _ wkb: RawSpan) throws
  func finish(_ call: GeometryCall, srsID: Int32) throws
}

/// Reads the geometries of a group, which must all have the same reference system.
private final class GroupFunction: AggregateState {
  private let name: String
  private let state: any GroupState
  private var srsID: Int32?
  private var hasFailed = false

  init(_ name: String, _ state: any GroupState) {
    self.name = name
    self.state = state
  }

  func add(_ row: FunctionContext) {
    do {
      _ = try GeometryCall(context: row, tools: state.tools).withGeometry(0) { header, wkb in
        srsID = try GeometryTools.common(srsID ?? header.srsID, header.srsID)
        try state.add(header, wkb)
      }
    } catch {
      hasFailed = true
      row.setError("\(name)(): \(error)")
    }
  }

  func finish(_ result: FunctionContext) {
    // SQLite also asks for the result when a statement is aborted, and then ignores it.
    guard let srsID, !hasFailed, !state.tools.file.connection.isStopping else { return }
    do {
      try state.finish(GeometryCall(context: result, tools: state.tools), srsID: srsID)
    } catch {
      result.setError("\(name)(): \(error)")
    }
  }
}

private final class UnionState: GroupState {
  let tools: GeometryTools
  private var union: GeometryUnion?

  init(_ tools: GeometryTools) { self.tools = tools }

  func add(_ header: GeoPackageBinary, _ wkb: RawSpan) throws {
    try gathering().add(wkb)
  }

  func finish(_ call: GeometryCall, srsID: Int32) throws {
    guard let whole = try gathering().result() else { return }
    let wkb = try whole.wkb()
    try call.set(wkb: wkb.span.bytes, srsID: srsID)
  }

  private func gathering() throws(TopologyError) -> GeometryUnion {
    if let union { return union }
    let made = GeometryUnion(in: try tools.topology())
    union = made
    return made
  }
}

private final class CollectState: GroupState {
  let tools: GeometryTools
  private var members: [Geometry] = []

  init(_ tools: GeometryTools) { self.tools = tools }

  func add(_ header: GeoPackageBinary, _ wkb: RawSpan) throws {
    members.append(try WKB.read(wkb))
  }

  func finish(_ call: GeometryCall, srsID: Int32) throws {
    let dimensions = Dimensions(
      hasZ: members.contains { $0.hasZ }, hasM: members.contains { $0.hasM })
    let alike = members.map { $0.converted(to: dimensions) }
    call.set(Self.collection(alike, dimensions), srsID: srsID)
  }

  /// Makes a Multi type where all members have the same single type.
  private static func collection(_ members: [Geometry], _ dimensions: Dimensions) -> Geometry {
    var points: [Position?] = []
    var lines: [CoordinateSequence] = []
    var polygons: [[CoordinateSequence]] = []
    for member in members {
      switch member {
      case .point(let position, _): points.append(position)
      case .lineString(let line): lines.append(line)
      case .polygon(let rings, _): polygons.append(rings)
      default: return .geometryCollection(members, dimensions)
      }
    }
    if points.count == members.count { return .multiPoint(points, dimensions) }
    if lines.count == members.count { return .multiLineString(lines, dimensions) }
    if polygons.count == members.count { return .multiPolygon(polygons, dimensions) }
    return .geometryCollection(members, dimensions)
  }
}

private final class ExtentState: GroupState {
  let tools: GeometryTools
  private var box = Envelope.empty

  init(_ tools: GeometryTools) { self.tools = tools }

  func add(_ header: GeoPackageBinary, _ wkb: RawSpan) throws {
    if header.isFlaggedEmpty { return }
    if let envelope = try header.envelope ?? WKB.envelope(of: wkb) { box.formUnion(envelope) }
  }

  func finish(_ call: GeometryCall, srsID: Int32) throws {
    if !box.isEmpty { call.set(Geometry(box), srsID: srsID) }
  }
}
