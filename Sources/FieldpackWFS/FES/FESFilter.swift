import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// A condition as a service gets it: Filter Encoding 1.1 with version 1.1.0, 2.0 with version 2.0.0.
indirect enum FESFilter: Hashable, Sendable {
  case compare(String, Comparison, String)
  case between(String, low: String, high: String)
  /// A pattern with `%` for any text, and nothing else that is special.
  case like(String, String)
  case isNull(String)
  case box(Envelope)
  case intersects(Geometry)
  case and([FESFilter])
  case or([FESFilter])
  case not(FESFilter)

  /// The operators in the condition that not every service has, as capabilities name them.
  var operators: Set<String> {
    switch self {
    case .compare(_, let comparison, _): [comparison.operatorName]
    case .between: ["between"]
    case .like: ["like"]
    case .isNull: ["null"]
    case .box: []
    case .intersects: ["intersects"]
    case .and(let parts), .or(let parts):
      parts.reduce(into: ["logical"]) { $0.formUnion($1.operators) }
    case .not(let part): part.operators.union(["logical"])
    }
  }

  /// The box, where the condition is one.
  var box: Envelope? { if case .box(let box) = self { box } else { nil } }
}

/// Writes conditions as XML.
struct FESWriter: Sendable {
  let version: WFSVersion
  let geometryName: String
  let geometries: GMLGeometryWriter?

  /// The whole filter as a document of its own.
  func document(_ filter: FESFilter) -> String {
    var xml = XMLWriter(namespaces: ["fes": version.fes, "gml": version.gml])
    write(filter, to: &xml)
    return String(decoding: xml.takeBytes(), as: UTF8.self)
  }

  func write(_ filter: FESFilter, to xml: inout XMLWriter) {
    xml.start(qualified("Filter"))
    condition(filter, to: &xml)
    xml.end()
  }

  func qualified(_ local: String) -> XMLQName { XMLQName(local, in: version.fes) }

  private func condition(_ filter: FESFilter, to xml: inout XMLWriter) {
    switch filter {
    case .compare(let property, let comparison, let literal):
      xml.start(qualified("PropertyIs" + comparison.elementName))
      self.property(property, to: &xml)
      xml.element(qualified("Literal"), literal)
    case .between(let property, let low, let high):
      xml.start(qualified("PropertyIsBetween"))
      self.property(property, to: &xml)
      for (name, bound) in [("LowerBoundary", low), ("UpperBoundary", high)] {
        xml.start(qualified(name))
        xml.element(qualified("Literal"), bound)
        xml.end()
      }
    case .like(let property, let pattern):
      xml.start(qualified("PropertyIsLike"))
      xml.attribute("wildCard", "%")
      xml.attribute("singleChar", "_")
      xml.attribute("escapeChar", "\\")
      self.property(property, to: &xml)
      xml.element(qualified("Literal"), pattern)
    case .isNull(let property):
      xml.start(qualified("PropertyIsNull"))
      self.property(property, to: &xml)
    case .box(let box):
      xml.start(qualified("BBOX"))
      property(geometryName, to: &xml)
      geometries?.write(box, to: &xml)
    case .intersects(let geometry):
      xml.start(qualified("Intersects"))
      property(geometryName, to: &xml)
      geometries?.write(geometry, to: &xml, id: "g")
    case .and(let parts): gather("And", parts, to: &xml)
    case .or(let parts): gather("Or", parts, to: &xml)
    case .not(let part): gather("Not", [part], to: &xml)
    }
    xml.end()
  }

  /// Starts the element and writes the conditions in it.
  private func gather(_ name: String, _ parts: [FESFilter], to xml: inout XMLWriter) {
    xml.start(qualified(name))
    for part in parts { condition(part, to: &xml) }
  }

  private func property(_ name: String, to xml: inout XMLWriter) {
    xml.element(qualified(version == .wfs20 ? "ValueReference" : "PropertyName"), name)
  }
}

extension Comparison {
  /// The element is `PropertyIs` with this name behind it.
  fileprivate var elementName: String {
    switch self {
    case .equal: "EqualTo"
    case .notEqual: "NotEqualTo"
    case .less: "LessThan"
    case .lessOrEqual: "LessThanOrEqualTo"
    case .greater: "GreaterThan"
    case .greaterOrEqual: "GreaterThanOrEqualTo"
    }
  }

  fileprivate var operatorName: String { elementName.lowercased() }
}
